package cluster

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// reviewsAtOnce bounds the access reviews that one request has under way.
const reviewsAtOnce = 16

// Namespaces returns the names of the namespaces of teams in which the caller may list at least one requestable kind, sorted.
// Those who may list in the whole cluster are not shown what is no team's, such as kube-system.
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

// givesARole are the roles that come with Portico: who has one in a namespace is of the team that it belongs to.
var givesARole = sets.New("portico-viewer", "portico-developer", "portico-admin")

// teams returns the namespaces that belong to teams: those that say so by a label, those in which somebody has a role of
// Portico's, and those that hold what teams request or a HostnameGrant.
func (c *Cluster) teams(ctx context.Context, metas []metav1.PartialObjectMetadata) (sets.Set[string], error) {
	out := sets.Set[string]{}
	for i := range metas {
		if _, says := metas[i].Labels[v1alpha1.LabelTeam]; says {
			out.Insert(metas[i].Name)
		}
	}
	var list rbacv1.RoleBindingList
	if err := c.cache.List(ctx, &list); err != nil {
		return nil, &UnavailableError{Doing: "reading the cache of role bindings", Cause: err}
	}
	for i := range list.Items {
		if b := &list.Items[i]; b.RoleRef.Kind == "ClusterRole" && givesARole.Has(b.RoleRef.Name) {
			out.Insert(b.Namespace)
		}
	}
	for _, p := range c.overview.Places() {
		if k, ok := c.kinds.ByPlural(p.Kind); ok && k.Namespaced && k.KeptBy != catalog.KeptByOperator {
			out.Insert(p.Namespace)
		}
	}
	return out, nil
}

// listsAny reports whether the caller may list any requestable kind in the namespace.
func (c *Cluster) listsAny(ctx context.Context, id auth.Identity, namespace string) (bool, error) {
	for _, k := range c.kinds.Requestable() {
		if ok, err := c.Can(ctx, id, "list", k, namespace); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// filter returns those for which ask says yes, in any order. It asks several at once.
func filter[T any](ctx context.Context, all []T, ask func(context.Context, T) (bool, error)) ([]T, error) {
	var mu sync.Mutex
	var out []T
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(reviewsAtOnce)
	for _, one := range all {
		g.Go(func() error {
			ok, err := ask(ctx, one)
			if err != nil || !ok {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			out = append(out, one)
			return nil
		})
	}
	return out, g.Wait()
}

func (c *Cluster) namespaceMetas(ctx context.Context) ([]metav1.PartialObjectMetadata, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(namespaceMeta().GroupVersionKind().GroupVersion().WithKind("NamespaceList"))
	if err := c.cache.List(ctx, list); err != nil {
		return nil, &UnavailableError{Doing: "reading the cache of namespaces", Cause: err}
	}
	return list.Items, nil
}

// namespaceExists reports whether there is such a namespace, by the cache.
func (c *Cluster) namespaceExists(ctx context.Context, name string) (bool, error) {
	err := c.cache.Get(ctx, client.ObjectKey{Name: name}, namespaceMeta())
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, &UnavailableError{Doing: "reading the cache of namespaces", Cause: err}
	}
	return true, nil
}
