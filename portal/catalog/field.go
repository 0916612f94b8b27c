package catalog

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Type is how a field is shown and read.
type Type string

// The types of fields.
const (
	String  Type = "string"
	Integer Type = "integer"
	Number  Type = "number"
	Boolean Type = "boolean"
	Object  Type = "object" // see Field.Fields
	Array   Type = "array"  // see Field.Items
	Map     Type = "map"    // of scalars, see Field.Items; rows are named path[i].key and path[i].value
	YAML    Type = "yaml"   // anything else: the input's text is YAML
)

// Field is one input of a form, or a group of inputs.
type Field struct {
	Path     string   // e.g. spec.lifecycleRules[].expirationDays, where [] is a row's index
	Name     string   // last element of Path, e.g. expirationDays
	Label    string   // for people, e.g. Expiration days
	Type     Type     //
	Format   string   // int32, int64, date-time, quantity, …
	Help     string   // one line
	Options  []string // the only values allowed, if any
	Default  string   // set by the API server, "" if none
	Pattern  string   // regular expression of a string
	Required bool     // within the object that holds it
	Advanced bool     // not among those that the entry has first
	Unit     Unit     // of a number
	Needs    []Condition
	Fixed    Fixed // whether it can change after creation
	Limits   Limits
	Fields   []Field  // of an object
	Items    *Field   // element of an array, or value of a map
	Keys     []string // fields that identify the elements of an array, if any
	Set      bool     // the array is a set
}

// Fixed describes why a field cannot change once the object, or a resource of it, exists; the zero value: it can.
type Fixed struct {
	Why   string   // a clause, never empty for a fixed field
	Unset bool     // if left out at creation, it cannot be set later either
	Once  []string // fields of status, one of which shows that the resource exists; none: fixed with the object
}

// Limits bound a value; nil means unbounded.
type Limits struct {
	Min, Max             *float64 // of a number
	MinLength, MaxLength *int64   // of a string, in characters
	MinItems, MaxItems   *int64   // of an array or map
}

// IsRef reports whether the field refers to another object by name, as providerRef: {name} does.
func (f Field) IsRef() bool {
	return f.Type == Object && strings.HasSuffix(f.Name, "Ref") && len(f.Fields) == 1 && f.Fields[0].Name == "name"
}

// IsKeyRef reports whether the field refers to one key of another object, as secretKeyRef: {name, key} does.
func (f Field) IsKeyRef() bool {
	return f.Type == Object && strings.HasSuffix(f.Name, "KeyRef") && len(f.Fields) == 2
}

// Scalar reports whether the field is a single value.
func (f Field) Scalar() bool {
	return f.Type == String || f.Type == Integer || f.Type == Number || f.Type == Boolean
}

// ListOfScalars reports whether the field is an array of single values. Its input has one value per line, or is
// repeated (check boxes).
func (f Field) ListOfScalars() bool { return f.Type == Array && f.Items != nil && f.Items.Scalar() }

// specFields returns the fields of spec: first those of the form, in its order, then the others, which are advanced, in
// the order of rest.
func specFields(spec apiext.JSONSchemaProps, form, rest order) []Field {
	o := slices.Concat(form, rest)
	fields := objectFields("spec", spec, o)
	for i := range fields {
		fields[i].Advanced = !slices.Contains(form, fields[i].Name)
	}
	slices.SortFunc(fields, o.compare)
	return fields
}

// objectFields returns the properties of an object, required ones first.
func objectFields(path string, s apiext.JSONSchemaProps, o order) []Field {
	fields := make([]Field, 0, len(s.Properties))
	for name, p := range s.Properties {
		f := newField(path+"."+name, name, p, o)
		f.Required = slices.Contains(s.Required, name)
		if by := fixedChild(s.XValidations, name); by.Why != "" {
			f.Fixed = by
		}
		fields = append(fields, f)
	}
	addConditions(fields, s.XValidations)
	slices.SortFunc(fields, func(a, b Field) int {
		if a.Required != b.Required {
			if a.Required {
				return -1
			}
			return 1
		}
		return o.compare(a, b)
	})
	return fields
}

func newField(path, name string, p apiext.JSONSchemaProps, o order) Field {
	f := Field{
		Path: path, Name: name, Label: label(name), Type: typeOf(p), Format: p.Format, Help: help(name, p.Description),
		Pattern: p.Pattern, Fixed: fixed(p.XValidations, name),
		Limits: Limits{
			Min: p.Minimum, Max: p.Maximum, MinLength: p.MinLength, MaxLength: p.MaxLength,
			MinItems: cmp.Or(p.MinItems, p.MinProperties), MaxItems: cmp.Or(p.MaxItems, p.MaxProperties),
		},
	}
	for _, e := range p.Enum {
		f.Options = append(f.Options, jsonText(e.Raw))
	}
	if p.XIntOrString {
		f.Format = quantity
	}
	if t := p.XListType; t != nil {
		f.Set = *t == "set"
		f.Keys = p.XListMapKeys
	}
	f.Unit = unitOf(f)
	if p.Default != nil {
		f.Default = jsonText(p.Default.Raw)
	}
	switch f.Type {
	case Object:
		f.Fields = objectFields(path, p, o)
	case Array:
		item := newField(path+"[]", name, *p.Items.Schema, o)
		f.Items = &item
	case Map:
		item := newField(path+"[].value", "value", *p.AdditionalProperties.Schema, o)
		f.Items = &item
	default:
	}
	return f
}

func typeOf(p apiext.JSONSchemaProps) Type {
	switch {
	case p.XIntOrString && p.Pattern != "": // a quantity: the API server accepts it as text
		return String
	case p.XIntOrString || (p.XPreserveUnknownFields != nil && *p.XPreserveUnknownFields):
		return YAML
	case p.Type == "string" || p.Type == "integer" || p.Type == "number" || p.Type == "boolean":
		return Type(p.Type)
	case p.Type == "array" && p.Items != nil && p.Items.Schema != nil:
		return Array
	case p.Type == "object" && len(p.Properties) > 0:
		return Object
	case p.Type == "object" && p.AdditionalProperties != nil && p.AdditionalProperties.Schema != nil &&
		scalarType(p.AdditionalProperties.Schema.Type):
		return Map
	}
	return YAML
}

func scalarType(t string) bool {
	return t == "string" || t == "integer" || t == "number" || t == "boolean"
}

// jsonText returns a JSON string without its quotes, and any other value as JSON.
func jsonText(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
