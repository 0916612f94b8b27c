package owned

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

	"github.com/portico-platform/portico/controllers/engine"
)

// create is no apply: that would take over what somebody made in this very moment.
func (p *Pass) create(ctx context.Context, d declaration, into client.Object) error {
	if err := p.prove(ctx); err != nil {
		return err
	}
	p.run.Planned([]string{"Create " + d.kind + " (it is not there)"})
	made := d.object.DeepCopy()
	err := p.writer.Client.Create(ctx, made, client.FieldOwner(Manager))
	if apierrors.IsAlreadyExists(err) {
		return engine.Wait(ReasonMade, leaving, "the %s was made by somebody else at the same time", d.what())
	}
	if err != nil {
		return explain(d.what(), "create", err)
	}
	p.run.Normal("Created", "Create"+d.kind, "the %s", d.what())
	return fill(made, into)
}

// declared makes the fields that a creation set ours in the sense of server-side apply: else those that are not declared
// any more would stay.
func (p *Pass) declared(ctx context.Context, live client.Object) error {
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(live, sets.New(Manager), Manager)
	if err != nil || patch == nil {
		return err
	}
	return p.patch(ctx, live, types.JSONPatchType, patch)
}

func (p *Pass) update(ctx context.Context, d declaration, into client.Object, diffs []string) error {
	if err := p.prove(ctx); err != nil {
		return err
	}
	repair := into.GetAnnotations()[Applied] == d.hash
	p.run.Planned([]string{"Update " + d.kind + " (" + strings.Join(diffs, ", ") + ")"})
	made, err := p.apply(ctx, d, into)
	if repair && apierrors.IsInvalid(err) && p.replace(ctx, d, into) == nil {
		made, err = p.apply(ctx, d, into)
	}
	if err != nil {
		return explain(d.what(), "update", err)
	}
	p.told(repair, d, diffs)
	return fill(made, into)
}

func (p *Pass) apply(ctx context.Context, d declaration, live client.Object) (*unstructured.Unstructured, error) {
	if err := p.declared(ctx, live); err != nil {
		return nil, err
	}
	made := d.object.DeepCopy()
	made.SetUID(live.GetUID()) // and no other of this name
	return made, p.force(ctx, made, Manager)
}

// replace puts our lists and values in the place of those that are there. What was declared was valid before; if an apply
// of it is refused now, somebody has put something beside it that excludes it, such as a second handler into a probe or
// another port of the same name. An apply leaves that, since it is not ours; a merge patch knows no elements of lists, so
// that what others added to ours goes too.
func (p *Pass) replace(ctx context.Context, d declaration, live client.Object) error {
	fields := maps.Clone(d.object.Object)
	fields["metadata"] = map[string]any{"uid": live.GetUID(), "resourceVersion": live.GetResourceVersion()}
	patch, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return p.patch(ctx, live, types.MergePatchType, patch)
}

// patch makes live what comes back.
func (p *Pass) patch(ctx context.Context, live client.Object, of types.PatchType, text []byte) error {
	changed := reflect.New(reflect.TypeOf(live).Elem()).Interface().(client.Object) // decoding would merge with what was read
	changed.SetNamespace(live.GetNamespace())
	changed.SetName(live.GetName())
	if err := p.writer.Client.Patch(ctx, changed, client.RawPatch(of, text), client.FieldOwner(Manager)); err != nil {
		return err
	}
	reflect.ValueOf(live).Elem().Set(reflect.ValueOf(changed).Elem())
	return nil
}

func (p *Pass) force(ctx context.Context, obj *unstructured.Unstructured, manager string) error {
	return p.writer.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner(manager), client.ForceOwnership)
}

// explain turns a refusal of the API server into a Pause: quota and admission say what to do in their own words.
func explain(what, do string, err error) error {
	switch {
	case apierrors.IsForbidden(err):
		return engine.Blocked("Refused", "the cluster refuses to %s the %s: %w", do, what, err)
	case apierrors.IsInvalid(err):
		return engine.Blocked("Invalid", "the cluster refuses to %s the %s: %w", do, what, err)
	case apierrors.IsConflict(err):
		return engine.Wait(ReasonChanged, leaving, "the %s was changed or replaced by somebody else at the same time", what)
	}
	return fmt.Errorf("%s the %s: %w", do, what, err)
}

// told notes an edit of ours, or the repair of somebody else's.
func (p *Pass) told(repair bool, d declaration, diffs []string) {
	if repair {
		p.run.Repaired("Repaired", "Update"+d.kind, "the %s: %s; it was changed outside Portico", d.what(), strings.Join(diffs, ", "))
		return
	}
	p.run.Normal("Updated", "Update"+d.kind, "the %s: %s", d.what(), strings.Join(diffs, ", "))
}
