package stepstest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// field is the path to one declared field: names, and for elements of lists their keys or values.
type field []any

func (f field) String() string { return strings.Trim(fmt.Sprint([]any(f)), "[]") }

// declared returns the fields of obj that Portico applied, except owner references: without them, the object would no
// longer be Portico's.
func declared(obj *unstructured.Unstructured) ([]field, error) {
	var all []field
	for _, entry := range obj.GetManagedFields() {
		if !strings.HasPrefix(entry.Manager, "portico") || entry.Subresource != "" {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			return nil, err
		}
		some, err := leaves(nil, fields)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return slices.DeleteFunc(all, func(f field) bool {
		return len(f) > 1 && f[0] == "metadata" && f[1] == "ownerReferences"
	}), nil
}

// leaves parses the format of managedFields: f:name is a field, k:{…} a list element by its keys, v:… one by its value,
// and . the item itself.
func leaves(at field, fields map[string]any) ([]field, error) {
	var all []field
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key == "." {
			all = append(all, at)
			continue
		}
		kind, text, _ := strings.Cut(key, ":")
		var step any = text
		if kind != "f" {
			if err := json.Unmarshal([]byte(text), &step); err != nil {
				return nil, err
			}
		}
		here := append(slices.Clone(at), step)
		below, _ := fields[key].(map[string]any)
		if len(below) == 0 {
			all = append(all, here)
			continue
		}
		some, err := leaves(here, below)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// isKey reports whether the field is a key of its list element.
func (f field) isKey() bool {
	if len(f) < 2 {
		return false
	}
	keys, ok := f[len(f)-2].(map[string]any)
	name, _ := f[len(f)-1].(string)
	_, is := keys[name]
	return ok && is
}

// above reports whether some of the fields are inside this one.
func (f field) above(fields []field) bool {
	return slices.ContainsFunc(fields, func(g field) bool {
		return len(g) > len(f) && reflect.DeepEqual(f, g[:len(f)])
	})
}

// in returns the field's value in obj.
func (f field) in(obj any) (any, bool) {
	if len(f) == 0 {
		return obj, true
	}
	switch at := obj.(type) {
	case map[string]any:
		name, _ := f[0].(string)
		below, ok := at[name]
		if !ok {
			return nil, false
		}
		return f[1:].in(below)
	case []any:
		if i := element(at, f[0]); i >= 0 {
			return f[1:].in(at[i])
		}
	}
	return nil, false
}

// change returns obj with the field's value replaced, or removed if value is nothing.
func (f field) change(obj, value any) any {
	if len(f) == 0 {
		return value
	}
	switch at := obj.(type) {
	case map[string]any:
		name, _ := f[0].(string)
		if below := f[1:].change(at[name], value); below != nothing {
			at[name] = below
		} else {
			delete(at, name)
		}
	case []any:
		i := element(at, f[0])
		if i < 0 {
			return at
		}
		below := f[1:].change(at[i], value)
		if below == nothing {
			return slices.Delete(at, i, i+1)
		}
		at[i] = below
	}
	return obj
}

// nothing is a value that removes the field.
var nothing any = &struct{ _ int }{}

func element(list []any, key any) int {
	return slices.IndexFunc(list, func(one any) bool {
		keys, ok := key.(map[string]any)
		if !ok {
			return reflect.DeepEqual(one, key)
		}
		fields, _ := one.(map[string]any)
		for name, value := range keys {
			if !reflect.DeepEqual(fields[name], value) {
				return false
			}
		}
		return true
	})
}

// others returns different values of the same type. The API server may reject some of them, depending on the field.
func others(value any) []any {
	switch v := value.(type) {
	case string:
		return []any{v + "x", "7"}
	case int64:
		return []any{v + 1}
	case bool:
		return []any{!v}
	case []any:
		return []any{append(slices.Clone(v), v...)}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if below := others(v[name]); len(below) > 0 {
				other := maps.Clone(v)
				other[name] = below[0]
				return []any{other}
			}
		}
	}
	return nil
}
