package catalog

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// describe takes over from the kind's entry what needs no other kind.
func (k *Kind) describe(e *v1alpha1.CatalogEntrySpec) {
	k.Title, k.Icon, k.Help = e.Title, e.Icon, cmp.Or(e.Description, k.Help)
	k.Overview, k.Endpoint = e.Page.Columns, string(e.Page.Endpoint)
	k.Names = fieldNames(e.Form.Unique)
	for _, p := range e.Form.People {
		k.People = append(k.People, "spec."+string(p))
	}
	for _, s := range e.Form.Sections {
		k.Sections = append(k.Sections, Section{Title: s.Title, Fields: fieldNames(s.Fields), Folded: s.Folded})
	}
	for _, v := range e.Form.Begins {
		k.Begins = append(k.Begins, Value{string(v.Field), v.Value})
	}
	k.Offers = map[string][]string{}
	for _, o := range e.Form.Offers {
		if k.Offers[string(o.Field)] = fieldNames(o.DependsOn); o.Complete {
			k.Whole = append(k.Whole, string(o.Field))
		}
	}
	for _, c := range e.Changes {
		k.Changes = append(k.Changes, Change{Fields: fieldNames(c.Fields), Effect: c.Effect, Lower: c.Lower})
	}
	for _, s := range e.Page.Steps {
		k.Steps = append(k.Steps, Step{
			Type: s.Condition, Title: cmp.Or(s.Title, label(s.Condition)), Optional: s.Optional,
		})
	}
	k.States, k.Controller, k.Hidden = e.States, e.Controller, e.Hidden
	for _, verb := range e.Verbs {
		k.Verbs = append(k.Verbs, string(verb))
	}
	k.Says = sentence(e.Page.Sentence)
	k.KeptBy = keepers[e.Writers]
	k.Deletion = Deletion{
		Deleted: e.Deletion.Deleted, Effect: e.Deletion.Effect, Lossy: string(e.Deletion.LossyField),
		LossyEffect: e.Deletion.Loss, Protects: string(e.Deletion.ProtectedBy), Counts: e.Deletion.Editable,
	}
}

// keepers are the values of Kind.KeptBy.
var keepers = map[v1alpha1.CatalogWriters]string{
	v1alpha1.WritersPortico: KeptByOperator, v1alpha1.WritersAdmins: "admins",
}

// fieldNames returns the names as strings.
func fieldNames(names []v1alpha1.FieldName) (all []string) {
	for _, one := range names {
		all = append(all, string(one))
	}
	return all
}

// Value is the value of a field, as in a form.
type Value struct{ Field, Text string } // Field is its name in spec

// IsPerson reports whether the field at path, which can have row numbers, contains users or groups.
func (k Kind) IsPerson(path string) bool { return slices.Contains(k.People, pattern(path)) }

// Holds reports whether c applies to the change of a field of spec from was to will. A number that was not set counts
// as having been higher.
func (c Change) Holds(field string, was, will *unstructured.Unstructured) bool {
	if !slices.Contains(c.Fields, field) {
		return false
	}
	before, set := number(was, field)
	after, stays := number(will, field)
	return !c.Lower || (stays && (!set || after < before))
}

func number(obj *unstructured.Unstructured, field string) (float64, bool) {
	value, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", field)
	switch n := value.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}
