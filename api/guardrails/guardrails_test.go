package guardrails_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/guardrails/guardrailstest"
	"github.com/portico-platform/portico/api/v1alpha1"
)

func TestWhatIsRefused(t *testing.T) {
	for _, c := range guardrailstest.Cases {
		provider, team := guardrails.Limits{By: "AWSProvider main", Rules: c.Limits()},
			guardrails.Limits{By: "Team growth", Rules: c.Limits()}
		none := guardrails.Limits{By: "Team other"}
		for name, row := range map[string]struct {
			limits []guardrails.Limits
			times  int
		}{
			"one": {[]guardrails.Limits{provider}, 1}, "both": {[]guardrails.Limits{provider, team}, 2},
			"one of two": {[]guardrails.Limits{none, team}, 1}, "none": {[]guardrails.Limits{none}, 0},
		} {
			var want, rules []string
			for range row.times {
				want = append(want, c.Refused...)
			}
			refused := guardrails.Check(c.Kind, c.Object("main"), row.limits...)
			for _, r := range refused {
				rules = append(rules, r.Rule)
				if !strings.HasPrefix(r.Message, r.Field+": ") {
					t.Errorf("%s: %q does not name its field %s", c, r.Message, r.Field)
				}
			}
			if !slices.Equal(rules, want) || len(want) > 0 && !strings.Contains(refused[0].Message, c.Says) {
				t.Errorf("%s, %s: %v, want %v", c, name, refused, want)
			}
		}
		if len(c.Refused) > 0 && c.Says == "" {
			t.Errorf("%s: says nothing", c)
		}
	}
}

func TestTagsKeptForThePlatform(t *testing.T) {
	rules := guardrails.TagRules{Forbidden: guardrailstest.ForbiddenTagKeys, Enforced: guardrailstest.EnforcedTags}
	for key, kept := range guardrailstest.TagKeys {
		if rules.Keeps(key) != kept {
			t.Errorf("%s: kept is not %t", key, kept)
		}
	}
}

// Each rule is refused and kept by some case, and is a field of the type.
func TestEveryRuleHasCases(t *testing.T) {
	fields := map[string]bool{}
	for _, of := range []reflect.Type{
		reflect.TypeFor[v1alpha1.Guardrails](),
		reflect.TypeFor[v1alpha1.TeamReferences](), reflect.TypeFor[v1alpha1.TeamGuardrails](),
	} {
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			fields[name] = of == reflect.TypeFor[v1alpha1.Guardrails]()
		}
	}
	for _, kind := range []string{
		v1alpha1.KindEC2Instance, v1alpha1.KindRDSInstance, v1alpha1.KindS3Bucket,
		v1alpha1.KindSNSTopic, v1alpha1.KindSQSQueue, v1alpha1.KindWebApp,
	} {
		for _, r := range guardrails.Of(kind) {
			if both, ok := fields[r.Name]; !ok || both == r.Team {
				t.Errorf("%s of %s is no field, or not for Teams only: %t", r.Name, kind, r.Team)
			}
			var kept, refused bool
			for _, c := range guardrailstest.Cases {
				if l := (guardrails.Limits{Rules: c.Limits()}); c.Kind == kind && r.Limit(l) != nil {
					broken := r.Refused(c.Object("main"), l) != nil
					kept, refused = kept || !broken, refused || broken
					if r.Team != c.Team && r.Team {
						t.Errorf("%s: the rule is for Teams", c)
					}
				}
			}
			if !kept || !refused {
				t.Errorf("no case keeps %s of %s (%t), or none breaks it (%t)", r.Name, kind, kept, refused)
			}
		}
	}
}

// An annotation that is too long would be refused, and the Team with it.
func TestTheNoteOfManyProvidersFits(t *testing.T) {
	team := &v1alpha1.Team{}
	var all []v1alpha1.AWSProvider
	for i := range 50 {
		p := v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%d", i)}}
		p.Spec.Guardrails = &v1alpha1.Guardrails{}
		for n := range 100 {
			p.Spec.Guardrails.AllowedInstanceTypes = append(p.Spec.Guardrails.AllowedInstanceTypes,
				fmt.Sprintf("%s%d", strings.Repeat("x", 50), n))
		}
		all = append(all, p)
	}
	note := guardrails.Note(team, all...)
	if len(note) > 128<<10 || !strings.Contains(note, "@p0 allowedInstanceTypes") ||
		strings.Count(note, "\n")%101 != 100 {
		t.Errorf("%d bytes, %d lines", len(note), strings.Count(note, "\n"))
	}
}

// The note has all that admission judges by, of the Team and of its AWSProviders.
func TestTheNoteSaysEveryRule(t *testing.T) {
	team, p := &v1alpha1.Team{}, v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "main"}}
	team.Spec.Providers = []v1alpha1.TeamProvider{{Name: "main", Regions: []string{"eu-west-1", "eu-north-1"}}}
	tags, most := v1alpha1.Tags{"cost-center": "4711", "env": "live"}, int32(100)
	rules := v1alpha1.Guardrails{
		AllowedEngines:   []v1alpha1.AllowedEngine{{Engine: "mysql"}, {Engine: "postgres", Versions: []string{"16.*", "17.2"}}},
		MaxVolumeSizeGiB: &most, RequireEncryption: true,
	}
	team.Spec.Guardrails = &v1alpha1.TeamGuardrails{
		Guardrails: rules, EnforcedTags: tags, ForbiddenTagKeys: []string{"cost *"},
	}
	p.Spec.Region, p.Spec.AllowedRegions, p.Spec.Guardrails = "eu-west-1", []string{"eu-north-1"}, &rules
	p.Spec.EnforcedTags, p.Spec.ForbiddenTagKeys = tags, []string{"cost *"}
	const both = `allowedEngines mysql
allowedEngines postgres 16.* 17.2
enforcedTags cost-center
enforcedTags env
forbiddenTagKeys cost *
maxVolumeSizeGiB 100
`
	const encryption = "requireEncryption true"
	want := "provider main eu-west-1 eu-north-1\n" + both + encryption + "\n@main " + strings.ReplaceAll(both+
		"region eu-west-1\nregion eu-north-1\n"+encryption, "\n", "\n@main ")
	if got := guardrails.Note(team, p); got != want {
		t.Errorf("the note is\n%s\nwant\n%s", got, want)
	}
}
