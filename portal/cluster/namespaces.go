package cluster

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/overview"
)

// Namespaces returns the names of the team namespaces in which the caller can list at least one requestable kind,
// sorted. Callers with the right in the whole cluster do not get namespaces of no team, such as kube-system.
func (c *Cluster) Namespaces(ctx context.Context, id auth.Identity) ([]string, error) {
	metas, err := c.namespaceMetas(ctx)
	if err != nil {
		return nil, err
	}
	everywhere, err := c.listsAny(ctx, id, "")
	if err != nil {
		return nil, err
	}
	worth, err := c.candidates(ctx, id)
	if err == nil && everywhere {
		worth, err = c.teams(ctx, metas)
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
		names, err = filter(ctx, names, func(ctx context.Context, ns string) (bool, error) {
			return c.listsAny(ctx, id, ns)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return names, nil
}

// givesARole are Portico's roles: a subject with one in a namespace belongs to the namespace's team.
var givesARole = sets.New("portico-viewer", "portico-developer", "portico-owner", "portico-admin")

// teams returns the namespaces that belong to teams: those labelled so, those in which a subject has one of Portico's
// roles, and those that hold requested objects or a HostnameGrant.
func (c *Cluster) teams(ctx context.Context, metas []metav1.PartialObjectMetadata) (sets.Set[string], error) {
	out := sets.Set[string]{}
	for i := range metas {
		if _, says := metas[i].Labels[v1alpha1.LabelTeam]; says {
			out.Insert(metas[i].Name)
		}
	}
	if err := c.withBindings(ctx, byOurRole, "true", out); err != nil {
		return nil, err
	}
	asked := map[string]bool{} // by plural name: whether the kind is requestable
	for i := range c.kinds {
		asked[c.kinds[i].Plural] = c.kinds[i].Namespaced && c.kinds[i].KeptBy != catalog.KeptByOperator
	}
	c.overview.Each(func(p overview.Place) {
		if asked[p.Kind] {
			out.Insert(p.Namespace)
		}
	})
	return out, nil
}

// listsAny reports whether the caller can list any requestable kind in the namespace.
func (c *Cluster) listsAny(ctx context.Context, id auth.Identity, namespace string) (bool, error) {
	for _, k := range c.kinds.Requestable() {
		if ok, err := c.Can(ctx, id, "list", k, namespace); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}
