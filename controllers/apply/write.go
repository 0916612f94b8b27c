package apply

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// create uses Create and not an apply, which would take over what somebody made in this very moment.
func (o *Objects) create(ctx context.Context, d declaration, into client.Object) error {
	if err := o.saveOwner(ctx); err != nil {
		return err
	}
	o.pass.RecordPlan(engine.PlannedAction{Name: "Create " + d.kind, Why: "it is not there"})
	made := d.object.DeepCopy()
	err := o.applier.Client.Create(ctx, made, client.FieldOwner(FieldManager))
	if apierrors.IsAlreadyExists(err) {
		return engine.Wait(v1alpha1.ReasonMadeAtTheSameTime, recheckAfter, "the %s was created by somebody else at the same time", d.String())
	}
	if err != nil {
		return explainRefusal(d.String(), "create", err)
	}
	o.pass.Normal(v1alpha1.ReasonCreated, "Create"+d.kind, "the %s", d.String())
	return decode(made, into)
}

// claimFields makes us the manager, in the sense of server-side apply, of the fields that a creation set: else those
// that are not declared any more would stay.
func (o *Objects) claimFields(ctx context.Context, live client.Object) error {
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(FieldManager), FieldManager)
	if err != nil || patch == nil {
		return err
	}
	return o.patch(ctx, live, types.JSONPatchType, patch)
}

func (o *Objects) update(ctx context.Context, d declaration, into client.Object, diffs []string) error {
	if err := o.saveOwner(ctx); err != nil {
		return err
	}
	repair := into.GetAnnotations()[AnnotationApplied] == d.hash
	o.pass.RecordPlan(engine.PlannedAction{Name: "Update " + d.kind, Why: strings.Join(diffs, ", ")})
	made, err := o.apply(ctx, d, into)
	if repair && apierrors.IsInvalid(err) && o.replace(ctx, d, into) == nil {
		made, err = o.apply(ctx, d, into)
	}
	if err != nil {
		return explainRefusal(d.String(), "update", err)
	}
	o.sendEvent(repair, d, diffs)
	return decode(made, into)
}

func (o *Objects) apply(ctx context.Context, d declaration, live client.Object) (*unstructured.Unstructured, error) {
	if err := o.claimFields(ctx, live); err != nil {
		return nil, err
	}
	made := d.object.DeepCopy()
	made.SetUID(live.GetUID()) // and no other of this name
	return made, o.forceApply(ctx, made, FieldManager)
}

// replace puts our lists and values in the place of those that are there. What was declared was valid before; if an
// apply of it is refused now, somebody has put something beside it that excludes it, such as a second handler into a
// probe or another port of the same name. An apply leaves that, since it is not ours; a merge patch knows no elements
// of lists, so that what others added to ours goes too.
func (o *Objects) replace(ctx context.Context, d declaration, live client.Object) error {
	fields := maps.Clone(d.object.Object)
	fields["metadata"] = map[string]any{"uid": live.GetUID(), "resourceVersion": live.GetResourceVersion()}
	patch, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return o.patch(ctx, live, types.MergePatchType, patch)
}

// patch makes live what comes back.
func (o *Objects) patch(ctx context.Context, live client.Object, of types.PatchType, text []byte) error {
	changed := reflect.New(reflect.TypeOf(live).Elem()).Interface().(client.Object) // decoding would merge with what was read
	changed.SetNamespace(live.GetNamespace())
	changed.SetName(live.GetName())
	if err := o.applier.Client.Patch(ctx, changed, client.RawPatch(of, text), client.FieldOwner(FieldManager)); err != nil {
		return err
	}
	reflect.ValueOf(live).Elem().Set(reflect.ValueOf(changed).Elem())
	return nil
}

func (o *Objects) forceApply(ctx context.Context, obj *unstructured.Unstructured, manager string) error {
	return o.applier.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner(manager), client.ForceOwnership)
}

// explainRefusal turns a refusal of the API server into a WaitError: quota and admission say what to do in their own
// words.
func explainRefusal(what, do string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return engine.Blocked(v1alpha1.ReasonRefused, "the cluster refuses to %s the %s: %w", do, what, err)
	case apierrors.IsInvalid(err):
		return engine.Blocked(v1alpha1.ReasonInvalid, "the cluster refuses to %s the %s: %w", do, what, err)
	case apierrors.IsConflict(err):
		return engine.Wait(v1alpha1.ReasonChangedAtTheSameTime, recheckAfter, "the %s was changed or replaced by somebody else at the same time", what)
	}
	return fmt.Errorf("%s the %s: %w", do, what, err)
}

// sendEvent notes an edit of ours, or the repair of somebody else's.
func (o *Objects) sendEvent(repair bool, d declaration, diffs []string) {
	if repair {
		o.pass.Repaired(v1alpha1.ReasonRepaired, "Update"+d.kind, "the %s: %s; it was changed outside Portico", d.String(), strings.Join(diffs, ", "))
		return
	}
	o.pass.Normal(v1alpha1.ReasonUpdated, "Update"+d.kind, "the %s: %s", d.String(), strings.Join(diffs, ", "))
}
