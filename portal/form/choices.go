package form

import (
	"cmp"
	"slices"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// MaxChoices bounds the objects that one input offers, because each row of a list repeats them. Beyond it names are
// typed.
const MaxChoices = 200

// Offers are the values that the inputs of one form offer, as the caller can see them.
type Offers struct {
	Providers []Provider
	Choices   Choices
	Regions   map[string][]string         // of AWS accounts that a Team can use, by account name
	Grant     *v1alpha1.HostnameGrantSpec // for hostnames; nil: none
	// Guardrails are the team's.
	Guardrails guardrails.Limits
	// Defaults are the initial values of the team's new objects.
	Defaults v1alpha1.TeamDefaults
	Zones    map[string]string // domains of known hosted zones for hostnames, by ID
}

// Provider is an AWS account that the team can use.
type Provider struct {
	Name, Region, AccountID string
	Ready                   bool
	Regions                 []string // that the team can choose
	Guardrails              guardrails.Limits
}

// Choices are the objects that the fields of one form can refer to, by kind.
type Choices map[string]Choosable

// Choosable are the objects of one kind in the team's namespace that the caller can list.
type Choosable struct {
	Title   string
	Options []views.Option // sorted by name
	Unseen  bool           // the caller cannot list them
	Request string         // URL of the form for a new one, "" without the right
}

// offered returns the number of objects of r's kinds.
func (c Choices) offered(r catalog.Reference) int {
	n := 0
	for _, kind := range r.Kinds {
		n += len(c[kind].Options)
	}
	return n
}

// chooses reports whether the name of r is selected from existing objects, and not typed.
func (c Choices) chooses(r catalog.Reference) bool {
	n := c.offered(r)
	return n > 0 && n <= MaxChoices
}

// named returns an input for the name of another object: a select of existing objects, or a text field if there are
// none. For several kinds, an option is kind and name at once, so that they always match.
func (b builder) named(r catalog.Reference, v views.Field) views.Field {
	v.Value, v.Picks = b.values.Get(v.Name), true
	if !b.Choices.chooses(r) {
		v.Widget = views.Text
		b.untold(r, &v)
		return v
	}
	v.Widget = views.Select
	chosen := catalog.Target{Kind: r.Kinds[0], Name: v.Value}
	if r.Beside != "" {
		v.Label, v.Hint, v.More = "Resource", "One that "+b.Team.Name+" has.", ""
		chosen.Kind = b.values.Get(r.KindAt(v.Name))
	}
	found := v.Value == ""
	for _, kind := range r.Kinds {
		for _, o := range b.Choices[kind].Options {
			o.Selected = o.Value == chosen.Name && kind == chosen.Kind
			found = found || o.Selected
			v.Options = append(v.Options, b.option(r, kind, o))
		}
	}
	if !found {
		o := views.Option{Value: chosen.Name, Label: chosen.Name + " (" + b.missing(chosen.Kind) + ")", Selected: true}
		v.Options = append(v.Options, b.option(r, chosen.Kind, o))
	}
	if v.Value != "" && r.Beside != "" {
		v.Value = chosen.Choice()
	}
	return v
}

// maxAddable bounds the objects with their own button for adding a row: with more, the row's select is easier.
const maxAddable = 12

// addable returns the objects for which a row of the list can be added, one button each; none if there are too many.
func (b builder) addable(list string) []views.Choice {
	r, ok := b.kind.ReferenceIn(list)
	if !ok || !b.Choices.chooses(r) {
		return nil
	}
	var all []views.Choice
	for _, kind := range r.Kinds {
		for _, o := range b.Choices[kind].Options {
			if !b.names(list, r, catalog.Target{Kind: kind, Name: o.Value}) {
				o = b.option(r, kind, o)
				all = append(all, views.Choice{
					Value: o.Value, Label: spoken.Lower(cmp.Or(b.Choices[kind].Title, kind)) + " " + o.Label,
				})
			}
		}
	}
	if len(all) > maxAddable {
		return nil
	}
	return all
}

// names reports whether a row of the list already refers to the object.
func (b builder) names(list string, r catalog.Reference, t catalog.Target) bool {
	for i := range b.rows[list] {
		name := r.NameAt(catalog.Index(list, i) + ".")
		if b.values.Get(name) == t.Name && (r.Beside == "" || b.values.Get(r.KindAt(name)) == t.Kind) {
			return true
		}
	}
	return false
}

// atChoices moves errors about a kind without an input to the select with which it is chosen.
func (b builder) atChoices(errs catalog.FieldErrors, inputs []string) catalog.FieldErrors {
	var out catalog.FieldErrors
	for _, e := range errs {
		if r, ok := b.kind.Reference(e.Field); ok && !slices.Contains(inputs, e.Field) {
			e.Field = r.NameAt(e.Field)
		}
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// option returns o, for an object of a kind, as an option of r.
func (b builder) option(r catalog.Reference, kind string, o views.Option) views.Option {
	if r.Beside != "" {
		o.Value = catalog.Target{Kind: kind, Name: o.Value}.Choice()
		o.Group = cmp.Or(b.Choices[kind].Title, kind)
	}
	return o
}

// missing returns why a name is not offered.
func (b builder) missing(kind string) string {
	if b.Choices[kind].Unseen {
		return "you are not allowed to list these"
	}
	return "not there"
}

// untold sets the explanation why a name must be typed.
func (b builder) untold(r catalog.Reference, v *views.Field) {
	team := b.Team.Name
	v.More = ""
	if b.Choices.offered(r) > 0 {
		v.Hint = team + " has too many to choose from here: type the name."
		return
	}
	seen := 0
	for _, kind := range r.Kinds {
		c := b.Choices[kind]
		if c.Unseen {
			continue
		}
		seen++
		if c.Request != "" {
			v.Links = append(v.Links, views.Choice{Value: c.Request, Label: c.Title})
		}
	}
	v.Hint = team + " has none yet."
	if seen < len(r.Kinds) {
		v.Hint = "You are not allowed to list these in " + team + ": type the name."
		if seen > 0 {
			v.Hint = team + " has none that you can list: type the name."
		}
	}
}
