package catalog

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Reference is a field of spec that refers to objects of the same namespace.
type Reference struct {
	Path   string   // of the name, as in Field.Path, e.g. spec.bindings[].name
	Beside string   // path of the field with the kind, "" if Kinds has only one
	Kinds  []string // IDs of the possible kinds
	Role   string   // of the other object for this one, for users
	Back   string   // of this object for the other
}

// Target is an object that another one refers to, by the ID of its kind.
type Target struct{ Kind, Name string }

// referred is a Reference before the kind that it leads to is known.
type referred struct {
	Reference

	to       string // name of the other kind's entry; "": a field has the kind
	optional bool
}

// references returns the references of an entry; only of own kinds those whose other kind a field has, by its name
// alone. It leaves out those whose fields are not there, which the status of the entry names.
func references(fields []Field, of []v1alpha1.CatalogReference, own bool) []referred {
	all := make([]referred, 0, len(of))
	for _, one := range of {
		r := Reference{Path: "spec." + string(one.Field), Role: role(string(one.Field))}
		r.Back = r.Role + " of"
		if one.KindField != "" {
			r.Beside = beside(r.Path, string(one.KindField))
			f, _ := fieldIn(fields, r.Beside)
			r.Kinds, r.Role, r.Back = f.Options, "Uses", "Used by"
		}
		if _, ok := fieldIn(fields, r.Path); ok && (own || r.Beside == "") {
			all = append(all, referred{r, one.To, one.Optional})
		}
	}
	return all
}

// refer adds the references to k, whose other kinds are in c. It leaves out those that lead nowhere, which the status
// of the entry names.
func (c Catalog) refer(k *Kind, of []referred) {
	for _, one := range of {
		r := one.Reference
		if target, ok := c.byEntry(one.to); r.Beside == "" && ok {
			r.Kinds = []string{target.ID()}
		}
		if len(r.Kinds) == 0 {
			continue
		}
		if one.optional {
			r.Role, r.Back = "Lets in", "Let in by"
			k.LetsIn = append(k.LetsIn, r)
			continue
		}
		k.Refers = append(k.Refers, r)
	}
}

// byEntry returns the kind with the entry of that name.
func (c Catalog) byEntry(name string) (Kind, bool) {
	for i := range c {
		if c[i].Resource.GroupResource().String() == name {
			return c[i], true
		}
	}
	return Kind{}, false
}

// role returns a form's name for the object at path: the last step or, if that is just "name", the first.
func role(path string) string {
	if last := leaf("." + path); last != "name" {
		return label(last)
	}
	return label(strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' })[0])
}

// Beside returns the path of another field of the object that the field at path belongs to.
func Beside(path, field string) string { return beside(path, field) }

// beside returns the path of another field of the same object.
func beside(path, field string) string { return parent(path) + "." + field }

// field returns the field with a path as in Field.Path.
func (k Kind) field(path string) (Field, bool) { return fieldIn(k.Fields(), path) }

func fieldIn(fields []Field, path string) (Field, bool) {
	for {
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Path == path || under(path, f.Path) })
		switch {
		case i < 0:
			return Field{}, false
		case fields[i].Path == path:
			return fields[i], true
		case fields[i].Items != nil:
			fields = fields[i].Items.Fields
		default:
			fields = fields[i].Fields
		}
	}
}

// Targets returns the objects to which obj refers by r, in order.
func (r Reference) Targets(obj *unstructured.Unstructured) []Target {
	var all []Target
	for _, holder := range holders(obj.Object, strings.Split(parent(r.Path), ".")) {
		t := Target{Kind: r.Kinds[0]}
		if r.Beside != "" {
			t.Kind, _ = holder[leaf(r.Beside)].(string)
		}
		if t.Name, _ = holder[leaf(r.Path)].(string); t.Name != "" && slices.Contains(r.Kinds, t.Kind) {
			all = append(all, t)
		}
	}
	return all
}

// holders returns the objects at a path, in which steps that end in [] are lists.
func holders(value any, path []string) []map[string]any {
	here, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	if len(path) == 0 {
		return []map[string]any{here}
	}
	name, isList := strings.CutSuffix(path[0], "[]")
	if !isList {
		return holders(here[name], path[1:])
	}
	var all []map[string]any
	list, _ := here[name].([]any)
	for _, item := range list {
		all = append(all, holders(item, path[1:])...)
	}
	return all
}

// Reference returns the reference whose name or kind is at path, which can have row numbers.
func (k Kind) Reference(path string) (Reference, bool) {
	at := pattern(path)
	all := slices.Concat(k.Refers, k.LetsIn)
	i := slices.IndexFunc(all, func(r Reference) bool { return at == r.Path || at == r.Beside && at != "" })
	if i < 0 {
		return Reference{}, false
	}
	return all[i], true
}

// ReferenceIn returns the reference in each object of the list at path.
func (k Kind) ReferenceIn(list string) (Reference, bool) {
	i := slices.IndexFunc(k.Refers, func(r Reference) bool { return parent(r.Path) == pattern(list)+"[]" })
	if i < 0 {
		return Reference{}, false
	}
	return k.Refers[i], true
}

// NameAt returns the path of the name of the reference that has a part at path.
func (r Reference) NameAt(path string) string { return beside(path, leaf(r.Path)) }

// KindAt returns the path of the kind for the name at path, or "" if the reference has no kind field.
func (r Reference) KindAt(path string) string {
	if r.Beside == "" {
		return ""
	}
	return beside(path, leaf(r.Beside))
}

var rowNumber = regexp.MustCompile(`\[[0-9]+\]`)

// pattern returns a path without its row numbers, as in Field.Path.
func pattern(path string) string { return rowNumber.ReplaceAllString(path, "[]") }

// leaf returns the last step of a path.
func leaf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// Choice returns the value of an input that selects kind and name at once: kind, slash, name. No name has a slash.
func (t Target) Choice() string { return t.Kind + "/" + t.Name }

// Split splits the value of such an input, for example SQSQueue/orders, into its two fields. A name whose kind was
// posted separately stays.
func (k Kind) Split(form url.Values) {
	for name, values := range maps.Clone(form) {
		r, ok := k.Reference(name)
		if !ok || r.Beside == "" || name != r.NameAt(name) || form.Has(r.KindAt(name)) || len(values) == 0 {
			continue
		}
		kind, object, both := strings.Cut(values[len(values)-1], "/")
		if !both {
			kind, object = "", kind
		}
		form.Set(r.KindAt(name), kind)
		form.Set(name, object)
	}
}
