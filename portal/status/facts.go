package status

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Facts are the parts of an object that determine its phase.
type Facts struct {
	Generation int64
	Observed   int64 // status.observedGeneration, -1 before the first pass
	Deleting   bool
	Paused     bool        // by annotation
	Conditions []Condition // as the object has them
}

// Condition is one of an object's conditions; Since is in RFC 3339, as the API has it.
type Condition struct {
	Type, Status, Reason, Message, Since string
}

// True reports whether the condition holds.
func (c Condition) True() bool { return c.Status == "True" }

// Abnormal reports whether the condition's type has abnormal-true polarity, as kstatus calls it: it is True while
// something is unusual, and otherwise absent.
func (c Condition) Abnormal() bool {
	return slices.Contains([]string{
		v1alpha1.ConditionStalled, v1alpha1.ConditionReconciling, v1alpha1.ConditionPaused,
		v1alpha1.ConditionQuotaNearlyFull, "Throttled",
	}, c.Type)
}

// Lost reports whether the object's resource was found deleted outside Portico, with its data.
func (f Facts) Lost() bool { return f.Condition(v1alpha1.ConditionReady).Reason == "ExternallyDeleted" }

// Failed reports whether an attempt failed and is being retried.
func (c Condition) Failed() bool { return c.Reason == "Failed" || c.Reason == "TimedOut" }

// FactsOf reads the facts of obj, which may be shared with a cache. It skips fields that do not have the API's types.
func FactsOf(obj *unstructured.Unstructured) Facts {
	f := Facts{
		Generation: obj.GetGeneration(), Deleting: obj.GetDeletionTimestamp() != nil, Observed: -1,
		Paused: obj.GetAnnotations()[v1alpha1.AnnotationPaused] == "true",
	}
	if n, ok, err := unstructured.NestedInt64(obj.Object, "status", "observedGeneration"); ok && err == nil {
		f.Observed = n
	}
	raw, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "status", "conditions")
	list, _ := raw.([]any)
	f.Conditions = make([]Condition, 0, len(list))
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			f.Conditions = append(f.Conditions, conditionOf(m))
		}
	}
	return f
}

func conditionOf(m map[string]any) Condition {
	return Condition{
		Type: text(m["type"]), Status: text(m["status"]), Reason: text(m["reason"]),
		Message: text(m["message"]), Since: text(m["lastTransitionTime"]),
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// Find returns the condition of the type given, if the object has it.
func (f Facts) Find(kind string) (Condition, bool) {
	for _, c := range f.Conditions {
		if c.Type == kind {
			return c, true
		}
	}
	return Condition{}, false
}

// Condition returns the condition of the type given, or an empty one.
func (f Facts) Condition(kind string) Condition {
	c, _ := f.Find(kind)
	return c
}
