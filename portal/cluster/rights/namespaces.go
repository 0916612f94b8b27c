package rights

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/overview"
)

// Namespaces returns the names of the team namespaces in which the caller can list at least one requestable kind,
// sorted. Callers with the right in the whole cluster do not get namespaces of no team, such as kube-system.
func (r *Rights) Namespaces(ctx context.Context, id auth.Identity) ([]string, error) {
	metas, err := r.feed.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	everywhere, err := r.listsAny(ctx, id, "")
	if err != nil {
		return nil, err
	}
	worth, err := r.Candidates(ctx, id)
	if err == nil && everywhere {
		worth, err = r.ofTeams(ctx, metas)
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(metas))
	for i := range metas {
		if worth.Has(metas[i].Name) {
			names = append(names, metas[i].Name)
		}
	}
	if !everywhere {
		names, err = Filter(ctx, names, func(ctx context.Context, ns string) (bool, error) {
			return r.listsAny(ctx, id, ns)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return names, nil
}

// ofTeams returns the namespaces that belong to teams: those labelled so, those in which a subject has one of Portico's
// roles, and those that hold requested objects or a HostnameGrant.
func (r *Rights) ofTeams(ctx context.Context, metas []metav1.PartialObjectMetadata) (sets.Set[string], error) {
	out := sets.Set[string]{}
	for i := range metas {
		if _, says := metas[i].Labels[v1alpha1.LabelTeam]; says {
			out.Insert(metas[i].Name)
		}
	}
	if err := r.feed.NamespacesBinding(ctx, feed.ByOurRole, "true", out); err != nil {
		return nil, err
	}
	asked := map[string]bool{} // by plural name: whether the kind is requestable
	for _, k := range r.feed.Kinds.Now().Namespaced(true) {
		asked[k.Plural] = k.KeptBy != catalog.KeptByOperator
	}
	r.feed.Overview.Each(func(p overview.Place) {
		if asked[p.Kind] {
			out.Insert(p.Namespace)
		}
	})
	return out, nil
}

// listsAny reports whether the caller can list any requestable kind in the namespace.
func (r *Rights) listsAny(ctx context.Context, id auth.Identity, namespace string) (bool, error) {
	for _, k := range r.feed.Kinds.Now().Requestable() {
		if ok, err := r.Can(ctx, id, "list", k, namespace); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// Visible returns the candidate namespaces in which the caller can list the kind.
func (r *Rights) Visible(ctx context.Context, id auth.Identity, k catalog.Kind) (sets.Set[string], error) {
	candidates, err := r.Candidates(ctx, id)
	if err != nil {
		return nil, err
	}
	names, err := Filter(ctx, sets.List(candidates), func(ctx context.Context, ns string) (bool, error) {
		return r.Can(ctx, id, "list", k, ns)
	})
	return sets.New(names...), err
}

// Unlisted returns, by namespace, the requestable kinds that the caller cannot list there; a namespace in which the
// caller can list all of them is left out.
func (r *Rights) Unlisted(ctx context.Context, id auth.Identity, namespaces []string) (
	map[string]catalog.Catalog, error,
) {
	out := map[string]catalog.Catalog{}
	candidates, err := r.Candidates(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, k := range r.feed.Kinds.Now().Requestable() {
		all, err := r.Can(ctx, id, "list", k, "")
		if err != nil {
			return nil, err
		}
		if all {
			continue
		}
		refused, err := Filter(ctx, namespaces, func(ctx context.Context, ns string) (bool, error) {
			if !candidates.Has(ns) {
				return true, nil
			}
			may, err := r.Can(ctx, id, "list", k, ns)
			return !may, err
		})
		if err != nil {
			return nil, err
		}
		for _, ns := range refused {
			out[ns] = append(out[ns], k)
		}
	}
	return out, nil
}
