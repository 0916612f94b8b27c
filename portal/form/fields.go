package form

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// builder creates the inputs of a form from the kind's fields and the entered values.
type builder struct {
	subject
	Offers
	values url.Values
	rows   map[string]int // of each list, by name
}

// form returns all inputs. basic are the object's name, the fields of the kind's form and required ones; advanced are
// the rest.
func (b builder) form() (basic, advanced []views.Field) {
	basic = append(basic, views.Field{
		Name: NameField, Label: "Name", Widget: views.Text, Required: true, Fixed: true,
		Value: b.values.Get(NameField),
		Hint:  "How you find it here and with kubectl: lower-case letters, digits and hyphens.",
	})
	if b.namesItself() {
		basic[0].Required = false
		basic[0].Hint += " Left empty, it is the first part of the hostname."
	}
	if b.Edit != nil {
		basic[0].Widget, basic[0].Required = views.Fixed, false
		basic[0].Value, basic[0].Hint = b.Edit.Name, "Cannot be changed: it is how others find it."
	}
	for _, f := range b.kind.Fields() {
		if b.ruledOut(f, "spec."+f.Name) {
			continue
		}
		f = b.narrowed(f)
		v := b.field(f, "spec."+f.Name, f.Required)
		if f.Advanced && !f.Required {
			advanced = append(advanced, v)
		} else {
			basic = append(basic, v)
		}
	}
	// Required ones first; apart from that the kind's own order.
	slices.SortStableFunc(basic, func(x, y views.Field) int { return cmp.Compare(rank(x), rank(y)) })
	return basic, advanced
}

func rank(f views.Field) int {
	if f.Required {
		return 0
	}
	return 1
}

// field returns one input. required is false within an optional group, which can be left empty as a whole.
func (b builder) field(f catalog.Field, path string, required bool) views.Field {
	v := views.Field{
		Name: path, Label: f.Label, Default: f.Default, Required: required, Fixed: f.Fixed.Why != "",
		Value: b.values.Get(path),
	}
	v.Hint, v.More = humanize.FirstSentence(f.Help)
	v.When, _ = b.conditions(f, path)
	if why, held := b.fixed(f, path); why != "" {
		v.Widget, v.Value, v.Hint, v.More, v.Required, v.When = views.Fixed, held, why, "", false, nil
		return v
	}
	if why, only := b.required(path); why != "" {
		v.Widget, v.Value, v.Hint, v.More, v.Required, v.When = views.Fixed, only, why, "", false, nil
		return v
	}
	switch {
	case f.IsRef():
		return b.reference(f, v)
	case f.Type == catalog.Object:
		v.Widget, v.Fields = views.Group, b.members(f, path, required)
		v.Line = inLine(v.Fields) && !slices.ContainsFunc(v.Fields, func(c views.Field) bool {
			return !c.Short && c.Widget != views.Number
		})
	case f.Type == catalog.Array:
		b.array(f, &v)
	case f.Type == catalog.Map:
		v.Widget, v.Singular = views.Pairs, singular(f.Label)
		v.Rows = b.pairs(path)
	default:
		b.scalar(f, &v)
	}
	b.limited(f, &v)
	return v
}

// members returns the inputs of an object's fields. A kind that is selected together with a name has no input.
func (b builder) members(f catalog.Field, path string, required bool) []views.Field {
	var out []views.Field
	for _, c := range f.Fields {
		at := path + "." + c.Name
		r, refers := b.kind.Reference(c.Path)
		if refers && c.Path == r.Beside && b.Choices.chooses(r) || b.ruledOut(c, at) {
			continue
		}
		v := b.field(c, at, required && c.Required)
		if refers && c.Path == r.Path {
			v = b.named(r, v)
		}
		if f.IsKeyRef() {
			v.Hint, v.More = "", "" // the labels suffice
			if c.Name == "key" {
				v = b.keyed(v)
			}
		}
		out = append(out, v)
	}
	return arranged(out)
}

// scalar sets the widget for one value.
func (b builder) scalar(f catalog.Field, v *views.Field) {
	switch {
	case f.Type == catalog.YAML:
		v.Widget = views.Code
	case f.Type == catalog.Boolean:
		v.Widget = views.Bool
		v.Options = []views.Option{
			{Value: "true", Label: "Yes", Selected: v.Value == "true"},
			{Value: "false", Label: "No", Selected: v.Value == "false"},
		}
		v.Default = map[string]string{"true": "yes", "false": "no"}[f.Default]
	case len(f.Options) > 0:
		v.Widget = views.Select
		v.Options = b.worded(f, options(f.Options, []string{v.Value}, f.Default))
	case f.Type == catalog.Integer || f.Type == catalog.Number:
		v.Widget, v.Unit, v.Example = views.Number, string(f.Unit), f.Unit.Example()
		v.Min, v.Max = limit(f.Limits.Min), limit(f.Limits.Max)
	case multiline(v.Value, views.Text) == views.Long:
		v.Widget = views.Long
	default:
		v.Widget, v.Suggestions, v.List = views.Text, suggestions(f.Unit.Suggestions()), b.nameList(v.Name)
		v.Suggestions = append(v.Suggestions, b.zonesFor(f)...)
		v.Offered = b.offered(f)
		v.Short = f.Format == "quantity" || f.Limits.MaxLength != nil && *f.Limits.MaxLength <= 32
		if b.kind.IsPerson(f.Path) {
			*v = b.person(f, *v)
		}
	}
}

