package status

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/spoken"
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
	f.Conditions = f.Conditions[:min(len(f.Conditions), mostConditions)]
	for i := range f.Conditions {
		f.Conditions[i].Message = spoken.Cut(f.Conditions[i].Message, longestMessage)
	}
	f.judge(k, rules, obj)
	return f
}

// Bounds of what another controller says: nothing else limits it.
const (
	mostConditions = 100
	longestMessage = 1 << 10
)

// PhaseIn returns the phase of an object of any kind, and a sentence about it that is empty when it is ready.
func PhaseIn(k catalog.Kind, obj *unstructured.Unstructured) (phase.Phase, string) {
	f := FactsIn(k, obj)
	is, why := f.Phase()
	if is == phase.InProgress && why == "" && k.Controller != nil {
		why = "Requested. Its controller has not said anything yet."
	}
	return is, why
}

// judge sets the conditions Ready and Stalled as the rules say.
func (f *Facts) judge(k catalog.Kind, rules *v1alpha1.CatalogStates, obj *unstructured.Unstructured) {
	said := []string{spoken.Cut(strings.Join(catalog.TextsAt(string(rules.Message), obj), " "), longestMessage)}
	message := func(c Condition) string {
		return cmp.Or(c.Message, strings.Join(said, " "), f.Condition(v1alpha1.ConditionReady).Message)
	}
	for _, rule := range rules.Failed {
		if fit, _ := f.sorted(rule, obj); len(fit) > 0 {
			f.set(Condition{v1alpha1.ConditionStalled, "True", fit[0].Reason, message(fit[0]), fit[0].Since})
			f.set(Condition{v1alpha1.ConditionReady, "False", fit[0].Reason, message(fit[0]), fit[0].Since})
			return
		}
	}
	for _, rule := range rules.Ready {
		fit, unfit := f.sorted(rule, obj)
		if len(unfit) > 0 || len(fit) == 0 {
			c := append(unfit, Condition{})[0]
			f.set(Condition{v1alpha1.ConditionReady, "False", c.Reason, message(c), c.Since})
			return
		}
	}
	if len(rules.Ready) > 0 {
		f.set(Condition{v1alpha1.ConditionReady, "True", "", "", ""})
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

// sorted returns the conditions of the rule's type that are as it says, and those that are not: a route has one for
// each parent. A field counts as a condition without words.
func (f *Facts) sorted(rule v1alpha1.CatalogState, obj *unstructured.Unstructured) (fit, unfit []Condition) {
	values := rule.Values
	if len(values) == 0 {
		values = []string{"True"}
	}
	all := f.Conditions
	if rule.Condition == "" {
		all = nil
		for _, v := range catalog.TextsAt(string(rule.Field), obj) {
			all = append(all, Condition{Status: v})
		}
	}
	for _, c := range all {
		switch {
		case c.Type != rule.Condition:
		case slices.Contains(values, c.Status) && (len(rule.Reasons) == 0 || slices.Contains(rule.Reasons, c.Reason)):
			fit = append(fit, c)
		default:
			unfit = append(unfit, c)
		}
	}
	return fit, unfit
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
