package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// versions are the values at one place of three versions of an object, nil for none: the one begun with, theirs, mine.
type versions [3]any

// maps returns the versions as maps, and false if one is something else. An absent one is nil and counts as empty.
func (v versions) maps() (out [3]map[string]any, ok bool) {
	for i, one := range v {
		if out[i], ok = asMap(one); !ok {
			return out, false
		}
	}
	return out, true
}

// keyed are the lists whose elements can be told apart, by path: those that the schema calls maps or sets. lay makes
// maps of them, by key, and lists makes them lists again; what is between is compared and merged element by element.
type keyed map[string]order3

// order3 are the keys of a list in the order of each version.
type order3 [3][]string

// lay replaces, in three versions of an object beneath path, the lists whose elements have distinct keys in all three.
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

// byKey returns the elements of a list by key, and the keys in order. ok is false where the schema names no keys, or
// where an element lacks its key or shares it with another.
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

// keyOf returns the path step that leads to an element of a list, such as [LOG_LEVEL] or [SQSQueue/orders].
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

// lists undoes lay in the version that was merged.
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

// of returns the order of the elements that are there after a merge: mine if I changed it, else theirs. An element that
// only the other side added follows the element that it follows there.
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
			at = slices.Index(out, second[i-1]) + 1 // it is there: it has just been put there, if it was not
		}
		out = slices.Insert(out, at, key)
	}
	return slices.DeleteFunc(out, func(key string) bool { _, is := there[key]; return !is })
}

// shared returns the elements of a that b also has, in the order of a.
func shared(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(key string) bool { return !slices.Contains(b, key) })
}