// array sets the widget for several values: check boxes, lines, or rows of inputs.
func (b builder) array(f catalog.Field, v *views.Field) {
	v.Value = ""
	switch {
	case f.ListOfScalars() && len(f.Items.Options) > 0:
		v.Widget, v.Options = views.Checks, options(f.Items.Options, b.values[v.Name], "")
	case f.Path == regionsField && len(b.Regions) > 0:
		v.Widget, v.Options = views.Checks, b.regionsOf(v.Name)
	case f.ListOfScalars() && b.rows[v.Name] > 0:
		v.Widget, v.Singular = views.Pairs, singular(f.Label)
		v.Rows = b.each(v.Name, v.Singular)
	case f.ListOfScalars():
		v.Widget, v.Value, v.Offered, v.Singular = views.Lines, strings.Join(b.values[v.Name], "\n"), b.offered(f),
			singular(f.Label)
	default:
		v.Widget, v.Singular = views.Rows, singular(f.Label)
		for i := range b.rows[v.Name] {
			at := catalog.Index(v.Name, i)
			row := b.field(*f.Items, at, true)
			v.Rows = append(v.Rows, views.Row{Name: at, Fields: row.Fields})
		}
		v.Addable = b.addable(v.Name)
		compact(v)
	}
}

func (b builder) pairs(path string) []views.Row {
	var rows []views.Row
	for i := range b.rows[path] {
		at := catalog.Index(path, i)
		rows = append(rows, views.Row{Name: at, Fields: []views.Field{
			{Name: at + ".key", Label: "Key", Widget: views.Text, Value: b.values.Get(at + ".key")},
			{Name: at + ".value", Label: "Value", Widget: multiline(b.values.Get(at+".value"), views.Text), Value: b.values.Get(at + ".value")},
		}})
	}
	return rows
}

// each returns a row for every value of a list, exactly as it is.
func (b builder) each(path, singular string) []views.Row {
	var rows []views.Row
	for i := range b.rows[path] {
		at := catalog.Index(path, i)
		rows = append(rows, views.Row{Name: at, Fields: []views.Field{
			{Name: at, Label: singular, Widget: views.Long, Value: b.values.Get(at)},
		}})
	}
	return rows
}

// multiline returns the widget for a text: a single-line input would lose line breaks.
func multiline(text string, one views.Widget) views.Widget {
	if strings.ContainsAny(text, "\r\n") {
		return views.Long
	}
	return one
}

// reference returns an input for the name of another object; for AWS accounts, only those that the team can use are
// offered.
func (b builder) reference(f catalog.Field, v views.Field) views.Field {
	v.Name += ".name"
	v.Value = b.values.Get(v.Name)
	if r, ok := b.kind.Reference(f.Fields[0].Path); ok {
		return b.named(r, v)
	}
	if f.Name != "providerRef" {
		v.Widget, v.List = views.Text, b.nameList(v.Name)
		return v
	}
	v.Picks = true
	v.Hint, v.More = "Only the accounts that "+b.Team.Name+" can use.", ""
	if len(b.Providers) == 0 {
		v.Widget = views.Nothing
		v.Hint = "No AWS account is open to " + b.Team.Name + " yet. Ask a platform admin to allow one for this " +
			"namespace."
		return v
	}
	v.Widget = views.Select
	for _, p := range b.Providers {
		parts := slices.DeleteFunc([]string{p.Name, p.Region, p.AccountID}, func(s string) bool { return s == "" })
		label := strings.Join(parts, ", ")
		if !p.Ready {
			label += " (not ready)"
		}
		v.Options = append(v.Options, views.Option{Value: p.Name, Label: label, Selected: p.Name == v.Value})
	}
	v.Options = append(v.Options, strays(v.Options, []string{v.Value}, "not open to "+b.Team.Name)...)
	return v
}

func options(values, chosen []string, byDefault string) []views.Option {
	out := make([]views.Option, 0, len(values))
	for _, o := range values {
		if o != byDefault || slices.Contains(chosen, o) {
			out = append(out, views.Option{Value: o, Label: o, Selected: slices.Contains(chosen, o)})
		}
	}
	return append(out, strays(out, chosen, "not offered any more")...)
}

// strays returns the chosen values that are not offered: an object can have an earlier one, and a page without it would
// select another.
func strays(offered []views.Option, chosen []string, why string) []views.Option {
	var out []views.Option
	for _, c := range chosen {
		if c != "" && !slices.ContainsFunc(slices.Concat(offered, out), func(o views.Option) bool {
			return o.Value == c
		}) {
			out = append(out, views.Option{Value: c, Label: c + " (" + why + ")", Selected: true})
		}
	}
	return out
}

func limit(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', -1, 64)
}

// singular returns the label of one row of a list: CORS rules → CORS rule.
func singular(label string) string {
	word := strings.TrimSuffix(label, "s")
	first, _, _ := strings.Cut(word, " ")
	if humanize.PlainWord(strings.ToLower(first[:1]) + first[1:]) {
		word = strings.ToLower(word[:1]) + word[1:]
	}
	return word
}
