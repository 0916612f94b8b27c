package entry

import (
	"regexp"
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// finder collects what an entry names and a version of its definition does not have.
type finder struct {
	version *apiext.CustomResourceDefinitionVersion
	spec    *apiext.JSONSchemaProps
	names   map[string]bool // of all fields below spec
	free    bool            // spec can have fields that the schema does not name
	missing []string
}

// missing returns what the entry names and the version does not have, sorted.
func missing(e *v1alpha1.CatalogEntrySpec, version *apiext.CustomResourceDefinitionVersion) []string {
	spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
	f := &finder{version: version, spec: &spec, names: map[string]bool{}}
	f.free = f.collect(&spec)
	f.form(&e.Form)
	for _, r := range e.References {
		f.path(string(r.Field))
		if r.KindField != "" {
			f.kinds(parent(string(r.Field)) + string(r.KindField))
		}
	}
	f.page(&e.Page)
	for _, c := range e.Changes {
		f.fields(c.Fields...)
	}
	f.fields(e.Deletion.LossyField, e.Deletion.ProtectedBy)
	for _, name := range e.Deletion.Editable {
		if name != "*" {
			f.fields(v1alpha1.FieldName(name))
		}
	}
	if e.States != nil {
		f.jsonPaths(e.States.Conditions, e.States.Message)
		for _, s := range slices.Concat(e.States.Ready, e.States.Failed) {
			f.jsonPaths(s.Field)
		}
	}
	slices.Sort(f.missing)
	return slices.Compact(f.missing)
}

// collect notes the names of all fields below s, and reports whether there can be others.
func (f *finder) collect(s *apiext.JSONSchemaProps) (free bool) {
	free = s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
	for name, p := range s.Properties {
		f.names[name] = true
		free = f.collect(&p) || free
	}
	for _, inner := range children(s) {
		free = f.collect(inner) || free
	}
	return free
}

// children returns the schemas of the elements of a list or map.
func children(s *apiext.JSONSchemaProps) (all []*apiext.JSONSchemaProps) {
	if s.Items != nil && s.Items.Schema != nil {
		all = append(all, s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		all = append(all, s.AdditionalProperties.Schema)
	}
	return all
}

func (f *finder) form(form *v1alpha1.CatalogForm) {
	f.fields(form.First...)
	for _, name := range form.Order {
		if !f.names[string(name)] && !f.free {
			f.missing = append(f.missing, "a field "+string(name)+" below spec")
		}
	}
	for _, s := range form.Sections {
		f.fields(s.Fields...)
	}
	for _, v := range form.Begins {
		f.fields(v.Field)
	}
	f.fields(form.Unique...)
	for _, p := range form.People {
		f.path(string(p))
	}
	for _, o := range form.Offers {
		f.fields(append(o.DependsOn, o.Field)...)
	}
}

func (f *finder) page(page *v1alpha1.CatalogPage) {
	f.jsonPaths(page.Endpoint)
	for _, name := range page.Columns {
		if !slices.ContainsFunc(f.version.AdditionalPrinterColumns, func(c apiext.CustomResourceColumnDefinition) bool {
			return c.Name == name
		}) {
			f.missing = append(f.missing, "the printer column "+name)
		}
	}
	for _, c := range page.Sentence {
		for _, p := range c.Phrases {
			for _, m := range inserted.FindAllStringSubmatch(p.Text, -1) {
				f.fields(v1alpha1.FieldName(m[1]))
			}
			for _, t := range p.When {
				f.fields(t.Field)
			}
		}
	}
}

// inserted matches the fields in the text of a phrase.
var inserted = regexp.MustCompile(`\{([^}]*)\}`)

// fields checks fields of spec.
func (f *finder) fields(names ...v1alpha1.FieldName) {
	for _, name := range names {
		if name != "" {
			f.path(string(name))
		}
	}
}

// path checks a path below spec.
func (f *finder) path(path string) {
	if !exists(f.spec, strings.Split(path, ".")) {
		f.missing = append(f.missing, "spec."+path)
	}
}

// kinds checks that the schema lists the values of the field with the kind of a reference.
func (f *finder) kinds(path string) {
	if p := find(f.spec, strings.Split(path, ".")); p == nil || len(p.Enum) == 0 {
		f.missing = append(f.missing, "spec."+path+" with a list of values")
	}
}

// exists reports whether a value of the schema can have a field at the path.
func exists(s *apiext.JSONSchemaProps, path []string) bool { return find(s, path) != nil }

// find returns the schema of the field at the path, in which [] stands for the elements of a list; nil if there can be
// none. Of a field that the schema leaves open, it is that of what holds it.
func find(s *apiext.JSONSchemaProps, path []string) *apiext.JSONSchemaProps {
	switch {
	case len(path) == 0 || s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields:
		return s
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return find(s.AdditionalProperties.Schema, path[1:])
	}
	name, isList := strings.CutSuffix(path[0], "[]")
	p, ok := s.Properties[name]
	if !ok || isList && (p.Items == nil || p.Items.Schema == nil) {
		return nil
	}
	if isList {
		p = *p.Items.Schema
	}
	return find(&p, path[1:])
}

// parent returns the path up to its last dot, with it.
func parent(path string) string { return path[:strings.LastIndexByte(path, '.')+1] }

// filter matches what selects elements of a list in a JSONPath.
var filter = regexp.MustCompile(`\[[^]]*\]`)

// jsonPaths checks paths as printer columns have them.
func (f *finder) jsonPaths(paths ...v1alpha1.CatalogPath) {
	root := f.version.Schema.OpenAPIV3Schema
	for _, path := range paths {
		steps := strings.Split(strings.TrimPrefix(filter.ReplaceAllString(string(path), "[]"), "."), ".")
		if path != "" && steps[0] != "metadata" && !exists(root, steps) {
			f.missing = append(f.missing, string(path))
		}
	}
}
