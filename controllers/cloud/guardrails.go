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

// CheckGuardrails returns what the provider and the namespace's team have against obj's spec.
func (s *Session) CheckGuardrails(kind string, obj external.Object) []guardrails.Refusal {
	all := s.Limits()
	if len(all) == 0 || !obj.GetDeletionTimestamp().IsZero() {
		return nil
	}
	return guardrails.Check(kind, guardrails.Spec(obj), all...)
}

// Limits returns the guardrails of the provider and of the namespace's team, as package guardrails checks them.
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

// Ruled are guardrails and whose they are.
type Ruled struct {
	v1alpha1.Guardrails
	By string
}

// Guardrails returns those that hold, the provider's first.
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

// TeamRules returns the guardrails of the namespace's team; nil without any.
func (s *Session) TeamRules() *v1alpha1.TeamGuardrails {
	if s.Team == nil {
		return nil
	}
	return s.Team.Spec.Guardrails
}

func (s *Session) teamName() string { return v1alpha1.KindTeam + " " + s.Team.Name }

// NotAllowed says that something breaks a guardrail, in the words of package guardrails.
func NotAllowed(what, rule, by, allows string) error {
	return engine.Blocked(v1alpha1.ReasonNotAllowed, "%s is not allowed: %s allows %s, by spec.guardrails.%s. Nothing was changed. Choose something else, or ask a platform admin to change the rule", what, by, allows, rule)
}

// keeper keeps keys of tags for the platform.
type keeper struct {
	by        string
	forbidden []string
	enforced  v1alpha1.Tags
}

func (s *Session) keepers() []keeper {
	all := []keeper{{v1alpha1.KindAWSProvider + " " + s.Provider, s.Rules.ForbiddenTagKeys, s.Rules.EnforcedTags}}
	if g := s.TeamRules(); g != nil {
		all = append(all, keeper{s.teamName(), g.ForbiddenTagKeys, g.EnforcedTags})
	}
	return all
}

// keeps reports whether the platform keeps the key, in whatever case: AWS has tags of both cases side by side, and
// IAM's conditions on tags take either. The very key of an enforced tag is no trouble: the platform's value wins.
func (k keeper) keeps(key string) bool {
	for enforced := range k.enforced {
		if key != enforced && strings.EqualFold(key, enforced) {
			return true
		}
	}
	return slices.ContainsFunc(k.forbidden, func(rule string) bool {
		head, all := strings.CutSuffix(rule, "*")
		return strings.EqualFold(key, rule) || (all && len(key) >= len(head) && strings.EqualFold(key[:len(head)], head))
	})
}

// CheckTags returns which of own the provider or the team forbids; nil if none.
func (s *Session) CheckTags(own v1alpha1.Tags) error {
	for _, k := range s.keepers() {
		var keys []string
		for _, key := range slices.Sorted(maps.Keys(own)) {
			if k.keeps(key) {
				keys = append(keys, key)
			}
		}
		if len(keys) > 0 {
			return engine.Blocked(v1alpha1.ReasonTagForbidden, "tags of this object have keys that %s keeps for the platform: %s. Remove them from spec.tags, or ask a platform admin to take them off forbiddenTagKeys and enforcedTags; until then they are not set", k.by, strings.Join(keys, ", "))
		}
	}
	return nil
}

// forbidden reports whether somebody keeps the key for the platform.
func (s *Session) forbidden(key string) bool {
	return slices.ContainsFunc(s.keepers(), func(k keeper) bool { return k.keeps(key) })
}

// tagLayers returns the tags of a resource, those that win last.
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
