package status

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

// FactsIn returns the facts of an object of any kind. Objects of kinds of others get the conditions Ready and Stalled
// by what their entry says, or by kstatus without: what has no conditions is ready once it has a status, and a status
// without observedGeneration is current.
func FactsIn(k catalog.Kind, obj *unstructured.Unstructured) Facts {
	f := FactsOf(obj)
	if k.Name == "" || k.Own() {
		return f
	}
	f.Paused = false // Portico's annotation means nothing to other controllers
	rules := k.States
	if rules == nil {
		rules = &v1alpha1.CatalogStates{}
	}
	if rules.Conditions != "" {
		f.Conditions = conditionsAt(string(rules.Conditions), obj)
	}
	if _, said, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration"); !said {
		f.Observed = f.Generation
	}
	f.judge(k, rules, obj)
	return f
}

// PhaseIn returns the phase of an object of any kind, and a sentence about it that is empty when it is ready.
func PhaseIn(k catalog.Kind, obj *unstructured.Unstructured) (phase.Phase, string) {
	f := FactsIn(k, obj)
	is, why := f.Phase()
	if is == phase.InProgress && why == "" {
		why = "Requested. Its controller has not said anything yet."
	}
	return is, why
}

// judge sets the conditions Ready and Stalled as the rules say.
func (f *Facts) judge(k catalog.Kind, rules *v1alpha1.CatalogStates, obj *unstructured.Unstructured) {
	said := catalog.TextsAt(string(rules.Message), obj)
	message := func(c Condition) string {
		if c.Message != "" {
			return c.Message
		}
		return strings.Join(said, " ")
	}
	if i := slices.IndexFunc(rules.Failed, func(s v1alpha1.CatalogState) bool { return f.holds(s, obj) }); i >= 0 {
		c := f.Condition(rules.Failed[i].Condition)
		f.set(Condition{v1alpha1.ConditionStalled, "True", c.Reason, message(c), c.Since})
		f.set(Condition{v1alpha1.ConditionReady, "False", c.Reason, message(c), c.Since})
		return
	}
	if len(rules.Ready) > 0 {
		ready := Condition{v1alpha1.ConditionReady, "True", "", "", ""}
		for _, s := range rules.Ready {
			if c := f.Condition(s.Condition); !f.holds(s, obj) {
				ready = Condition{v1alpha1.ConditionReady, "False", c.Reason, message(c), c.Since}
				break
			}
		}
		f.set(ready)
		return
	}
	if _, has := f.Find(v1alpha1.ConditionReady); has {
		return
	}
	status, _, _ := unstructured.NestedMap(obj.Object, "status")
	is := "False"
	if len(f.Conditions) == 0 && (len(status) > 0 || !k.HasStatus()) {
		is = "True"
	}
	f.set(Condition{v1alpha1.ConditionReady, is, "", strings.Join(said, " "), ""})
}

// holds reports whether the state is that of obj. If an object has several conditions of a type, as a route has for
// each parent, all must hold.
func (f *Facts) holds(s v1alpha1.CatalogState, obj *unstructured.Unstructured) bool {
	values := s.Values
	if len(values) == 0 {
		values = []string{"True"}
	}
	if s.Condition == "" {
		has := catalog.TextsAt(string(s.Field), obj)
		return len(has) > 0 && !slices.ContainsFunc(has, func(v string) bool { return !slices.Contains(values, v) })
	}
	_, has := f.Find(s.Condition)
	return has && !slices.ContainsFunc(f.Conditions, func(c Condition) bool {
		return c.Type == s.Condition && (!slices.Contains(values, c.Status) ||
			len(s.Reasons) > 0 && !slices.Contains(s.Reasons, c.Reason))
	})
}

// set replaces the condition of the same type, or adds it.
func (f *Facts) set(c Condition) {
	f.Conditions = append(slices.DeleteFunc(slices.Clone(f.Conditions), func(old Condition) bool {
		return old.Type == c.Type
	}), c)
}

// conditionsAt returns the conditions at a JSONPath of obj.
func conditionsAt(path string, obj *unstructured.Unstructured) []Condition {
	all := []Condition{}
	for _, v := range catalog.ValuesAt(path, obj) {
		list, _ := v.([]any)
		for _, item := range list {
			if m, ok := item.(map[string]any); ok {
				all = append(all, conditionOf(m))
			}
		}
	}
	return all
}
