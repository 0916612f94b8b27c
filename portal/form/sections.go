package form

import (
	"slices"
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// divide moves the inputs of the view into the sections of the kind's form. Inputs without a section stay.
func divide(kind catalog.Kind, view *views.Form) {
	for i, s := range kind.Sections {
		part := views.Section{Title: s.Title, Folded: s.Folded}
		if i == 0 {
			part.Fields = taken(view, NameField)
		}
		for _, name := range s.Fields {
			part.Fields = append(part.Fields, taken(view, "spec."+name)...)
		}
		part.Open = slices.ContainsFunc(part.Fields, func(f views.Field) bool { return f.Used })
		if len(part.Fields) == 1 && part.Folded {
			part.Fields[0].Fold = false // the section is folded already
		}
		view.Sections = append(view.Sections, part)
	}
}

// taken removes the input of that name from the view and returns it.
func taken(view *views.Form, name string) []views.Field {
	for _, list := range []*[]views.Field{&view.Basic, &view.Advanced} {
		i := slices.IndexFunc(*list, func(f views.Field) bool {
			return f.Name == name || strings.HasPrefix(f.Name, name+".")
		})
		if i >= 0 {
			f := (*list)[i]
			*list = slices.Delete(slices.Clone(*list), i, i+1)
			return []views.Field{f}
		}
	}
	return nil
}
