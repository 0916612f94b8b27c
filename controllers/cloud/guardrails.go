package cloud

import (
	"maps"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// CheckGuardrails returns the refusals of obj's spec by the guardrails of the provider and of the namespace's team.
func (s *Session) CheckGuardrails(kind string, obj external.Object) []guardrails.Refusal {
	all := s.Limits()
	if len(all) == 0 || !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	return guardrails.Check(kind, guardrails.Spec(obj), all...)
}

// Limits returns the guardrails of the provider and of the namespace's team, in the form of package guardrails.
func (s *Session) Limits() []guardrails.Limits {
	var all []guardrails.Limits
	if g := s.Rules.Guardrails; g != nil {
		all = append(all, guardrails.OfProvider(s.Provider, g))
	}
	if s.Team != nil && s.Team.Spec.Guardrails != nil {
		all = append(all, guardrails.OfTeam(s.Team))
	}
	return all
}

// Ruled is a set of guardrails and its owner.
type Ruled struct {
	v1alpha1.Guardrails
	By string
}

// Guardrails returns the guardrails that apply, the provider's first.
func (s *Session) Guardrails() []Ruled {
	var all []Ruled
	if g := s.Rules.Guardrails; g != nil {
		all = append(all, Ruled{*g, v1alpha1.KindAWSProvider + " " + s.Provider})
	}
	if g := s.TeamRules(); g != nil {
		all = append(all, Ruled{g.Guardrails, s.teamName()})
	}
	return all
}

// TeamRules returns the guardrails of the namespace's team; nil if it has none.
func (s *Session) TeamRules() *v1alpha1.TeamGuardrails {
	if s.Team == nil {
		return nil
	}
	return s.Team.Spec.Guardrails
}

func (s *Session) teamName() string { return v1alpha1.KindTeam + " " + s.Team.Name }

// NotAllowed returns the error for a broken guardrail, in the wording of package guardrails.
func NotAllowed(what, rule, by, allows string) error {
	return engine.Blocked(v1alpha1.ReasonNotAllowed, "%s is not allowed: %s allows %s, by spec.guardrails.%s. "+
		"Nothing was changed. Choose something else, or ask a platform admin to change the rule", what, by, allows,
		rule)
}

func (s *Session) tagRules() []guardrails.TagRules {
	all := []guardrails.TagRules{{
		By:        v1alpha1.KindAWSProvider + " " + s.Provider,
		Forbidden: s.Rules.ForbiddenTagKeys, Enforced: s.Rules.EnforcedTags,
	}}
	if g := s.TeamRules(); g != nil {
		all = append(all, guardrails.TagRules{
			By: s.teamName(), Forbidden: g.ForbiddenTagKeys, Enforced: g.EnforcedTags,
		})
	}
	return all
}

// CheckTags returns an error for the tags in own that the provider or the team forbids; nil if none.
func (s *Session) CheckTags(own v1alpha1.Tags) error {
	for _, k := range s.tagRules() {
		var keys []string
		for _, key := range slices.Sorted(maps.Keys(own)) {
			if k.Keeps(key) {
				keys = append(keys, key)
			}
		}
		if len(keys) > 0 {
			return engine.Blocked(v1alpha1.ReasonTagForbidden, "tags of this object have keys that %s keeps for the "+
				"platform: %s. Remove them from spec.tags, or ask a platform admin to take them off forbiddenTagKeys "+
				"and enforcedTags; until then they are not set", k.By, strings.Join(keys, ", "))
		}
	}
	return nil
}

// forbidden reports whether the key is reserved for the platform.
func (s *Session) forbidden(key string) bool {
	return slices.ContainsFunc(s.tagRules(), func(k guardrails.TagRules) bool { return k.Keeps(key) })
}

// tagLayers returns the layers of a resource's tags; later ones win.
func (s *Session) tagLayers(own v1alpha1.Tags) []v1alpha1.Tags {
	all := []v1alpha1.Tags{s.Rules.DefaultTags}
	if s.Team != nil && s.Team.Spec.Defaults != nil {
		all = append(all, s.Team.Spec.Defaults.Tags)
	}
	all = append(all, own)
	if g := s.TeamRules(); g != nil {
		all = append(all, g.EnforcedTags)
	}
	return append(all, s.Rules.EnforcedTags)
}
