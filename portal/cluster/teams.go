package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
)

// Teams returns the Teams that the caller can see, by name: all of them with the right to list Teams, else those that
// the caller can get, as members can get their own. They are shared with the cache: never change one.
func (c *Cluster) Teams(ctx context.Context, id auth.Identity) ([]*unstructured.Unstructured, error) {
	k, ok := c.kinds.ByName(v1alpha1.KindTeam)
	if !ok {
		return nil, nil
	}
	all, err := c.List(ctx, id, k, "")
	if _, refused := errors.AsType[*ForbiddenError](err); !refused {
		return all, err
	}
	names, err := c.teamsNaming(ctx, id)
	if err != nil || names != nil && names.Len() == 0 {
		return nil, err
	}
	if all, err = c.cached(ctx, k, ""); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(t *unstructured.Unstructured) bool {
		return names != nil && !names.Has(t.GetName())
	})
	all, err = filter(ctx, all, func(ctx context.Context, t *unstructured.Unstructured) (bool, error) {
		return c.CanOne(ctx, id, "get", Ref{Kind: k, Name: t.GetName()})
	})
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all, err
}

// teamsNaming returns the names of the Teams that are worth access reviews: those whose ClusterRoleBindings name the
// caller; nil means all. It grants nothing.
func (c *Cluster) teamsNaming(ctx context.Context, id auth.Identity) (sets.Set[string], error) {
	if c.askEverywhere {
		return nil, nil
	}
	bindings, err := c.clusterBindings(ctx, id, byTeamSubject)
	names := sets.Set[string]{}
	for _, b := range bindings {
		name, _, _ := strings.Cut(strings.TrimPrefix(b.RoleRef.Name, v1alpha1.TeamRolePrefix), ":")
		names.Insert(name)
	}
	return names, err
}

// NamespacesOf returns the namespaces of a Team from its status.
func NamespacesOf(team *unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedFieldNoCopy(team.Object, "status", "namespaces")
	items, _ := list.([]any)
	var names []string
	for _, one := range items {
		if m, ok := one.(map[string]any); ok {
			if name, ok := m["name"].(string); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// FreeNamespace reports whether the Team of that name could have the namespace: either it does not exist, or its label
// gives it to the team. The caller needs the right to create Teams.
func (c *Cluster) FreeNamespace(ctx context.Context, id auth.Identity, team, namespace string) (bool, error) {
	k, _ := c.kinds.ByName(v1alpha1.KindTeam)
	if err := c.access.require(ctx, id, RightTo("create", k, "")); err != nil {
		return false, err
	}
	metas, err := c.namespaceMetas(ctx)
	if err != nil {
		return false, err
	}
	for i := range metas {
		if metas[i].Name == namespace {
			return metas[i].Labels[v1alpha1.LabelTeam] == team, nil
		}
	}
	return true, nil
}
