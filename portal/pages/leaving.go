package pages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/web/views"
)

// everyField in Deletion.Counts stands for all fields.
const everyField = "*"

// counts reports whether a field of spec decides anything while an object of the kind is being deleted.
func counts(k catalog.Kind, field string) bool {
	return slices.Contains(k.Deletion.Counts, field) || slices.Contains(k.Deletion.Counts, everyField)
}

// addLeaving tells on top of the form that the object is being deleted. What is gone is told when the form is sent.
func (p *Pages) addLeaving(ctx context.Context, a *asking) error {
	obj, err := p.cluster.Get(ctx, a.id, a.edit.ref)
	if apierrors.IsNotFound(err) || unseen(err) {
		return nil
	}
	if err == nil && obj.GetDeletionTimestamp() != nil {
		a.form.Warning = a.leavingWords()
	}
	return err
}

// leavingWords say what an edit of an object that is being deleted can do.
func (a asking) leavingWords() string {
	name, all := a.edit.ref.Name, a.kind.Deletion.Counts
	switch {
	case len(all) == 0:
		return name + " is being deleted. An edit changes nothing any more."
	case slices.Contains(all, everyField):
		return name + " is being deleted. An edit does not cancel that, but still applies until it is gone."
	}
	return name + " is being deleted. An edit does not cancel that. These still decide what happens: " + a.labels(all) + "."
}

// labels are what the form calls fields of spec.
func (a asking) labels(names []string) string {
	all := make([]string, 0, len(names))
	for _, n := range names {
		all = append(all, a.labelOf([]string{"spec", n}))
	}
	return strings.Join(all, ", ")
}

// leaving is what the change of an object does that is being deleted: what the new spec makes of the deletion.
func (a asking) leaving(will *unstructured.Unstructured, changed []string) []views.Effect {
	name, k := a.edit.ref.Name, a.kind
	if slices.Contains(k.Deletion.Counts, everyField) {
		return []views.Effect{{Icon: "alert", Tone: "warn", Text: a.leavingWords()}}
	}
	idle := slices.DeleteFunc(slices.Clone(changed), func(f string) bool { return counts(k, f) })
	lead := name + " is being deleted, and an edit does not cancel that. Applied, this decides at once what happens:"
	if len(idle) == len(changed) {
		lead = name + " is being deleted, and this changes nothing about it. What happens:"
	}
	all := []views.Effect{{Icon: "alert", Tone: "warn", Text: lead}}
	fate, atOnce := fateOf(will, k)
	all = append(all, fate...)
	when := "when that is done."
	if atOnce {
		when = "at once."
	}
	all = append(all, views.Effect{Icon: "info", Tone: "idle", Text: name + " disappears from Portico and from the cluster " + when})
	if len(idle) > 0 {
		all = append(all, views.Effect{Icon: "info", Tone: "idle", Text: "No effect any more: " + a.labels(idle) + "."})
	}
	return all
}

// fateOf is what becomes of a resource whose object is being deleted, and whether the object goes at once.
func fateOf(obj *unstructured.Unstructured, k catalog.Kind) (all []views.Effect, atOnce bool) {
	if !k.Has("deletionPolicy") {
		return outcomes(obj, k), false
	}
	policy := v1alpha1.DeletionPolicy(nested(obj, "spec", "deletionPolicy"))
	keeps := observed(obj) || policy == v1alpha1.DeletionRetain || policy == v1alpha1.DeletionOrphan
	f := phase.FactsOf(obj)
	switch {
	case nested(obj, "status", "accountID") == "":
		return []views.Effect{{Icon: "info", Tone: "idle", Text: "Nothing was created in AWS for it."}}, true
	case f.Condition(v1alpha1.ConditionReady).Reason == v1alpha1.ReasonDeleting:
		return begun(obj, k), keeps
	}
	all = outcomes(obj, k)
	if n, _, _ := unstructured.NestedInt64(obj.Object, "status", "removedObjects"); n > 0 {
		all = append(all, views.Effect{Icon: "bin", Tone: "bad", Text: fmt.Sprintf("%d objects, versions and delete markers are deleted already. They do not come back.", n)})
	}
	if _, set := setting(obj, k.Deletion.Protects); k.Deletion.Protects != "" && !set && !keeps && policy == v1alpha1.DeletionDelete {
		all = append(all, views.Effect{Icon: "lock", Tone: "idle", Text: "If AWS protects it against deletion, nothing is deleted until you set " + k.Deletion.Protects + " to false."})
	}
	return all, keeps
}

// begun is what becomes of what AWS is deleting.
func begun(obj *unstructured.Unstructured, k catalog.Kind) []views.Effect {
	all := []views.Effect{{Icon: "bin", Tone: "bad", Text: "AWS is deleting " + targetOf(obj, k) + " already. No change stops that."}}
	if snapshot := nested(obj, "status", "finalSnapshotIdentifier"); snapshot != "" {
		all = append(all, views.Effect{Icon: "check", Tone: "good", Text: "Its data is kept in the final snapshot " + snapshot + "."})
	}
	return all
}
