package main

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/portal/catalog"
)

// withSet returns base with the fields of --set, which are parsed as the portal parses a form.
func withSet(k catalog.Kind, base *object, set []string) (*object, error) {
	form := url.Values{}
	for _, s := range set {
		path, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, usagef("--set %q: want field=value", s)
		}
		if err := fill(form, k, path, value); err != nil {
			return nil, err
		}
	}
	obj, errs := k.Decode(form, base)
	if len(errs) > 0 {
		return nil, usagef("--set %s=%s: %s", strings.TrimPrefix(errs[0].Field, "spec."), errs[0].Value,
			errs[0].Message)
	}
	return obj, nil
}

// index matches the index of a list element: [0] or .0.
var index = regexp.MustCompile(`\[(\d+)\]|\.(\d+)(\.|$)`)

// fill adds the value of a field to a form, under the form's name for the field.
func fill(form url.Values, k catalog.Kind, path, value string) error {
	path = strings.TrimPrefix(strings.TrimPrefix(path, "."), "spec.")
	name, fields := "spec", k.Fields()
	rest := index.ReplaceAllString(path, "[$1$2]$3")
	for rest != "" {
		word, after, _ := strings.Cut(rest, ".")
		word, row, isRow := strings.Cut(word, "[")
		i := slices.IndexFunc(fields, func(f catalog.Field) bool { return f.Name == word })
		if i < 0 {
			return noField(k, path, word, fields)
		}
		f := fields[i]
		name += "." + word
		if isRow {
			name += "[" + row
		}
		if f.Type == catalog.Map {
			return fillEntry(form, name, path, after, value)
		}
		if f.IsRef() && after == "" {
			after = "name"
		}
		fields, rest = f.Fields, after
		if f.Items != nil {
			fields = f.Items.Fields
		}
	}
	form.Add(name, value)
	return nil
}

// fillEntry adds an entry of a map, whose key can contain dots.
func fillEntry(form url.Values, name, path, key, value string) error {
	if key == "" {
		return usagef("--set %s: name the entry too, such as %s.key=%s", path, path, value)
	}
	row := 0
	for form.Has(fmt.Sprintf("%s[%d].key", name, row)) {
		row++
	}
	form.Set(fmt.Sprintf("%s[%d].key", name, row), key)
	form.Set(fmt.Sprintf("%s[%d].value", name, row), value)
	return nil
}

func noField(k catalog.Kind, path, word string, fields []catalog.Field) error {
	every := &cobra.Command{Use: "fields"} // cobra suggests corrections of mistyped words
	every.SuggestionsMinimumDistance = 3
	for _, f := range fields {
		every.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	}
	if near := every.SuggestionsFor(word); len(near) > 0 {
		return usagef("--set %s: %s has no field %s; did you mean %s?", path, spoken.A(k.Noun()), word, orList(near))
	}
	return usagef("--set %s: %s has no field %s; see portico kinds %s", path, spoken.A(k.Noun()), word, k.Plural)
}
