package catalog

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Difference is a part of an object that differs between its three versions: the base, and the results of two users'
// edits. nil is absent. A list is one part, unless the schema identifies its elements by keys or as a set: then each
// element is a part, and so is its content if all three versions have it.
type Difference struct {
	// Path is from the root, e.g. metadata, labels, team. The step of a list's element is its key, e.g. [LOG_LEVEL].
	Path               []string
	Base, Theirs, Mine any
}

// Pointer returns the path as a JSON pointer (RFC 6901).
func (d Difference) Pointer() string {
	var b strings.Builder
	for _, step := range d.Path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
	}
	return b.String()
}

// At returns the path as users write it: spec.bindings[S3Bucket/files].prefix.
func (d Difference) At() string { return joined(d.Path) }

// PointerAt returns the path of a JSON pointer in the format of At.
func PointerAt(pointer string) string {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range steps {
		steps[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[i])
	}
	return joined(steps)
}

// joined joins the steps of a path with dots, except before keys of elements.
func joined(steps []string) string {
	return strings.ReplaceAll(strings.Join(steps, "."), ".[", "[")
}

// ChangedByThem reports whether theirs differs from the base.
func (d Difference) ChangedByThem() bool { return !reflect.DeepEqual(d.Base, d.Theirs) }

// ChangedByMe reports whether mine differs from the base.
func (d Difference) ChangedByMe() bool { return !reflect.DeepEqual(d.Base, d.Mine) }

// Overlaps reports whether both sides changed it differently: a user must choose.
func (d Difference) Overlaps() bool {
	return d.ChangedByThem() && d.ChangedByMe() && !reflect.DeepEqual(d.Theirs, d.Mine)
}

// Differences compares the fields that users write (see Clean) in three versions of an object of an unknown kind.
func Differences(base, theirs, mine *unstructured.Unstructured) []Difference {
	return Kind{}.Differences(base, theirs, mine)
}

// Differences compares the fields that users write (see Clean) in three versions of an object, without its name.
func (k Kind) Differences(base, theirs, mine *unstructured.Unstructured) []Difference {
	all, _ := k.differences(withoutNulls(base), withoutNulls(theirs), withoutNulls(mine))
	return all
}

// withoutNulls returns Clean's copy of obj without null fields, which are absent for Kubernetes.
func withoutNulls(obj *unstructured.Unstructured) map[string]any {
	clean := Clean(obj).Object
	dropNulls(clean)
	return clean
}

func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, of any) bool { return of == nil })
		for _, of := range v {
			dropNulls(of)
		}
	case []any:
		for _, of := range v {
			dropNulls(of)
		}
	}
}

// differences compares three versions, and converts their lists by key.
func (k Kind) differences(base, theirs, mine map[string]any) ([]Difference, keyed) {
	lists := keyed{}
	if specs, ok := (versions{base["spec"], theirs["spec"], mine["spec"]}).maps(); ok {
		lists.lay(k.Fields(), "spec", specs)
	}
	var all []Difference
	for _, path := range [][]string{{"metadata", "labels"}, {"metadata", "annotations"}, {"spec"}} {
		at := func(o map[string]any) any {
			v, _, _ := unstructured.NestedFieldNoCopy(o, path...)
			return v
		}
		all = lists.differ(all, path, at(base), at(theirs), at(mine))
	}
	return all, lists
}

func (k keyed) differ(all []Difference, path []string, base, theirs, mine any) []Difference {
	d := Difference{Path: slices.Clone(path), Base: base, Theirs: theirs, Mine: mine}
	if !d.ChangedByThem() && !d.ChangedByMe() {
		return all
	}
	b, isB := asMap(base)
	t, isT := asMap(theirs)
	m, isM := asMap(mine)
	if !isB || !isT || !isM || k.whole(d) {
		return append(all, d)
	}
	keys := map[string]bool{}
	for _, of := range []map[string]any{b, t, m} {
		for key := range of {
			keys[key] = true
		}
	}
	before := len(all)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		all = k.differ(all, append(path, key), b[key], t[key], m[key])
	}
	if len(all) == before { // one is empty, another absent
		all = append(all, d)
	}
	return all
}

// whole reports whether the difference is an element that somebody added to or removed from a keyed list: without its
// keys there would be no element.
func (k keyed) whole(d Difference) bool {
	_, element := k[strings.Join(d.Path[:len(d.Path)-1], ".")]
	return element && (d.Base == nil || d.Theirs == nil || d.Mine == nil)
}

// asMap treats an absent value as an empty map.
func asMap(v any) (map[string]any, bool) {
	if v == nil {
		return nil, true
	}
	m, ok := v.(map[string]any)
	return m, ok
}

// Merge returns mine with their changes. For a conflict, choose returns the value to take.
func (k Kind) Merge(base, theirs, mine *unstructured.Unstructured, choose func(Difference) any) (
	*unstructured.Unstructured, error,
) {
	out, their := &unstructured.Unstructured{Object: withoutNulls(mine)}, withoutNulls(theirs)
	all, lists := k.differences(withoutNulls(base), their, out.Object)
	for _, d := range all {
		want := d.Theirs
		switch {
		case d.Overlaps():
			want = choose(d)
		case !d.ChangedByThem():
			continue
		}
		if want == nil {
			remove(out.Object, their, d.Path)
			continue
		}
		if err := unstructured.SetNestedField(out.Object, want, d.Path...); err != nil {
			return nil, err
		}
	}
	if spec, ok := out.Object["spec"].(map[string]any); ok {
		lists.lists(k.Fields(), "spec", spec)
	}
	return out, nil
}

// remove removes the value at path, and the maps that become empty unless theirs has them.
func remove(object, theirs map[string]any, path []string) {
	for len(path) > 0 {
		unstructured.RemoveNestedField(object, path...)
		path = path[:len(path)-1]
		left, _, _ := unstructured.NestedMap(object, path...)
		_, kept, _ := unstructured.NestedFieldNoCopy(theirs, path...)
		if len(path) < 2 || len(left) > 0 || kept {
			return
		}
	}
}
