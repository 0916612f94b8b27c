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

// create uses Create instead of an apply, which would adopt an object that somebody created at the same moment.
func (o *Objects) create(ctx context.Context, d declaration, into client.Object) error {
	if err := o.saveOwner(ctx); err != nil {
		return err
	}
	o.pass.RecordPlan(engine.PlannedAction{Name: "Create " + d.kind, Why: "it is not there"})
	made := d.object.DeepCopy()
	err := o.applier.Client.Create(ctx, made, client.FieldOwner(FieldManager))
	if apierrors.IsAlreadyExists(err) {
		return engine.Wait(v1alpha1.ReasonMadeAtTheSameTime, recheckAfter,
			"the %s was created by somebody else at the same time", d.String())
	}
	if err != nil {
		return explainRefusal(d.String(), "create", err)
	}
	o.pass.Normal(v1alpha1.ReasonCreated, "Create"+d.kind, "the %s", d.String())
	return decode(made, into)
}

// claimFields converts the fields set by our Create to server-side apply: otherwise fields that are no longer declared
// would stay.
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
	made.SetUID(live.GetUID()) // fails for another object of this name
	return made, o.forceApply(ctx, made, FieldManager)
}

// replace overwrites the object with the declaration by a merge patch, for a repair whose apply is rejected. The
// declaration was valid before, so somebody has added something that conflicts with it, such as a second handler in a
// probe or another port of the same name. An apply keeps such additions, since they are not ours; a merge patch
// replaces whole lists, additions included.
func (o *Objects) replace(ctx context.Context, d declaration, live client.Object) error {
	fields := maps.Clone(d.object.Object)
	fields["metadata"] = map[string]any{"uid": live.GetUID(), "resourceVersion": live.GetResourceVersion()}
	patch, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return o.patch(ctx, live, types.MergePatchType, patch)
}

// patch patches the object, and sets live to the result.
func (o *Objects) patch(ctx context.Context, live client.Object, of types.PatchType, text []byte) error {
	// Decoding would merge with the previous content.
	changed := reflect.New(reflect.TypeOf(live).Elem()).Interface().(client.Object)
	changed.SetNamespace(live.GetNamespace())
	changed.SetName(live.GetName())
	if err := o.applier.Client.Patch(ctx, changed, client.RawPatch(of, text), client.FieldOwner(
		FieldManager)); err != nil {
		return err
	}
	reflect.ValueOf(live).Elem().Set(reflect.ValueOf(changed).Elem())
	return nil
}

func (o *Objects) forceApply(ctx context.Context, obj *unstructured.Unstructured, manager string) error {
	return o.applier.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner(manager),
		client.ForceOwnership)
}

// explainRefusal converts a rejection by the API server to a WaitError, with the server's message: quota and admission
// explain themselves.
func explainRefusal(what, do string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return engine.Blocked(v1alpha1.ReasonRefused, "the cluster refuses to %s the %s: %w", do, what, err)
	case apierrors.IsInvalid(err):
		return engine.Blocked(v1alpha1.ReasonInvalid, "the cluster refuses to %s the %s: %w", do, what, err)
	case apierrors.IsConflict(err):
		return engine.Wait(v1alpha1.ReasonChangedAtTheSameTime, recheckAfter,
			"the %s was changed or replaced by somebody else at the same time", what)
	}
	return fmt.Errorf("%s the %s: %w", do, what, err)
}

// sendEvent records an event: an update of ours, or the repair of a foreign change.
func (o *Objects) sendEvent(repair bool, d declaration, diffs []string) {
	if repair {
		o.pass.Repaired(v1alpha1.ReasonRepaired, "Update"+d.kind, "the %s: %s; it was changed outside Portico",
			d.String(), strings.Join(diffs, ", "))
		return
	}
	o.pass.Normal(v1alpha1.ReasonUpdated, "Update"+d.kind, "the %s: %s", d.String(), strings.Join(diffs, ", "))
}
