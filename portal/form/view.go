package form

import (
	"strings"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/commands"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// Carry returns view with the data that a page carries in both forms of a draft: its YAML, the version at which an edit
// began, and the equivalent commands. portal is the portal's scheme and host.
func (d Draft) Carry(view views.Form, portal string) (views.Form, error) {
	text, err := catalog.ToYAML(d.Object)
	if err != nil {
		return view, err
	}
	view.YAML, view.Base = string(text), d.base
	if d.Edit == nil {
		view.Commands, err = commands.Create(d.kind, d.Namespace, string(text), portal)
		return view, err
	}
	began, err := catalog.ToYAML(d.Edit.Object)
	if err != nil {
		return view, err
	}
	view.ETag, view.Began, view.Made = d.Edit.ETag, string(began), strings.Join(d.Edit.Made, " ")
	at := commands.Target{Kind: d.kind, Namespace: d.Namespace, Name: d.Edit.Name}
	view.Commands, err = commands.Edit(at, d.Edit.ETag, d.Edit.Object, d.Object, string(text), portal)
	return view, err
}

// View returns view with the draft: its inputs or its YAML, and the errors beside them.
func (d Draft) View(view views.Form, offers Offers, portal string) (views.Form, error) {
	view, err := d.Carry(view, portal)
	if err != nil {
		return view, err
	}
	if d.inYAML {
		view.YAMLTab, view.YAML, view.Comments = true, d.yaml, d.asks
		view.Problems = problems(d.Errors)
		return view, nil
	}
	if view.Names = d.nameLists(); len(view.Names) > 0 {
		view.Secrets = views.SecretsPath(d.Team.ID)
	}
	b := builder{subject: d.subject, Offers: offers, values: d.values, rows: d.rows}
	view.Basic, view.Advanced = b.form()
	b.suggestHostnames(view.Basic)
	inputs := names(view.Basic, view.Advanced)
	byInput, rest := b.atChoices(d.Errors, inputs).Place(inputs)
	askFor(byInput, view.Basic, view.Advanced)
	labels := map[string]string{}
	mark(view.Basic, byInput, labels, "")
	view.Unfold = mark(view.Advanced, byInput, labels, "")
	focus(view.Basic, d.focus)
	view.Unfold = focus(view.Advanced, d.focus) || view.Unfold
	for _, name := range inputs {
		for _, m := range byInput[name] {
			view.Problems = append(view.Problems, views.Problem{Field: name, Label: labels[name], Text: m})
		}
	}
	for _, m := range rest {
		view.Problems = append(view.Problems, views.Problem{Text: humanize.Sentence(m)})
	}
	divide(d.kind, &view)
	return view, nil
}

// problems lists errors, each with its path.
func problems(errs catalog.FieldErrors) []views.Problem {
	var out []views.Problem
	for _, e := range errs {
		p := views.Problem{Text: e.Message}
		if e.Field != "" {
			p.Text = e.Field + ": " + e.Message
		}
		out = append(out, p)
	}
	return out
}
