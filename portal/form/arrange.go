package form

import (
	"slices"
	"strings"

	"github.com/portico-platform/portico/web/views"
)

// maxInLine is the maximum number of inputs side by side.
const maxInLine = 4

// arranged keeps groups of fields compact: simple inputs are shown in one line; other groups are folded unless they
// have required inputs.
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
		return !slices.Contains([]views.Widget{views.Text, views.Long, views.Number, views.Select, views.Bool},
			f.Widget)
	})
}

// compact arranges the rows of a list. A row of a few simple values becomes one line, with its explanations once above
// the list; optional groups are folded below it.
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
