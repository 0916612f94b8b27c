package form

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// rowIn returns the index of the row of list that contains name: spec.tags[3].key is in row 3 of spec.tags.
func rowIn(name, list string) (int, bool) {
	rest, ok := strings.CutPrefix(name, list+"[")
	if !ok {
		return 0, false
	}
	digits, _, ok := strings.Cut(rest, "]")
	i, err := strconv.Atoi(digits)
	return i, ok && err == nil && i >= 0 && i < maxListRows
}

const (
	// MaxRows bounds the rows of one form, over all its lists: each is shown with all its inputs.
	MaxRows = 500
	// maxListRows bounds the rows of a list if its schema has no limit.
	maxListRows = 200
)

// RowsError reports which list of a form has more rows than the kind, or the page, allows. Its text is for the user.
type RowsError struct {
	list  string // name of the list, "" for all lists of the form together
	label string
	limit int
}

func (e *RowsError) Error() string {
	if e.list == "" {
		return fmt.Sprintf("a form takes %d rows over all lists: write longer ones as YAML", e.limit)
	}
	return fmt.Sprintf("%s takes %d rows at most", e.label, e.limit)
}

// TooManyRows returns nil or a *RowsError.
func (d Draft) TooManyRows() error {
	total, fields := 0, d.kind.Fields()
	for _, list := range slices.Sorted(maps.Keys(d.rows)) {
		f, known := fieldAt(fields, list)
		if limit := maxRowsOf(f); known && d.rows[list] > limit {
			return &RowsError{list: list, label: f.Label, limit: limit}
		}
		total += d.rows[list]
	}
	if total > MaxRows {
		return &RowsError{limit: MaxRows}
	}
	return nil
}

func maxRowsOf(f catalog.Field) int {
	if f.Limits.MaxItems == nil {
		return maxListRows
	}
	return int(min(*f.Limits.MaxItems, MaxRows))
}

// WithRow returns the draft with another row at the end of a list or map; a full list stays unchanged, with an error.
// about is the list's name, optionally followed by a space and the object for the new row.
func (d Draft) WithRow(about string) Draft {
	list, choice, _ := strings.Cut(about, " ")
	f, ok := fieldAt(d.kind.Fields(), list)
	if !ok {
		return d
	}
	values := maps.Clone(d.values)
	row := catalog.Index(list, d.rows[list])
	name, value := row, "{}"
	switch {
	case f.Type == catalog.Map:
		name, value = name+".key", ""
	case f.ListOfScalars():
		value = ""
	}
	values.Set(name, value)
	if r, ok := d.kind.ReferenceIn(list); ok && choice != "" {
		values.Set(r.NameAt(row+"."), choice)
	}
	out := d.fromForm(values)
	if err := out.TooManyRows(); err != nil {
		d.Errors = catalog.FieldErrors{{Field: list, Message: err.Error()}}
		return d
	}
	out.focus = row
	return out
}

// removeRow removes the row from its list and moves the later ones up.
func removeRow(values url.Values, row string) {
	open := strings.LastIndexByte(row, '[')
	if open < 0 {
		return
	}
	list := row[:open]
	gone, ok := rowIn(row, list)
	if !ok {
		return
	}
	moved := url.Values{}
	for name, v := range values {
		i, in := rowIn(name, list)
		switch {
		case !in || i < gone:
			moved[name] = v
		case i > gone:
			rest := strings.TrimPrefix(name, catalog.Index(list, i))
			moved[catalog.Index(list, i-1)+rest] = v
		}
	}
	clear(values)
	maps.Copy(values, moved)
}

// focus sets the focus to the list of that name, or to the first input of the row of that name, where the user
// continues after adding or removing a row. It reports whether it was found among fields.
func focus(fields []views.Field, name string) bool {
	for i := range fields {
		f := &fields[i]
		f.Focus = f.Name == name && (f.Widget == views.Rows || f.Widget == views.Pairs)
		in := func(r views.Row) bool { return focusRow(r, name) }
		if f.Focus || focus(f.Fields, name) || slices.ContainsFunc(f.Rows, in) {
			return true
		}
	}
	return false
}

func focusRow(r views.Row, name string) bool {
	if r.Name != name {
		return focus(r.Fields, name)
	}
	first := slices.IndexFunc(r.Fields, func(f views.Field) bool {
		return f.Widget != views.Group && f.Widget != views.Rows
	})
	if first >= 0 {
		r.Fields[first].Focus = true
	}
	return first >= 0
}

// fieldAt returns the field at a concrete path such as spec.lifecycleRules[0].transitions.
func fieldAt(fields []catalog.Field, path string) (catalog.Field, bool) {
	for _, f := range fields {
		pattern := strings.Split(f.Path, "[]")
		at := path
		for i, piece := range pattern {
			if i > 0 {
				_, at, _ = strings.Cut(at, "]")
			}
			rest, ok := strings.CutPrefix(at, piece)
			if !ok {
				at = "?"
				break
			}
			at = rest
		}
		switch {
		case at == "":
			return f, true
		case at[0] == '.':
			return fieldAt(f.Fields, path)
		case at[0] == '[' && f.Items != nil:
			return fieldAt(f.Items.Fields, path)
		}
	}
	return catalog.Field{}, false
}

// names returns the names of the inputs in page order, including groups and rows.
func names(lists ...[]views.Field) []string {
	var out []string
	for _, fields := range lists {
		for _, f := range fields {
			out = append(out, f.Name)
			out = append(out, names(f.Fields)...)
			for _, r := range f.Rows {
				out = append(out, r.Name)
				out = append(out, names(r.Fields)...)
			}
		}
	}
	return out
}

// mark assigns the errors to their inputs and records each input's label. It reports whether anything here must be
// visible at once: an error or a value.
func mark(fields []views.Field, errs map[string][]string, labels map[string]string, in string) bool {
	worth := false
	for i := range fields {
		f := &fields[i]
		labels[f.Name] = in + f.Label
		f.Errors = sentences(errs[f.Name])
		inside := mark(f.Fields, errs, labels, in+f.Label+", ")
		f.Used = inside || len(f.Errors) > 0 || f.Value != "" || len(f.Rows) > 0 ||
			slices.ContainsFunc(f.Options, func(o views.Option) bool { return o.Selected })
		worth = worth || f.Used
		for j := range f.Rows {
			r := &f.Rows[j]
			where := in + strings.TrimSuffix(f.Label, "s") + " " + strconv.Itoa(j+1)
			labels[r.Name] = where
			r.Errors = sentences(errs[r.Name])
			mark(r.Fields, errs, labels, where+", ")
		}
	}
	return worth
}

func sentences(messages []string) []string {
	var out []string
	for _, m := range messages {
		out = append(out, humanize.Sentence(m))
	}
	return out
}

// askFor adds to inputs with a missing value what to do there.
func askFor(errs map[string][]string, lists ...[]views.Field) {
	for _, fields := range lists {
		for _, f := range fields {
			for i, m := range errs[f.Name] {
				if m == catalog.Required {
					errs[f.Name][i] = lacking(f)
				}
			}
			askFor(errs, f.Fields)
			for _, r := range f.Rows {
				askFor(errs, r.Fields)
			}
		}
	}
}

func lacking(f views.Field) string {
	switch f.Widget {
	case views.Select, views.Bool:
		return "choose one"
	case views.Checks:
		return "choose at least one"
	case views.Rows, views.Pairs:
		return "add at least one"
	case views.Nothing, views.Fixed, views.Group:
		return catalog.Required
	default:
		if f.Name == NameField {
			return "enter a name"
		}
		return "enter a value"
	}
}
