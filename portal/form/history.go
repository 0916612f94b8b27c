package form

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// Changes returns the differences between two specs of a kind, with the labels of its form.
func Changes(kind catalog.Kind, was, is map[string]any) []views.Versions {
	before, after := withSpec(was), withSpec(is)
	var all []views.Versions
	for _, d := range kind.Differences(before, after, after) {
		all = append(all, views.Versions{
			Label: labelOf(kind, d.Path), Began: valueText(d.Base),
			Theirs: valueText(d.Theirs),
		})
	}
	return all
}

func withSpec(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
}

// Back returns the draft that restores an earlier spec of the edited object. Fields that cannot change keep their
// values, and stays describes them.
func Back(kind catalog.Kind, spec map[string]any, facts Facts) (d Draft, stays []string, err error) {
	obj := catalog.Clean(facts.Edit.Object)
	now, _ := obj.Object["spec"].(map[string]any)
	then := withSpec(spec).DeepCopy().Object["spec"].(map[string]any)
	stays = keepFixed(kind.Fields(), facts.Edit.Made, now, then)
	obj.Object["spec"] = then
	d, err = FromObject(kind, obj, facts)
	return d, stays, err
}

// keepFixed copies to then the values in now of the fields that cannot change, and returns a description of each that
// differs.
func keepFixed(fields []catalog.Field, made []string, now, then map[string]any) (stays []string) {
	for _, f := range fields {
		is, was := now[f.Name], then[f.Name]
		inner, isMap := is.(map[string]any)
		outer, wasMap := was.(map[string]any)
		switch {
		case reflect.DeepEqual(is, was):
		case f.Fixed.Holds(made) && (is != nil || f.Fixed.Unset):
			if then[f.Name] = is; is == nil {
				delete(then, f.Name)
			}
			if f.IsRef() && isMap {
				is = inner["name"]
			}
			stays = append(stays, f.Label+" keeps its value ("+valueText(is)+"). "+
				humanize.Sentence("it cannot be changed: "+f.Fixed.Why))
		case f.Type == catalog.Object && isMap && wasMap:
			stays = append(stays, keepFixed(f.Fields, made, inner, outer)...)
		}
	}
	return stays
}
