package cluster

import (
	"context"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/portico-platform/portico/portal/auth"
)

// candidates are the namespaces in which it is worth asking what the caller may do: those whose RoleBindings name the
// caller, or all of them where Options.AskEverywhere says that there are other ways to rights. It decides nothing, and
// answers for no right in the whole cluster: each namespace is asked about all the same. With hundreds of namespaces it
// is the difference between a few access reviews for a page and a thousand.
func (c *Cluster) candidates(ctx context.Context, id auth.Identity) (sets.Set[string], error) {
	out := sets.Set[string]{}
	if c.askEverywhere {
		metas, err := c.namespaceMetas(ctx)
		for i := range metas {
			out.Insert(metas[i].Name)
		}
		return out, err
	}
	var list rbacv1.RoleBindingList
	if err := c.cache.List(ctx, &list); err != nil {
		return nil, &UnavailableError{Doing: "reading the cache of role bindings", Cause: err}
	}
	names := namesOf(id)
	for i := range list.Items {
		b := &list.Items[i]
		if slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool { return names.Has(subjectName(s, b.Namespace)) }) {
			out.Insert(b.Namespace)
		}
	}
	return out, nil
}

// namesOf are the ways in which RoleBindings may name the caller.
func namesOf(id auth.Identity) sets.Set[string] {
	out := sets.New(rbacv1.UserKind + " " + id.Username)
	for _, g := range reviewGroups(id) {
		out.Insert(rbacv1.GroupKind + " " + g)
	}
	return out
}

// subjectName is one of namesOf; a ServiceAccount without a namespace is of the binding's.
func subjectName(s rbacv1.Subject, namespace string) string {
	if s.Kind != rbacv1.ServiceAccountKind {
		return s.Kind + " " + s.Name
	}
	if s.Namespace != "" {
		namespace = s.Namespace
	}
	return rbacv1.UserKind + " system:serviceaccount:" + namespace + ":" + s.Name
}
