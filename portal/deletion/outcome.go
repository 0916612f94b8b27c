package deletion

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// EveryField in Deletion.Counts matches all fields.
const EveryField = "*"

// Counts reports whether a field of spec has an effect while an object of the kind is being deleted.
func Counts(k catalog.Kind, field string) bool {
	return slices.Contains(k.Deletion.Counts, field) || slices.Contains(k.Deletion.Counts, EveryField)
}

// Kept reports whether the deletion of obj was cancelled: its object will be created again.
func Kept(obj *unstructured.Unstructured) bool {
	return obj.GetDeletionTimestamp() != nil && obj.GetAnnotations()[v1alpha1.AnnotationKeep] == "true"
}

// MayKeep reports whether the deletion of obj can be cancelled: it has begun and is waiting, and AWS has not started
// deleting.
func MayKeep(obj *unstructured.Unstructured, k catalog.Kind) bool {
	return obj.GetDeletionTimestamp() != nil && k.Has("deletionPolicy") && !Kept(obj) && !observed(obj) &&
		catalog.TextAt(obj, "status", "accountID") != "" &&
		status.FactsOf(obj).Condition(v1alpha1.ConditionReady).Reason != v1alpha1.ReasonDeleting
}

// Fate returns what happens to a resource whose object is being deleted, and whether the object is deleted at once.
func Fate(obj *unstructured.Unstructured, k catalog.Kind) (all []views.Effect, atOnce bool) {
	if !k.Has("deletionPolicy") {
		return outcomes(obj, k), false
	}
	policy := v1alpha1.DeletionPolicy(catalog.TextAt(obj, "spec", "deletionPolicy"))
	keeps := observed(obj) || policy == v1alpha1.DeletionRetain || policy == v1alpha1.DeletionOrphan
	f := status.FactsOf(obj)
	switch {
	case catalog.TextAt(obj, "status", "accountID") == "":
		return nothing, true
	case f.Condition(v1alpha1.ConditionReady).Reason == v1alpha1.ReasonDeleting:
		return begun(obj, k), keeps
	}
	all = outcomes(obj, k)
	if n, _, _ := unstructured.NestedInt64(obj.Object, "status", "removedObjects"); n > 0 {
		all = append(all, views.Effect{
			Icon: "bin", Tone: "bad",
			Text: fmt.Sprintf("%d objects, versions and delete markers are deleted already. They do not come back.",
				n),
		})
	}
	if _, set := setting(obj, k.Deletion.Protects); k.Deletion.Protects != "" && !set && !keeps &&
		policy == v1alpha1.DeletionDelete {
		all = append(all, views.Effect{Icon: "lock", Tone: "idle", Text: "If AWS protects it against deletion, " +
			"nothing is deleted until you set " + k.Deletion.Protects + " to false."})
	}
	return all, keeps
}

// begun returns what happens to a resource that AWS is deleting.
func begun(obj *unstructured.Unstructured, k catalog.Kind) []views.Effect {
	all := []views.Effect{{Icon: "bin", Tone: "bad", Text: "AWS is deleting " + targetOf(obj, k) +
		" already. No change stops that."}}
	if snapshot := catalog.TextAt(obj, "status", "finalSnapshotIdentifier"); snapshot != "" {
		all = append(all, views.Effect{Icon: "check", Tone: "good", Text: "Its data is kept in the final snapshot " +
			snapshot + "."})
	}
	return all
}
