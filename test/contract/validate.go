package contract

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validate returns the document's faults. It checks the document against the schema of OpenAPI 3.1, each of its schemas
// as JSON Schema 2020-12, examples and defaults against their schemas, and operation IDs and path parameters.
func (d *Document) Validate() []error {
	var faults []error
	if err := d.conforms(); err != nil {
		faults = append(faults, err)
	}
	for _, pointer := range d.schemas() {
		faults = append(faults, d.judge(pointer)...)
	}
	return append(faults, d.operations()...)
}

func (d *Document) conforms() error {
	spec, err := jsonschema.UnmarshalJSON(bytes.NewReader(specification))
	if err != nil {
		return err
	}
	c := newCompiler()
	if err := c.AddResource("openapi-3.1.json", spec); err != nil {
		return err
	}
	s, err := c.Compile("openapi-3.1.json")
	if err != nil {
		return err
	}
	if err := s.Validate(d.root); err != nil {
		return fmt.Errorf("it is no OpenAPI 3.1 document: %w", err)
	}
	return nil
}

// schemas returns the JSON pointers of the outermost schemas.
func (d *Document) schemas() []string {
	var out []string
	var walk func(v any, pointer string)
	walk = func(v any, pointer string) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if key == "schema" {
					out = append(out, pointer+"/schema")
				} else {
					walk(v[key], pointer+"/"+escape(key))
				}
			}
		case []any:
			for i, one := range v {
				walk(one, fmt.Sprintf("%s/%d", pointer, i))
			}
		}
	}
	walk(d.root["paths"], "/paths")
	for _, name := range slices.Sorted(maps.Keys(member(member(d.root, "components"), "schemas"))) {
		out = append(out, "/components/schemas/"+escape(name))
	}
	return out
}

// judge compiles a schema, and validates its examples and defaults, including those of nested schemas.
func (d *Document) judge(pointer string) []error {
	s, err := d.schema(pointer)
	if err != nil {
		return []error{fmt.Errorf("%s is no schema: %w", pointer, err)}
	}
	var faults []error
	raw, _ := d.lookup(pointer).(map[string]any)
	examples, _ := raw["examples"].([]any)
	if v, ok := raw["default"]; ok {
		examples = append(slices.Clone(examples), v)
	}
	for _, v := range examples {
		if err := s.Validate(v); err != nil {
			faults = append(faults, fmt.Errorf("%s: the example or default %v: %w", pointer, v, err))
		}
	}
	for _, within := range subschemas(raw) {
		faults = append(faults, d.judge(pointer+within)...)
	}
	return faults
}

// subschemas returns the pointers, relative to the schema, of its direct subschemas.
func subschemas(schema map[string]any) []string {
	var out []string
	for _, key := range []string{"properties", "patternProperties", "$defs"} {
		for _, name := range slices.Sorted(maps.Keys(member(schema, key))) {
			out = append(out, "/"+key+"/"+escape(name))
		}
	}
	for _, key := range []string{"items", "additionalProperties", "not"} {
		if member(schema, key) != nil {
			out = append(out, "/"+key)
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		all, _ := schema[key].([]any)
		for i := range all {
			out = append(out, fmt.Sprintf("/%s/%d", key, i))
		}
	}
	return out
}

// lookup returns the value at a JSON pointer, or nil if there is none.
func (d *Document) lookup(pointer string) any {
	var v any = d.root
	for key := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		case []any:
			var i int
			if _, err := fmt.Sscan(key, &i); err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

var placeholder = regexp.MustCompile(`\{([^}]*)\}`)

// operations returns the faults of operations that a schema cannot express.
func (d *Document) operations() []error {
	var faults []error
	by := map[string]string{}
	for _, p := range d.paths {
		for _, method := range slices.Sorted(maps.Keys(p.operations)) {
			op, where := member(p.operations, method), method+" "+p.template
			id, _ := op["operationId"].(string)
			if other, taken := by[id]; taken || id == "" {
				faults = append(faults, fmt.Errorf("%s: the ID %q is missing, or also that of %s", where, id, other))
			}
			by[id] = where
			if want, is := placeholders(p.template), inPath(op); !slices.Equal(want, is) {
				faults = append(faults, fmt.Errorf("%s: the path has the parameters %v, the operation %v", where, want,
					is))
			}
		}
	}
	return faults
}

func placeholders(template string) []string {
	var names []string
	for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

func inPath(op map[string]any) []string {
	var names []string
	all, _ := op["parameters"].([]any)
	for _, p := range all {
		if p, ok := p.(map[string]any); ok && p["in"] == "path" {
			names = append(names, fmt.Sprint(p["name"]))
		}
	}
	slices.Sort(names)
	return names
}
