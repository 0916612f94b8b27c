package catalog

import (
	"slices"
	"strings"
)

// untouched reports whether the inputs of a value are exactly what Encode returns for base. For objects and lists of
// objects their parts decide.
func untouched(f Field, n *node, base any) bool {
	switch {
	case base == nil || f.Type == Object || f.Type == Map:
		return false
	case f.ListOfScalars():
		was, isList := base.([]any)
		return isList && len(n.rows) == 0 &&
			(newlines(strings.Join(n.values, "\n")) == newlines(strings.Join(texts(was), "\n")))
	case f.Type == Array:
		return false
	}
	return newlines(n.last()) == newlines(shown(f, base))
}

func texts(list []any) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		out = append(out, text(v))
	}
	return out
}

// scalars reads a list of single values: one per line, or repeated inputs; in rows, each exactly as it is.
func (d *decoder) scalars(f Field, path string, n *node, base any) (any, bool) {
	was, _ := base.([]any)
	out := []any{}
	add := func(t string) {
		if v, ok := d.scalar(*f.Items, path, t); ok {
			out = append(out, v)
		}
	}
	for _, v := range n.values {
		if len(f.Items.Options) > 0 { // of a check box
			add(v)
			continue
		}
		for line := range strings.SplitSeq(newlines(v), "\n") {
			add(strings.TrimSpace(line))
		}
	}
	for _, i := range n.indices() {
		switch row := n.rows[i]; {
		case row.child("_remove").last() == "on":
		case i < len(was) && newlines(row.last()) == newlines(text(was[i])):
			out = append(out, was[i])
		default:
			add(row.last())
		}
	}
	if len(f.Items.Options) > 0 {
		out = inOrderOf(was, out)
	}
	return out, len(out) > 0 || isEmptyList(base)
}

// inOrderOf sorts the chosen values in the order of was, duplicates included, because check boxes have their own order.
// New values come last.
func inOrderOf(was, chosen []any) []any {
	out := []any{}
	for _, v := range was {
		if slices.Contains(chosen, v) {
			out = append(out, v)
		}
	}
	for _, v := range chosen {
		if !slices.Contains(was, v) {
			out = append(out, v)
		}
	}
	return out
}

func (d *decoder) rows(f Field, path string, n *node, base any) (any, bool) {
	was, _ := base.([]any)
	out := []any{}
	for _, i := range n.indices() {
		row := n.rows[i]
		if row.child("_remove").last() == "on" {
			continue
		}
		var before any
		if i < len(was) {
			before = was[i]
		}
		if v, ok := d.value(*f.Items, Index(path, len(out)), row, before); ok {
			out = append(out, v)
		}
	}
	return out, len(out) > 0 || isEmptyList(base)
}

func (d *decoder) entries(f Field, path string, n *node, base any) (any, bool) {
	was, _ := base.(map[string]any)
	out := map[string]any{}
	row := 0
	for _, i := range n.indices() {
		if n.rows[i].child("_remove").last() == "on" {
			continue
		}
		key, value := n.rows[i].child("key").last(), n.rows[i].child("value").last()
		_, twice := out[key]
		before, held := was[key]
		held = held && !twice && newlines(text(before)) == newlines(value)
		switch {
		case held:
			out[key] = before
		case key == "" && value == "":
			continue
		case key == "":
			d.fail(Index(path, row)+".key", "", "give this value a key, or empty both")
		case twice:
			d.fail(Index(path, row)+".key", key, "this key is there twice: keep one")
		default:
			d.entry(out, f, Index(path, row), key, value)
		}
		row++
	}
	return out, len(out) > 0 || (was != nil && len(was) == 0)
}

func (d *decoder) entry(out map[string]any, f Field, at, key, value string) {
	if v, ok := d.scalar(*f.Items, at+".value", value); ok {
		out[key] = v
	} else if f.Items.Type == String {
		out[key] = ""
	}
}

func isEmptyList(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) == 0
}
