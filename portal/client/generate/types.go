package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/portico-platform/portico/portal/catalog"
)

// structs is a schema of the document as a Go struct.
type structs struct {
	Name, Comment string
	Fields        []field
}

// byHand are schemas that client.go or Kubernetes have types for.
var byHand = []string{"ErrorModel", "ErrorDetail", "ObjectList", "ObjectMeta"}

// types returns the schemas without kinds, which package v1alpha1 has, and those written by hand.
func (d *document) types(kinds catalog.Catalog) ([]structs, error) {
	var all []structs
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		if _, isKind := kinds.ByName(name); isKind || slices.Contains(byHand, name) {
			continue
		}
		s := d.Components.Schemas[name]
		made := structs{Name: typeName(name), Comment: oneLine(s.Description)}
		for _, p := range slices.Sorted(maps.Keys(s.Properties)) {
			f, err := property(s, p)
			if err != nil {
				return nil, fmt.Errorf("schema %s: property %s: %w", name, p, err)
			}
			made.Fields = append(made.Fields, f)
		}
		all = append(all, made)
	}
	return all, nil
}

func property(s *schema, name string) (field, error) {
	p := s.Properties[name]
	f := field{
		Name: exported(name), Wire: name, Comment: oneLine(p.Description),
		Required: slices.Contains(s.Required, name),
	}
	t, err := plain(p)
	if err != nil {
		return f, err
	}
	f.Type = t
	if !f.Required && (t == "time.Time" || t == "bool" || p.Ref != "") {
		f.Type = "*" + t
	}
	return f, nil
}

// plain returns the Go type of a schema.
func plain(s *schema) (string, error) {
	if s.Ref != "" {
		return typeName(refName(s)), nil
	}
	switch kind := word(s.Type); kind {
	case "string":
		if s.Format == "date-time" {
			return "time.Time", nil
		}
		return "string", nil
	case "boolean":
		return "bool", nil
	case "integer":
		return "int64", nil
	case "number":
		return "float64", nil
	case "array":
		t, err := plain(s.Items)
		return "[]" + t, err
	case "object":
		return mapOf(s)
	default:
		return "", fmt.Errorf("no Go type for %q", kind)
	}
}

func mapOf(s *schema) (string, error) {
	of, ok := s.Additional.(map[string]any)
	if !ok || len(s.Properties) > 0 {
		return "", fmt.Errorf("an object without a name")
	}
	if ref, ok := of["$ref"].(string); ok {
		return "map[string]" + typeName(ref[strings.LastIndexByte(ref, '/')+1:]), nil
	}
	t, err := plain(&schema{Type: of["type"], Items: itemsOf(of)})
	if err != nil {
		return "map[string]any", nil //nolint:nilerr // values of any kind
	}
	return "map[string]" + t, nil
}

func itemsOf(of map[string]any) *schema {
	items, ok := of["items"].(map[string]any)
	if !ok {
		return nil
	}
	return &schema{Type: items["type"]}
}

// word returns a schema's type other than null.
func word(t any) string {
	switch t := t.(type) {
	case string:
		return t
	case []any:
		for _, w := range t {
			if w != "null" {
				return fmt.Sprint(w)
			}
		}
	}
	return ""
}

func refName(s *schema) string {
	if s == nil {
		return ""
	}
	return s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
}

func typeName(schema string) string { return strings.TrimSuffix(exported(schema), "OutputBody") }

// exported returns a name of the document as an exported Go name: If-Match becomes IfMatch.
func exported(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case r == '-' || r == '_':
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// sentence returns text on one line with a full stop.
func sentence(text string) string {
	if text = oneLine(text); text == "" {
		return ""
	}
	return strings.TrimSuffix(text, ".") + "."
}
