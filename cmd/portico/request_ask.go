package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/client"
)

// dialog asks a user at a terminal for missing values of a request.
type dialog struct {
	*app
	target
	offers *client.Catalog
	set    []string // answers, as --set takes them
	asked  bool
}

// run asks for what the command line leaves out. For a complete command line it asks nothing.
func (d *dialog) run(ctx context.Context, args []string) (err error) {
	if d.kind, err = d.whichKind(ctx, args); err != nil {
		return err
	}
	if d.target.api, err = d.app.api(); err != nil {
		return err
	}
	if d.target.namespace, err = d.whichNamespace(ctx); err != nil {
		return err
	}
	if len(args) > 1 {
		d.name = args[1]
	} else if d.name, err = d.answer(ctx, d.aboutName()); err != nil {
		return err
	}
	return d.fields(ctx)
}

func (d *dialog) aboutName() question {
	return question{
		name: "name", help: "Name of the " + d.kind.Noun() + ": lower-case letters, digits and hyphens.",
		wrong: func(answer string) string {
			if len(validation.IsDNS1123Subdomain(answer)) > 0 {
				return "Use lower-case letters, digits and hyphens, with a letter or digit at both ends."
			}
			return ""
		},
	}
}

// answer asks, and records that something was asked.
func (d *dialog) answer(ctx context.Context, q question) (string, error) {
	d.asked = true
	return d.ask(ctx, q)
}

// whichKind returns the kind that the command line names, or asks for it.
func (d *dialog) whichKind(ctx context.Context, args []string) (catalog.Kind, error) {
	if len(args) > 0 {
		return d.requestable(ctx, args[0])
	}
	if err := d.load(ctx); err != nil {
		return catalog.Kind{}, err
	}
	var words []string
	for _, k := range d.kinds.Requestable() {
		words = append(words, k.Word())
	}
	name, err := d.answer(ctx, question{
		name: "kind", help: "What do you need?", options: words, open: true,
		wrong: func(answer string) string {
			if _, err := d.requestable(ctx, answer); err != nil {
				return err.Error()
			}
			return ""
		},
	})
	if err != nil {
		return catalog.Kind{}, err
	}
	return d.requestable(ctx, name)
}

// whichNamespace asks for the namespace if there are several.
func (d *dialog) whichNamespace(ctx context.Context) (string, error) {
	ns := cmp.Or(d.app.namespace, d.env("PORTICO_NAMESPACE"))
	if !d.kind.Namespaced || ns != "" {
		return ns, nil
	}
	me, err := d.target.api.GetMe(ctx, client.GetMeOptions{})
	if err != nil || len(me.Namespaces) < 2 {
		return d.inNamespace(ctx, d.target.api)
	}
	d.app.namespace, err = d.answer(ctx, question{name: "namespace", help: "For which team?", options: me.Namespaces})
	return d.app.namespace, err
}

// fields asks for the required fields without a default.
func (d *dialog) fields(ctx context.Context) error {
	obj, err := withSet(d.kind, nil, d.set)
	if err != nil {
		return err
	}
	if d.offers, err = d.target.api.ListCatalog(
		ctx, client.ListCatalogOptions{Namespace: d.target.namespace}); err != nil {
		return err
	}
	for _, f := range needed(d.kind.Fields()) {
		path := strings.Split(f.Path, ".")
		if _, there, _ := unstructured.NestedFieldNoCopy(obj.Object, path...); there ||
			f.Path == providerField && provider(d.offers) != "" {
			continue
		}
		q, err := d.about(ctx, f)
		if err != nil {
			return err
		}
		value, err := d.answer(ctx, q)
		if err != nil {
			return err
		}
		d.set = append(d.set, strings.TrimPrefix(f.Path, "spec.")+"="+value)
	}
	return nil
}

// needed returns the required fields that are single values or references.
func needed(fields []catalog.Field) []catalog.Field {
	var out []catalog.Field
	for _, f := range fields {
		switch {
		case !f.Required:
		case f.Scalar() || f.IsRef():
			out = append(out, f)
		case f.Type == catalog.Object:
			out = append(out, needed(f.Fields)...)
		}
	}
	return out
}

// about returns the question for a field.
func (d *dialog) about(ctx context.Context, f catalog.Field) (question, error) {
	q := question{
		name: strings.TrimPrefix(f.Path, "spec."), help: firstSentence(f.Help) + ".", options: f.Options,
		standard: f.Default,
	}
	switch {
	case f.Path == providerField:
		q.options = providers(d.offers)
		if len(q.options) == 0 {
			return q, hinted(fmt.Errorf("%s cannot use any AWS account yet", clean(d.target.namespace)),
				"Ask a platform admin to let the team use one.")
		}
		q.help = "Which AWS account?"
	case f.IsRef():
		q.options, q.open = d.namesFor(ctx, f), true
	case f.Type == catalog.Integer:
		q.wrong = func(answer string) string { return wrongNumber(f.Limits, answer) }
	case f.Type == catalog.Boolean:
		q.options = []string{"true", "false"}
	}
	return q, nil
}

// namesFor returns the objects that a reference can name, as far as the caller can list them.
func (d *dialog) namesFor(ctx context.Context, f catalog.Field) []string {
	r, ok := d.kind.Reference(f.Path + ".name")
	if !ok {
		return nil
	}
	var all []string
	for _, name := range r.Kinds {
		k, _ := d.kinds.ByName(name)
		page, err := d.target.api.Of(wire(k), d.target.namespace).List(ctx, client.ListOptions{})
		if err != nil {
			continue // then the name is typed
		}
		for _, o := range page.Items {
			all = append(all, o.GetName())
		}
	}
	return all
}

func wrongNumber(limits catalog.Limits, answer string) string {
	n, err := strconv.ParseInt(answer, 10, 64)
	low, high := limits.Min, limits.Max
	if err == nil && (low == nil || float64(n) >= *low) && (high == nil || float64(n) <= *high) {
		return ""
	}
	switch {
	case low != nil && high != nil:
		return fmt.Sprintf("Enter a whole number from %.0f to %.0f.", *low, *high)
	case low != nil:
		return fmt.Sprintf("Enter a whole number, at least %.0f.", *low)
	}
	return "Enter a whole number."
}

// agreed shows the request and its command line, and asks for confirmation.
func (a *app) agreed(ctx context.Context, t target, obj *object, set []string) error {
	command := []string{"portico request", t.kind.Word(), shellWord(t.name)}
	if t.namespace != "" {
		command = append(command, "-n", shellWord(t.namespace))
	}
	for _, one := range set {
		command = append(command, "--set", shellWord(one))
	}
	a.say("\nThe same without questions:\n  %s", clean(strings.Join(command, " ")))
	made, err := t.objects().Create(ctx, obj, client.CreateOptions{DryRun: dryRun})
	if err != nil {
		return err
	}
	text, err := catalog.ToYAML(&made.Object)
	if err != nil {
		return err
	}
	a.say("\nThis will be requested%s. Nothing has been created yet.\n", inWords(t.namespace))
	for l := range strings.Lines(string(text)) {
		_, _ = fmt.Fprint(a.err, "  "+clean(strings.TrimSuffix(l, "\n"))+"\n")
	}
	_, _ = fmt.Fprintln(a.err)
	return a.confirmed(ctx)
}
