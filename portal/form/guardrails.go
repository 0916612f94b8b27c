package form

import (
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

const (
	adoptionField = "spec.adoptionPolicy"
	regionField   = "spec.region"
)

// provider returns the form's AWS account: the selected one, or the only one.
func (b builder) provider() (Provider, bool) {
	if len(b.Providers) == 1 {
		return b.Providers[0], true
	}
	i := slices.IndexFunc(b.Providers, func(p Provider) bool { return p.Name == b.values.Get(ProviderField) })
	if i < 0 {
		return Provider{}, false
	}
	return b.Providers[i], true
}

// rule is a guardrail that limits a field of the form.
type rule struct {
	guardrails.Rule
	limits guardrails.Limits
}

// rules returns the guardrails of a field.
func (b builder) rules(path string) []rule {
	limits := []guardrails.Limits{b.Guardrails}
	if p, ok := b.provider(); ok {
		limits = append(limits, p.Guardrails)
	}
	var all []rule
	for _, r := range guardrails.Of(b.kind.Name) {
		for _, l := range limits {
			if "spec."+r.Field == path && r.Limit(l) != nil {
				all = append(all, rule{r, l})
			}
		}
	}
	return all
}

// required returns the only value that a guardrail allows a field of a new object, and why. An adopted resource must
// have it too.
func (b builder) required(path string) (why, value string) {
	if b.Edit != nil || b.values.Get(path) != "" || b.values.Get(adoptionField) == string(v1alpha1.AdoptionAdopt) {
		return "", ""
	}
	for _, r := range b.rules(path) {
		if only := r.Only(r.limits); only != "" {
			return "Cannot be changed: " + r.Allowed(r.limits) + ".", only
		}
	}
	return "", ""
}

// limited restricts a field's options to the guardrails, and describes them.
func (b builder) limited(f catalog.Field, v *views.Field) {
	for _, r := range b.rules(v.Name) {
		v.Hint = strings.TrimSpace(v.Hint + " Here, " + r.Allowed(r.limits) + ".")
		choices := r.Choices(r.limits)
		switch {
		case len(choices) == 0:
		case v.Widget == views.Select:
			v.Options = slices.DeleteFunc(v.Options, func(o views.Option) bool {
				return !o.Selected && !slices.Contains(choices, o.Value)
			})
		case v.Widget == views.Text:
			v.Suggestions = b.allowed(f, v.Name, choices)
		}
	}
	if p, ok := b.provider(); ok && v.Name == regionField {
		v.Suggestions = suggestions(p.Regions)
		v.Hint = strings.TrimSpace(v.Hint + " Here, one of " + guardrails.Shorten(p.Regions) + ".")
	}
}

// allowed returns the values of a field that all guardrails allow.
func (b builder) allowed(f catalog.Field, path string, values []string) []views.Choice {
	return suggestions(slices.DeleteFunc(slices.Clone(values), func(value string) bool {
		return slices.ContainsFunc(b.rules(path), func(r rule) bool {
			return r.Refused(map[string]any{f.Name: value}, r.limits) != nil
		})
	}))
}
