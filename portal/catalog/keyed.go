package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// versions are the values at one path in three versions of an object, nil for none: base, theirs, mine.
type versions [3]any

// maps returns the versions as maps, and false if one has another type. An absent one is nil and counts as empty.
func (v versions) maps() (out [3]map[string]any, ok bool) {
	for i, one := range v {
		if out[i], ok = asMap(one); !ok {
			return out, false
		}
	}
	return out, true
}

// keyed are the lists with identifiable elements, by path: those that the schema declares as maps or sets. lay turns
// them into maps by key, and lists reverts that; in between they are compared and merged element by element.
type keyed map[string]order3

// order3 are the keys of a list in the order of each version.
type order3 [3][]string

// lay replaces, in three versions of an object at path, the lists whose elements have distinct keys in all three.
func (k keyed) lay(fields []Field, path string, of [3]map[string]any) {
	for _, f := range fields {
		at, v := path+"."+f.Name, versions{}
		for i := range of {
			v[i] = of[i][f.Name]
		}
		switch f.Type {
		case Object:
			if m, ok := v.maps(); ok {
				k.lay(f.Fields, at, m)
			}
		case Array:
			k.layList(f, at, v, of)
		default:
		}
	}
}

func (k keyed) layList(f Field, at string, v versions, of [3]map[string]any) {
	var laid [3]map[string]any
	var keys order3
	for i, one := range v {
		var ok bool
		if laid[i], keys[i], ok = byKey(f, one); !ok {
			return
		}
	}
	k[at] = keys
	for i := range of {
		if v[i] != nil {
			of[i][f.Name] = laid[i]
		}
	}
	for _, key := range slices.Sorted(maps.Keys(union(laid))) {
		if m, ok := (versions{laid[0][key], laid[1][key], laid[2][key]}).maps(); ok {
			k.lay(f.Items.Fields, at+"."+key, m)
		}
	}
}

func union(of [3]map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range of {
		maps.Copy(out, m)
	}
	return out
}

// byKey returns the elements of a list by key, and the keys in order. ok is false if the schema declares no keys, or if
// an element lacks its key or has the same as another.
func byKey(f Field, list any) (by map[string]any, keys []string, ok bool) {
	all, isList := list.([]any)
	if !f.Set && len(f.Keys) == 0 || list != nil && !isList {
		return nil, nil, false
	}
	by = map[string]any{}
	for _, e := range all {
		key, ok := f.keyOf(e)
		if _, twice := by[key]; !ok || twice {
			return nil, nil, false
		}
		by[key], keys = e, append(keys, key)
	}
	return by, keys, true
}

// keyOf returns the path step of a list's element, such as [LOG_LEVEL] or [SQSQueue/orders].
func (f Field) keyOf(element any) (string, bool) {
	parts := []any{element}
	if !f.Set {
		m, ok := element.(map[string]any)
		if !ok {
			return "", false
		}
		parts = nil
		for _, name := range f.Keys {
			parts = append(parts, m[name])
		}
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		switch p.(type) {
		case nil, map[string]any, []any:
			return "", false
		}
		texts = append(texts, fmt.Sprint(p))
	}
	return "[" + strings.Join(texts, "/") + "]", true
}

// lists reverts lay in the merged version.
func (k keyed) lists(fields []Field, path string, of map[string]any) {
	for _, f := range fields {
		at := path + "." + f.Name
		m, isMap := of[f.Name].(map[string]any)
		keys, laid := k[at]
		switch {
		case isMap && f.Type == Object:
			k.lists(f.Fields, at, m)
		case isMap && f.Type == Array && laid:
			out := []any{}
			for _, key := range keys.of(m) {
				if e, ok := m[key].(map[string]any); ok {
					k.lists(f.Items.Fields, at+"."+key, e)
				}
				out = append(out, m[key])
			}
			of[f.Name] = out
		}
	}
}

// of returns the order of the elements after a merge: mine if I changed it, else theirs. An element that only the other
// side added comes after its predecessor in that side's order.
func (o order3) of(there map[string]any) []string {
	base, theirs, mine := o[0], o[1], o[2]
	first, second := mine, theirs
	if slices.Equal(shared(mine, base), shared(base, mine)) {
		first, second = theirs, mine
	}
	out := slices.Clone(first)
	for i, key := range second {
		if slices.Contains(out, key) {
			continue
		}
		at := 0
		if i > 0 {
			at = slices.Index(out, second[i-1]) + 1 // the predecessor has already been placed
		}
		out = slices.Insert(out, at, key)
	}
	return slices.DeleteFunc(out, func(key string) bool { _, is := there[key]; return !is })
}

// shared returns the elements of a that b also has, in the order of a.
func shared(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(key string) bool { return !slices.Contains(b, key) })
}
