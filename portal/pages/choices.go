package pages

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/phase"
	"github.com/portico-platform/portico/web/views"
)

// maxChoices is how many objects one input offers: each row of a list repeats them. Beyond it names are typed.
const maxChoices = 200

// choices are the objects that the fields of one form may name, by kind.
type choices map[string]choosable

// choosable are the objects of one kind in the team's namespace, as far as the caller may list them.
type choosable struct {
	title   string
	options []views.Option // by name, in order
	unseen  bool           // the caller may not list them
	request string         // address of the form for a new one, "" without the right
}

func (p *Pages) choices(ctx context.Context, id auth.Identity, s space, refs []catalog.Reference) (choices, error) {
	all := choices{}
	for _, r := range refs {
		for _, name := range r.Kinds {
			k, ok := s.kinds.ByName(name)
			if _, done := all[name]; done || !ok {
				continue
			}
			one, err := p.choosable(ctx, id, s, k)
			if err != nil {
				return nil, err
			}
			all[name] = one
		}
	}
	return all, nil
}

func (p *Pages) choosable(ctx context.Context, id auth.Identity, s space, k catalog.Kind) (choosable, error) {
	c := choosable{title: k.Title}
	may, err := p.cluster.Can(ctx, id, "create", k, s.namespace)
	if err != nil {
		return c, err
	}
	if may {
		c.request = views.RequestPath(s.team.ID, k.Plural)
	}
	list, err := p.cluster.List(ctx, id, k, s.namespace)
	if unseen(err) {
		c.unseen = true
		return c, nil
	}
	for _, o := range list {
		label := o.GetName()
		if isHostname(k) {
			label += ", " + nested(o, "spec", "hostname")
		}
		if is, _ := phase.Of(o); is != phase.Ready {
			label += " (" + strings.ToLower(string(is)) + ")"
		}
		c.options = append(c.options, views.Option{Value: o.GetName(), Label: label})
	}
	return c, err
}

// offered counts the objects of the kinds of r.
func (c choices) offered(r catalog.Reference) int {
	n := 0
	for _, kind := range r.Kinds {
		n += len(c[kind].options)
	}
	return n
}

// chooses reports whether the name of r is chosen among objects that exist, and not typed.
func (c choices) chooses(r catalog.Reference) bool {
	n := c.offered(r)
	return n > 0 && n <= maxChoices
}

// named is an input for the name of another object: a choice of those that exist, or a text where there are none to
// choose. Of several kinds, the choice is kind and name at once, so that nobody can mismatch them.
func (b builder) named(r catalog.Reference, v views.Field) views.Field {
	v.Value, v.Picks = b.values.Get(v.Name), true
	if !b.asking.choices.chooses(r) {
		v.Widget = views.Text
		b.untold(r, &v)
		return v
	}
	v.Widget = views.Select
	chosen := catalog.Target{Kind: r.Kinds[0], Name: v.Value}
	if r.Beside != "" {
		v.Label, v.Hint, v.More = "Resource", "One that "+b.asking.space.team.Name+" has.", ""
		chosen.Kind = b.values.Get(r.KindAt(v.Name))
	}
	found := v.Value == ""
	for _, kind := range r.Kinds {
		for _, o := range b.asking.choices[kind].options {
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

// atChoices moves errors about a kind that has no input of its own to the choice that it is made with.
func (b builder) atChoices(errs catalog.FieldErrors, inputs []string) catalog.FieldErrors {
	var out catalog.FieldErrors
	for _, e := range errs {
		if r, ok := b.asking.kind.Reference(e.Field); ok && !slices.Contains(inputs, e.Field) {
			e.Field = r.NameAt(e.Field)
		}
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// option is o, of an object of a kind, as a choice of r.
func (b builder) option(r catalog.Reference, kind string, o views.Option) views.Option {
	if r.Beside != "" {
		o.Value = catalog.Target{Kind: kind, Name: o.Value}.Choice()
		o.Group = cmp.Or(b.asking.choices[kind].title, kind)
	}
	return o
}

// missing says of a name that is not offered why.
func (b builder) missing(kind string) string {
	if b.asking.choices[kind].unseen {
		return "you may not list these"
	}
	return "not there"
}

// untold explains why a name must be typed.
func (b builder) untold(r catalog.Reference, v *views.Field) {
	team := b.asking.space.team.Name
	v.More = ""
	if b.asking.choices.offered(r) > 0 {
		v.Hint = team + " has too many to choose from here: type the name."
		return
	}
	seen := 0
	for _, kind := range r.Kinds {
		c := b.asking.choices[kind]
		if c.unseen {
			continue
		}
		seen++
		if c.request != "" {
			v.Links = append(v.Links, views.Choice{Value: c.request, Label: c.title})
		}
	}
	v.Hint = team + " has none yet."
	if seen < len(r.Kinds) {
		v.Hint = "You may not list these in " + team + ": type the name."
		if seen > 0 {
			v.Hint = team + " has none that you may list: type the name."
		}
	}
}
