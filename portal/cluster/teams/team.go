// Package teams has what namespaces and their Teams have: members, quotas, AWS accounts, guardrails and defaults.
package teams

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// Teams reads about teams for callers, after checking their rights. It is safe for concurrent use.
type Teams struct {
	rights  *rights.Rights
	feed    *feed.Feed
	objects *objects.Objects
}

// New returns Teams.
func New(may *rights.Rights, from *feed.Feed, of *objects.Objects) *Teams {
	return &Teams{rights: may, feed: from, objects: of}
}

// Quota is the limit and the usage of one resource in a namespace, by one of its ResourceQuotas.
type Quota struct {
	Namespace string
	Name      string // of the ResourceQuota
	Of        string // as in Kubernetes: count/s3buckets.portico.dev, requests.cpu
	Used      apiresource.Quantity
	Hard      apiresource.Quantity
	// Known is false until Kubernetes has counted for the first time; Used is meaningless then.
	Known bool
}

// Full reports whether the quota is used up.
func (q Quota) Full() bool { return q.Known && q.Used.Cmp(q.Hard) >= 0 }

// Quotas returns the quotas of a namespace, or with "" of every namespace, sorted by namespace, resource and name. A
// caller without the right to list ResourceQuotas there gets a *failure.ForbiddenError.
func (t *Teams) Quotas(ctx context.Context, id auth.Identity, namespace string) ([]Quota, error) {
	if err := t.rights.RequireRight(ctx, id, rights.Right{
		Verb: "list", Resource: feed.Quotas,
		Namespace: namespace,
	}); err != nil {
		return nil, err
	}
	var list corev1.ResourceQuotaList
	if err := t.feed.List(ctx, "resource quotas", &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	var out []Quota
	for i := range list.Items {
		out = append(out, quotasOf(&list.Items[i])...)
	}
	slices.SortFunc(out, func(a, b Quota) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Of, b.Of), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// quotasOf returns the quotas from the status. Those that Kubernetes has not counted yet are in the spec only.
func quotasOf(q *corev1.ResourceQuota) []Quota {
	out := make([]Quota, 0, len(q.Spec.Hard))
	for name, hard := range q.Spec.Hard {
		used, counted := q.Status.Used[name]
		out = append(out, Quota{
			Namespace: q.Namespace, Name: q.Name, Of: string(name), Used: used, Hard: hard,
			Known: counted,
		})
	}
	return out
}

// Member is a subject with a role in a namespace by a RoleBinding there.
type Member struct {
	Kind      string // User, Group or ServiceAccount
	Name      string
	Namespace string // of a ServiceAccount
	Role      string
	Binding   string // name of the RoleBinding
}

// Members returns the subjects of the namespace's RoleBindings, sorted by role, kind and name. Cluster-wide bindings
// are not included. A caller without the right to list RoleBindings there gets a *failure.ForbiddenError.
func (t *Teams) Members(ctx context.Context, id auth.Identity, namespace string) ([]Member, error) {
	if err := t.rights.RequireRight(
		ctx, id, rights.Right{
			Verb: "list", Group: rbacv1.GroupName, Resource: feed.RoleBindings,
			Namespace: namespace,
		}); err != nil {
		return nil, err
	}
	var list rbacv1.RoleBindingList
	if err := t.feed.List(ctx, "role bindings", &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	var out []Member
	for i := range list.Items {
		b := &list.Items[i]
		for _, s := range b.Subjects {
			out = append(out, Member{
				Kind: s.Kind, Name: s.Name, Namespace: s.Namespace, Role: b.RoleRef.Name,
				Binding: b.Name,
			})
		}
	}
	slices.SortFunc(out, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}
