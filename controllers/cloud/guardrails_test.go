package cloud

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/guardrails/guardrailstest"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func growth(change func(*v1alpha1.TeamSpec)) *v1alpha1.Team {
	t := &v1alpha1.Team{ObjectMeta: metav1.ObjectMeta{Name: "growth"}}
	change(&t.Spec)
	return t
}

// A team can use the providers and regions that it lists, among those that allow its namespace.
func TestATeamUsesWhatItLists(t *testing.T) {
	lists := func(providers ...v1alpha1.TeamProvider) *v1alpha1.Team {
		return growth(func(s *v1alpha1.TeamSpec) { s.Providers = providers })
	}
	holding := ProviderUse{AccountID: "111122223333"}
	for name, row := range map[string]struct {
		team   *v1alpha1.Team
		labels map[string]string
		use    ProviderUse
		reason string
	}{
		"no team":                          {nil, yes, ProviderUse{}, ""},
		"listed":                           {lists(v1alpha1.TeamProvider{Name: "aws"}), yes, ProviderUse{}, ""},
		"not listed":                       {lists(v1alpha1.TeamProvider{Name: "other"}), yes, ProviderUse{}, "ProviderNotFound"},
		"none listed":                      {lists(), yes, ProviderUse{}, "ProviderNotFound"},
		"listed, and not let in":           {lists(v1alpha1.TeamProvider{Name: "aws"}), nil, ProviderUse{}, "ProviderNotFound"},
		"not listed any more":              {lists(), yes, holding, "ProviderNotAllowed"},
		"what is deleted needs no list":    {lists(), yes, ProviderUse{Deleting: true}, ""},
		"what is Portico's needs no list":  {lists(), yes, ProviderUse{Platform: true}, ""},
		"a region of the list":             {lists(v1alpha1.TeamProvider{Name: "aws", Regions: []string{"eu-west-1"}}), yes, ProviderUse{}, ""},
		"a region beside the list":         {lists(v1alpha1.TeamProvider{Name: "aws", Regions: []string{"eu-north-1"}}), yes, ProviderUse{}, "RegionNotAllowed"},
		"a list opens no region by itself": {lists(v1alpha1.TeamProvider{Name: "aws", Regions: []string{"us-east-1"}}), yes, ProviderUse{Region: "us-east-1"}, "RegionNotAllowed"},
	} {
		u := row.use
		u.Provider, u.Namespace, u.team = "aws", "n", row.team
		if u.Region == "" {
			u.Region = "eu-west-1"
		}
		err := checkUse(provider(), &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: row.labels}}, u)
		wait, _ := engine.AsWait(err)
		if got := reason(wait); got != row.reason || (err == nil) != (row.reason == "") {
			t.Errorf("%s: %q (%v), want %q", name, got, err, row.reason)
		}
	}
}

func TestRegionsOfAccountsAndTeams(t *testing.T) {
	p := provider()
	p.Spec.Region, p.Spec.AllowedRegions = guardrailstest.Region, guardrailstest.AllowedRegions
	labels := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: yes}}
	for _, row := range guardrailstest.Regions {
		err := checkUse(p, labels, ProviderUse{
			Provider: "aws", Namespace: "n", Region: row.Region,
			team: growth(func(s *v1alpha1.TeamSpec) {
				s.Providers = []v1alpha1.TeamProvider{{Name: "aws", Regions: row.Team}}
			}),
		})
		wait, _ := engine.AsWait(err)
		by := ""
		if err != nil {
			by, _, _ = strings.Cut(err.Error(), " ")
		}
		if by != row.Refused || (by != "" && reason(wait) != v1alpha1.ReasonRegionNotAllowed) {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

// Each layer of tags wins over those before it.
func TestLayersOfTags(t *testing.T) {
	s := &Session{Provider: "aws", Rules: v1alpha1.AWSRules{
		DefaultTags: v1alpha1.Tags{"1": "p", "2": "p", "3": "p", "4": "p", "5": "p"}, EnforcedTags: v1alpha1.Tags{"5": "P"}, ForbiddenTagKeys: []string{"x"},
	}}
	s.Team = growth(func(spec *v1alpha1.TeamSpec) {
		spec.Defaults = &v1alpha1.TeamDefaults{Tags: v1alpha1.Tags{"2": "t", "3": "t", "4": "t", "5": "t"}}
		spec.Guardrails = &v1alpha1.TeamGuardrails{
			EnforcedTags: v1alpha1.Tags{"4": "T", "5": "T"}, ForbiddenTagKeys: []string{"y*"},
		}
	})
	own := v1alpha1.Tags{"3": "own", "4": "own", "5": "own", "X": "own", "Yes": "own"}
	tags := s.Tags(object(), own)
	for key, want := range map[string]string{"1": "p", "2": "t", "3": "own", "4": "T", "5": "P", "X": "", "Yes": ""} {
		if tags[key] != want {
			t.Errorf("tag %s is %q, want %q", key, tags[key], want)
		}
	}
	for by, own := range map[string]v1alpha1.Tags{"AWSProvider aws keeps": {"X": ""}, "Team growth keeps": {
		"Yes": "",
	}} {
		if err := s.CheckTags(own); err == nil || !strings.Contains(err.Error(), by) {
			t.Errorf("%v: %v", own, err)
		}
	}
	if err := s.CheckTags(v1alpha1.Tags{"3": "own", "4": "own"}); err != nil {
		t.Error(err)
	}
}
