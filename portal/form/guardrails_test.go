package form

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

// shown returns the input of this name in the form of a new object.
func shown(t *testing.T, kind, name string, values url.Values, offers Offers) views.Field {
	t.Helper()
	k, _ := catalogtest.Kinds(t).ByName(kind)
	d := Decode(k, values, Facts{Team: views.Team{ID: "payments", Name: "payments"}, Namespace: "payments"})
	view, err := d.View(views.Form{}, offers, "")
	if err != nil {
		t.Fatal(err)
	}
	var find func(fields []views.Field) *views.Field
	find = func(fields []views.Field) *views.Field {
		for i := range fields {
			if fields[i].Name == name {
				return &fields[i]
			}
			if f := find(fields[i].Fields); f != nil {
				return f
			}
		}
		return nil
	}
	f := find(slices.Concat(view.Basic, view.Advanced))
	if f == nil {
		t.Fatalf("%s has no input %s", kind, name)
	}
	return *f
}

func TestFormsOfferWhatGuardrailsAllow(t *testing.T) {
	team := guardrails.Limits{By: "Team growth", Rules: map[string]any{
		"allowedInstanceTypes": []any{"t3.micro", "m7g.*", "m5.large"}, "requireIMDSv2": true,
	}}
	account := Provider{
		Name: "main", Region: "eu-west-1", Ready: true, Regions: []string{"eu-west-1", "eu-north-1"},
		Guardrails: guardrails.Limits{By: "AWSProvider main", Rules: map[string]any{
			"allowedInstanceTypes": []any{"t3.*"}, "allowedEngines": []any{map[string]any{"engine": "postgres"}, map[string]any{"engine": "mysql"}},
			"requirePrivateBuckets": true,
		}},
	}
	offers := Offers{Providers: []Provider{account}, Guardrails: team}
	size := shown(t, "EC2Instance", "spec.instanceType", url.Values{}, offers)
	if len(size.Suggestions) != 1 || size.Suggestions[0].Value != "t3.micro" {
		t.Errorf("sizes %v: what both allow", size.Suggestions)
	}
	if !strings.Contains(size.Hint, "allowedInstanceTypes of Team growth allows t3.micro, m7g.*, m5.large.") ||
		!strings.Contains(size.Hint, "AWSProvider main allows t3.*.") {
		t.Errorf("hint %q", size.Hint)
	}
	var engines []string
	for _, o := range shown(t, "RDSInstance", "spec.engine", url.Values{}, offers).Options {
		engines = append(engines, o.Value)
	}
	if !slices.Equal(engines, []string{"postgres", "mysql"}) {
		t.Errorf("engines %v", engines)
	}
	if f := shown(t, "S3Bucket", "spec.region", url.Values{}, offers); len(f.Suggestions) != 2 {
		t.Errorf("regions %v", f.Suggestions)
	}
	switchOf := "spec.publicAccessBlock.blockPublicAcls"
	if f := shown(t, "S3Bucket", switchOf, url.Values{}, offers); f.Widget != views.Fixed || f.Value != "true" ||
		!strings.Contains(f.Hint, "requirePrivateBuckets of AWSProvider main allows true only") {
		t.Errorf("a switch that must be on: %+v", f)
	}
	for name, values := range map[string]url.Values{
		"what is taken over must say it": {adoptionField: {"Adopt"}},
		"what was entered is shown":      {switchOf: {"false"}},
	} {
		if f := shown(t, "S3Bucket", switchOf, values, offers); f.Widget == views.Fixed {
			t.Errorf("%s: %+v", name, f)
		}
	}
	two := Offers{Providers: []Provider{account, {Name: "other", Ready: true}}}
	if f := shown(t, "S3Bucket", switchOf, url.Values{}, two); f.Widget == views.Fixed {
		t.Error("of two accounts, none is chosen, and a rule of one holds")
	}
	if f := shown(t, "S3Bucket", switchOf, url.Values{ProviderField: {"main"}}, two); f.Widget != views.Fixed {
		t.Error("the rule of the chosen account does not hold")
	}
}
