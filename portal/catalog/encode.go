package catalog

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Index returns the name of a row of a list: Index("spec.tags", 0) is spec.tags[0].
func Index(path string, row int) string { return path + "[" + strconv.Itoa(row) + "]" }

// Encode returns the form that shows obj: Decode(Encode(obj), obj) is obj. Lists of single values become one input with
// several values. Defaults are not filled in: absent stays absent.
func (k Kind) Encode(obj *unstructured.Unstructured) url.Values {
	form := url.Values{}
	set(form, "metadata.name", obj.GetName())
	if k.Namespaced {
		set(form, "metadata.namespace", obj.GetNamespace())
	}
	if spec, ok := obj.Object["spec"].(map[string]any); ok {
		for _, f := range k.Fields() {
			encode(form, f, "spec."+f.Name, spec[f.Name])
		}
	}
	return form
}

func set(form url.Values, name, value string) {
	if value != "" {
		form.Set(name, value)
	}
}

func encode(form url.Values, f Field, path string, value any) {
	if value == nil {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		encodeMap(form, f, path, v)
	case []any:
		encodeList(form, f, path, v)
	default:
		form.Add(path, shown(f, v))
	}
}

// shown returns the content of a value's single input.
func shown(f Field, v any) string {
	switch v.(type) {
	case map[string]any, []any:
		return yamlText(v)
	}
	if f.Type == YAML {
		return yamlText(v)
	}
	return text(v)
}

func encodeMap(form url.Values, f Field, path string, v map[string]any) {
	switch f.Type {
	case Object:
		before := len(form)
		for _, c := range f.Fields {
			encode(form, c, path+"."+c.Name, v[c.Name])
		}
		if len(form) == before { // it has no content that an input shows
			form.Set(path, "{}")
		}
	case Map:
		for i, key := range slices.Sorted(maps.Keys(v)) {
			form.Set(Index(path, i)+".key", key)
			form.Set(Index(path, i)+".value", text(v[key]))
		}
	default:
		form.Set(path, shown(f, v))
	}
}

func encodeList(form url.Values, f Field, path string, v []any) {
	if f.Type != Array {
		form.Set(path, shown(f, v))
		return
	}
	for i, item := range v {
		if f.ListOfScalars() {
			form.Add(path, text(item))
			continue
		}
		encode(form, *f.Items, Index(path, i), item)
	}
}

func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	case nil:
		return ""
	default:
		return fmt.Sprint(x)
	}
}

// ValueYAML writes a part of an object as YAML.
func ValueYAML(v any) []byte { return []byte(yamlText(v)) }

// yamlText returns a value as YAML. It cannot fail, because the values come from JSON.
func yamlText(v any) string {
	b, err := yaml.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
