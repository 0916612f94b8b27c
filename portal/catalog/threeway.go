package catalog

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Difference is a part of an object that is not the same in three versions of it: the one that two people began with, and
// what each of them made of it. nil is absent. Lists are one part: nobody can tell which of their rows belong together.
type Difference struct {
	Path               []string // from the root, e.g. metadata, labels, team
	Base, Theirs, Mine any
}

// Pointer is the path as a JSON pointer (RFC 6901).
func (d Difference) Pointer() string {
	var b strings.Builder
	for _, step := range d.Path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(step))
	}
	return b.String()
}

// ChangedByThem reports whether theirs is another value than the one begun with.
func (d Difference) ChangedByThem() bool { return !reflect.DeepEqual(d.Base, d.Theirs) }

// ChangedByMe reports whether mine is another value than the one begun with.
func (d Difference) ChangedByMe() bool { return !reflect.DeepEqual(d.Base, d.Mine) }

// Overlaps reports whether both changed it, and not alike: somebody has to choose.
func (d Difference) Overlaps() bool {
	return d.ChangedByThem() && d.ChangedByMe() && !reflect.DeepEqual(d.Theirs, d.Mine)
}

// Differences compares what users write (see Clean) in three versions of an object, names apart.
func Differences(base, theirs, mine *unstructured.Unstructured) []Difference {
	b, t, m := Clean(base).Object, Clean(theirs).Object, Clean(mine).Object
	var all []Difference
	for _, path := range [][]string{{"metadata", "labels"}, {"metadata", "annotations"}, {"spec"}} {
		at := func(o map[string]any) any {
			v, _, _ := unstructured.NestedFieldNoCopy(o, path...)
			return v
		}
		all = differ(all, path, at(b), at(t), at(m))
	}
	return all
}

func differ(all []Difference, path []string, base, theirs, mine any) []Difference {
	d := Difference{Path: slices.Clone(path), Base: base, Theirs: theirs, Mine: mine}
	if !d.ChangedByThem() && !d.ChangedByMe() {
		return all
	}
	b, isB := asMap(base)
	t, isT := asMap(theirs)
	m, isM := asMap(mine)
	if !isB || !isT || !isM {
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
		all = differ(all, append(path, key), b[key], t[key], m[key])
	}
	if len(all) == before { // one is empty, where another is not there
		all = append(all, d)
	}
	return all
}

// asMap takes what is absent for an empty map.
func asMap(v any) (map[string]any, bool) {
	if v == nil {
		return nil, true
	}
	m, ok := v.(map[string]any)
	return m, ok
}

// Merge is mine with what they changed. Where both changed the same, choose says what it shall be.
func Merge(base, theirs, mine *unstructured.Unstructured, choose func(Difference) any) (*unstructured.Unstructured, error) {
	out := Clean(mine)
	for _, d := range Differences(base, theirs, mine) {
		want := d.Theirs
		switch {
		case d.Overlaps():
			want = choose(d)
		case !d.ChangedByThem():
			continue
		}
		if want == nil {
			remove(out.Object, theirs.Object, d.Path)
			continue
		}
		if err := unstructured.SetNestedField(out.Object, want, d.Path...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// remove takes the value at path away, and the maps that are empty without it unless theirs has them.
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
