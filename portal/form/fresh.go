package form

import (
	"net/url"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

const deletionPolicy = "deletionPolicy"

// Fresh returns the draft of a new object: with values that have one option only, the team's defaults, and the object
// that the URL names.
func Fresh(kind catalog.Kind, query url.Values, facts Facts, offers Offers) Draft {
	values := url.Values{}
	offers.first(kind, values)
	offers.begin(subject{kind, facts}, values)
	for _, f := range kind.Fields() {
		if f = offers.narrowed(f); f.Required && len(f.Options) == 1 {
			values.Set(f.Path, f.Options[0])
		}
	}
	for _, r := range kind.Refers {
		if name := query.Get(r.Path); name != "" && r.Beside == "" { // a link must not set unseen fields
			values.Set(r.Path, name)
		}
	}
	if kind.ID() == v1alpha1.KindTeam {
		beginTeam(values, offers)
	}
	return subject{kind, facts}.fromForm(values)
}

// begin sets the kind's initial values that the guardrails allow. They are shown in the form, because the API server
// has no such defaults.
func (o Offers) begin(s subject, values url.Values) {
	b := builder{subject: s, Offers: o, values: values}
	for _, v := range s.kind.Begins {
		path := "spec." + v.Field
		if why, _ := b.required(path); why == "" {
			values.Set(path, v.Text)
		}
		spec, _, _ := unstructured.NestedMap(s.fromForm(values).Object.Object, "spec")
		if slices.ContainsFunc(b.rules(path), func(r rule) bool { return r.Refused(spec, r.limits) != nil }) {
			values.Del(path)
		}
	}
}

// first sets the AWS account, if there is one only or the team has a default, and the team's deletion policy. Values
// that are the kind's defaults are left out, because the input shows them.
func (o Offers) first(kind catalog.Kind, values url.Values) {
	if len(o.Providers) == 1 {
		values.Set(ProviderField, o.Providers[0].Name)
	}
	if slices.ContainsFunc(o.Providers, func(p Provider) bool { return p.Name == o.Defaults.Provider }) {
		values.Set(ProviderField, o.Defaults.Provider)
	}
	if policy := string(o.Defaults.DeletionPolicy); kind.Chooses(deletionPolicy, policy) {
		values.Set("spec."+deletionPolicy, policy)
	}
}
