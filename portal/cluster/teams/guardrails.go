package teams

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/guardrails"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// teamRules are what a namespace's Team allows it to request; the zero value is for a namespace without a team.
type teamRules struct {
	object *unstructured.Unstructured
}

// Guardrails returns the guardrails of the namespace's Team. The caller needs the right to create or list objects of
// the kind there.
func (t *Teams) Guardrails(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (
	guardrails.Limits, error,
) {
	team, err := t.teamFor(ctx, id, k, namespace)
	return team.limits(), err
}

// Defaults returns the defaults for new objects of the namespace's Team. The caller needs the right to create or list
// objects of the kind there.
func (t *Teams) Defaults(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (
	v1alpha1.TeamDefaults, error,
) {
	team, err := t.teamFor(ctx, id, k, namespace)
	return team.defaults(), err
}

// teamFor returns the Team rules of a namespace, for a caller with the right to create or list objects of the kind
// there.
func (t *Teams) teamFor(ctx context.Context, id auth.Identity, k catalog.Kind, namespace string) (teamRules, error) {
	if err := t.rights.RequireInterest(ctx, id, k, namespace); err != nil {
		return teamRules{}, err
	}
	metas, err := t.feed.Namespaces(ctx)
	if err != nil {
		return teamRules{}, err
	}
	i := slices.IndexFunc(metas, func(n metav1.PartialObjectMetadata) bool { return n.Name == namespace })
	if i < 0 {
		return teamRules{}, nil
	}
	return t.teamOf(ctx, metas[i])
}

// teamOf returns the Team rules of a namespace: its label has the Team's name, and its annotation the Team's UID.
func (t *Teams) teamOf(ctx context.Context, ns metav1.PartialObjectMetadata) (teamRules, error) {
	name, uid := ns.Labels[v1alpha1.LabelTeam], ns.Annotations[v1alpha1.AnnotationTeamUID]
	kind, ok := t.feed.Kinds.Now().ByName(v1alpha1.KindTeam)
	if name == "" || uid == "" || !ok {
		return teamRules{}, nil
	}
	items, err := t.feed.Objects(ctx, kind, "")
	if err != nil {
		return teamRules{}, err
	}
	for _, item := range items {
		if item.GetName() == name && string(item.GetUID()) == uid {
			return teamRules{item}, nil
		}
	}
	return teamRules{}, nil
}

func (t teamRules) limits() guardrails.Limits {
	if t.object == nil {
		return guardrails.Limits{}
	}
	rules, _, _ := unstructured.NestedMap(t.object.Object, "spec", "guardrails")
	return guardrails.Limits{By: "Team " + t.object.GetName(), Rules: rules}
}

func (t teamRules) defaults() v1alpha1.TeamDefaults {
	if t.object == nil {
		return v1alpha1.TeamDefaults{}
	}
	return v1alpha1.TeamDefaults{
		Provider:       catalog.TextAt(t.object, "spec", "defaults", "provider"),
		DeletionPolicy: v1alpha1.DeletionPolicy(catalog.TextAt(t.object, "spec", "defaults", "deletionPolicy")),
	}
}

// narrow returns a function that keeps, of the provider's regions, those that the team allows; nil if the team does not
// list the provider.
func (t teamRules) narrow(provider string) func(regions []string) []string {
	if t.object == nil {
		return func(regions []string) []string { return regions }
	}
	providers, _, _ := unstructured.NestedSlice(t.object.Object, "spec", "providers")
	for _, p := range providers {
		one, _ := p.(map[string]any)
		if one["name"] != provider {
			continue
		}
		listed, some, _ := unstructured.NestedStringSlice(one, "regions")
		return func(regions []string) []string {
			if !some {
				return regions
			}
			return slices.DeleteFunc(slices.Clone(regions), func(r string) bool { return !slices.Contains(listed, r) })
		}
	}
	return nil
}
