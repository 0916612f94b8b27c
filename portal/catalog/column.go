package catalog

import (
	"fmt"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

// Column is one printer column of a kind.
type Column struct {
	Name     string
	Type     string // string, integer, boolean, date
	Path     string // JSONPath without braces, e.g. .status.bucketName
	Priority int32  // 0 is always shown, higher ones only in wide lists
}

func columns(defs []apiext.CustomResourceColumnDefinition) []Column {
	out := make([]Column, 0, len(defs))
	for _, d := range defs {
		out = append(out, Column{Name: d.Name, Type: d.Type, Path: d.JSONPath, Priority: d.Priority})
	}
	return out
}

// Value returns the column's text for an object, or "" when the object lacks it.
func (c Column) Value(obj *unstructured.Unstructured) string { return evaluate(c.Path, obj) }

// EndpointOf returns the address that users of the object connect to, or "" if there is none yet.
func (k Kind) EndpointOf(obj *unstructured.Unstructured) string { return evaluate(k.Endpoint, obj) }

// ValuesAt returns the values at a JSONPath without braces; none if obj has none.
func ValuesAt(path string, obj *unstructured.Unstructured) (all []any) {
	p := jsonpath.New("values").AllowMissingKeys(true)
	if path == "" || p.Parse("{"+path+"}") != nil {
		return nil
	}
	found, err := p.FindResults(obj.Object)
	if err != nil {
		return nil
	}
	for _, values := range found {
		for _, v := range values {
			all = append(all, v.Interface())
		}
	}
	return all
}

// TextsAt returns the texts, numbers and booleans at a JSONPath, as texts.
func TextsAt(path string, obj *unstructured.Unstructured) (all []string) {
	for _, v := range ValuesAt(path, obj) {
		switch v.(type) {
		case string, bool, int64, float64:
			all = append(all, fmt.Sprint(v))
		}
	}
	return all
}

// evaluate returns "" for a missing path and for a path that does not parse, which a test over the CRDs rules out.
func evaluate(path string, obj *unstructured.Unstructured) string {
	if path == "" || obj == nil {
		return ""
	}
	p := jsonpath.New("column").AllowMissingKeys(true)
	if err := p.Parse("{" + path + "}"); err != nil {
		return ""
	}
	var b strings.Builder
	if err := p.Execute(&b, obj.Object); err != nil {
		return ""
	}
	return b.String()
}
