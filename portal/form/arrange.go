package form

import (
	"slices"
	"strings"

	"github.com/portico-platform/portico/web/views"
)

// maxInLine is how many inputs stand beside each other.
const maxInLine = 4

// arranged keeps the groups among an object's fields small: the inputs of simple ones stand in a line, the others are
// folded unless something must be entered there.
func arranged(fields []views.Field) []views.Field {
	for i := range fields {
		g := &fields[i]
		if g.Widget == views.Group {
			g.Line = inLine(g.Fields)
			g.Fold = !g.Line && !g.Required
		}
	}
	return fields
}

func inLine(fields []views.Field) bool {
	return len(fields) > 0 && len(fields) <= maxInLine && !slices.ContainsFunc(fields, func(f views.Field) bool {
		return !slices.Contains([]views.Widget{views.Text, views.Long, views.Number, views.Select, views.Bool}, f.Widget)
	})
}

// compact lays the rows of a list out. Where each asks for a few simple values, it is a line, and what explains them
// stands once above; groups that may be left out are folded below it.
func compact(list *views.Field) {
	if len(list.Rows) == 0 {
		return
	}
	optional := func(f views.Field) bool { return f.Widget == views.Group && !f.Required }
	cells := slices.DeleteFunc(slices.Clone(list.Rows[0].Fields), optional)
	list.Line = inLine(cells)
	for _, r := range list.Rows {
		for i := range r.Fields {
			f := &r.Fields[i]
			switch {
			case optional(*f):
				f.Fold, f.Line = true, inLine(f.Fields)
			case list.Line:
				f.HintOf = list.Name + strings.TrimPrefix(f.Name, r.Name)
			}
		}
	}
	if list.Line {
		for _, c := range cells {
			c.Name = list.Name + strings.TrimPrefix(c.Name, list.Rows[0].Name)
			list.Columns = append(list.Columns, c)
		}
	}
}
