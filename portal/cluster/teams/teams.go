package teams

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// Visible returns the Teams that the caller can see, by name: all of them with the right to list Teams, else those that
// the caller can get, as members can get their own. They are shared with the cache: never change one.
func (t *Teams) Visible(ctx context.Context, id auth.Identity) ([]*unstructured.Unstructured, error) {
	k, ok := t.feed.Kinds.Now().ByName(v1alpha1.KindTeam)
	if !ok {
		return nil, nil
	}
	all, err := t.objects.List(ctx, id, k, "")
	if _, refused := errors.AsType[*failure.ForbiddenError](err); !refused {
		return all, err
	}
	names, err := t.rights.TeamsNaming(ctx, id)
	if err != nil || names != nil && names.Len() == 0 {
		return nil, err
	}
	if all, err = t.feed.Objects(ctx, k, ""); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(team *unstructured.Unstructured) bool {
		return names != nil && !names.Has(team.GetName())
	})
	all, err = rights.Filter(ctx, all, func(ctx context.Context, team *unstructured.Unstructured) (bool, error) {
		return t.rights.CanOne(ctx, id, "get", catalog.Ref{Kind: k, Name: team.GetName()})
	})
	slices.SortFunc(all, func(a, b *unstructured.Unstructured) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return all, err
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
func (t *Teams) FreeNamespace(ctx context.Context, id auth.Identity, team, namespace string) (bool, error) {
	k, _ := t.feed.Kinds.Now().ByName(v1alpha1.KindTeam)
	if err := t.rights.RequireRight(ctx, id, rights.To("create", k, "")); err != nil {
		return false, err
	}
	metas, err := t.feed.Namespaces(ctx)
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
