package catalog

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	fieldpath "k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// root is the library's name for the value that it validates.
const root = "value"

// shape is a schema split by level: the API server's validation library checks the value itself, and child shapes check
// its content, so that the check can stop at the first errors.
type shape struct {
	schema   *apiext.JSONSchemaProps
	once     sync.Once
	made     *validate.SchemaValidator // of the value itself, when it is first needed: it takes 2 kB
	fields   map[string]*shape
	others   *shape // of fields without a declared name; nil: there are none
	items    *shape
	keys     []string // that identify a list's items
	free     bool     // unknown fields are allowed
	nullable bool
}

// shapeOf returns the shape of the schema's fields that users write, which keeps s.
func shapeOf(s *apiext.JSONSchemaProps) *shape {
	of := s.Properties["spec"]
	part := apiext.JSONSchemaProps{Type: "object", Properties: map[string]apiext.JSONSchemaProps{"spec": of}}
	if slices.Contains(s.Required, "spec") {
		part.Required = []string{"spec"}
	}
	return newShape(&part)
}

func newShape(s *apiext.JSONSchemaProps) *shape {
	out := &shape{
		schema: s, fields: map[string]*shape{}, keys: s.XListMapKeys, nullable: s.Nullable,
		free: s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields || s.XEmbeddedResource,
	}
	for name, p := range s.Properties {
		out.fields[name] = newShape(&p)
	}
	if s.Items != nil && s.Items.Schema != nil {
		out.items = newShape(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out.others = newShape(s.AdditionalProperties.Schema)
	}
	return out
}

// itself returns the validator of the value itself, without its content.
func (s *shape) itself() *validate.SchemaValidator {
	s.once.Do(func() { s.made = validatorOf(s.schema) })
	return s.made
}

// validatorOf returns a validator of a value by its schema, without its content.
func validatorOf(s *apiext.JSONSchemaProps) *validate.SchemaValidator {
	own := *s
	own.Properties, own.AdditionalProperties, own.Items, own.Default, own.XValidations = nil, nil, nil, nil, nil
	own.Required = slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool {
		return s.Properties[name].Default != nil
	})
	if s.XIntOrString {
		own.AnyOf = nil
	}
	of := &spec.Schema{}
	raw, err := json.Marshal(own)
	if err == nil {
		err = json.Unmarshal(raw, of)
	}
	if err != nil {
		of = &spec.Schema{} // then the API server refuses what is wrong
	}
	if s.XIntOrString {
		of.Type = spec.StringOrArray{"integer", "string"}
	}
	return validate.NewSchemaValidator(of, nil, root, strfmt.Default)
}

// of returns the shape of a field, nil if there is no such field.
func (s *shape) of(name string) *shape {
	if of, ok := s.fields[name]; ok {
		return of
	}
	return s.others
}

// at returns the path of a field.
func (s *shape) at(path *fieldpath.Path, name string) *fieldpath.Path {
	switch _, named := s.fields[name]; {
	case path == nil:
		return fieldpath.NewPath(name)
	case !named && s.others != nil:
		return path.Key(name)
	}
	return path.Child(name)
}

// faults returns the errors of a value itself, and whether its content must be checked.
func (s *shape) faults(path *fieldpath.Path, value any) (all fieldpath.ErrorList, deeper bool) {
	deeper = true
	found := s.itself().Validate(value).Errors
	for _, err := range found {
		said, ok := err.(*openapierrors.Validation) //nolint:errorlint // as the library returns it
		if !ok {                                    // a sum of the others, or a number that its format cannot hold
			continue
		}
		at := path
		for name := range strings.SplitSeq(strings.TrimPrefix(said.Name, root), ".") {
			if name != "" {
				at = s.at(at, name)
			}
		}
		deeper = deeper && said.Code() == openapierrors.RequiredFailCode
		all = append(all, faultOf(at, said))
	}
	if len(all) == 0 && len(found) > 0 {
		all = append(all, fieldpath.Invalid(path, value,
			fmt.Sprintf("use a number from %d to %d", math.MinInt32, math.MaxInt32)))
	}
	return all, deeper
}

// faultOf converts an error of the library as the API server does.
func faultOf(at *fieldpath.Path, err *openapierrors.Validation) *fieldpath.Error {
	number := func(v any) int {
		n, ok := v.(int64)
		if !ok {
			return -1
		}
		return int(n)
	}
	value := err.Value
	if value == nil {
		value = ""
	}
	switch err.Code() {
	case openapierrors.RequiredFailCode:
		return fieldpath.Required(at, "")
	case openapierrors.EnumFailCode:
		values := make([]string, 0, len(err.Values))
		for _, v := range err.Values {
			values = append(values, fmt.Sprint(v))
		}
		return fieldpath.NotSupported(at, err.Value, values)
	case openapierrors.TooLongFailCode:
		return fieldpath.TooLong(at, "", number(err.Valid))
	case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
		return fieldpath.TooMany(at, number(err.Value), number(err.Valid))
	case openapierrors.InvalidTypeCode:
		return fieldpath.TypeInvalid(at, value, err.Error())
	}
	return fieldpath.Invalid(at, value, err.Error())
}
