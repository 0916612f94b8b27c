package rights

import (
	"context"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/feed"
)

// Candidates returns the namespaces that are worth access reviews for the caller: those whose RoleBindings name the
// caller, or all of them with Options.AskEverywhere, where rights can come from other sources. It grants nothing and
// does not cover cluster-wide rights. With hundreds of namespaces it saves about a thousand access reviews per page.
func (r *Rights) Candidates(ctx context.Context, id auth.Identity) (sets.Set[string], error) {
	out := sets.Set[string]{}
	if r.askEverywhere {
		metas, err := r.feed.Namespaces(ctx)
		for i := range metas {
			out.Insert(metas[i].Name)
		}
		return out, err
	}
	for name := range namesOf(id) {
		if err := r.feed.NamespacesBinding(ctx, feed.BySubject, name, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// worthAsking reports whether a cluster-wide right of the caller is worth a review: if a ClusterRoleBinding names the
// caller, or with Options.AskEverywhere. Hardly any user has such a right, and each page checks a dozen. It can only
// deny.
func (r *Rights) worthAsking(ctx context.Context, id auth.Identity, act Right) (bool, error) {
	if r.askEverywhere {
		return true, nil
	}
	named, err := r.clusterBindings(ctx, id, feed.BySubject)
	if len(named) > 0 || err != nil || act.Object == "" {
		return len(named) > 0, err
	}
	named, err = r.clusterBindings(ctx, id, feed.ByTeamSubject)
	return len(named) > 0, err
}

// namesOf returns the subject names by which bindings can name the caller.
func namesOf(id auth.Identity) sets.Set[string] {
	out := sets.New(rbacv1.UserKind + " " + id.Username)
	for _, g := range reviewGroups(id) {
		out.Insert(rbacv1.GroupKind + " " + g)
	}
	return out
}

// IsGroup reports whether bindings name a group of that name, and no user.
func (r *Rights) IsGroup(ctx context.Context, name string) (bool, error) {
	group, err := r.isBound(ctx, rbacv1.GroupKind+" "+name)
	if err != nil || !group {
		return false, err
	}
	user, err := r.isBound(ctx, rbacv1.UserKind+" "+name)
	return !user, err
}

// isBound reports whether any binding names the subject, in the format of subjectName.
func (r *Rights) isBound(ctx context.Context, subject string) (bool, error) {
	for _, index := range []string{feed.BySubject, feed.ByTeamSubject} {
		wide, err := r.feed.ClusterBindings(ctx, index, subject)
		if len(wide) > 0 || err != nil {
			return len(wide) > 0, err
		}
	}
	in := sets.Set[string]{}
	err := r.feed.NamespacesBinding(ctx, feed.BySubject, subject, in)
	return len(in) > 0, err
}

// TeamsNaming returns the names of the Teams that are worth access reviews: those whose ClusterRoleBindings name the
// caller; nil means all. It grants nothing.
func (r *Rights) TeamsNaming(ctx context.Context, id auth.Identity) (sets.Set[string], error) {
	if r.askEverywhere {
		return nil, nil
	}
	bindings, err := r.clusterBindings(ctx, id, feed.ByTeamSubject)
	names := sets.Set[string]{}
	for _, b := range bindings {
		name, _, _ := strings.Cut(strings.TrimPrefix(b.RoleRef.Name, v1alpha1.TeamRolePrefix), ":")
		names.Insert(name)
	}
	return names, err
}

// clusterBindings returns the ClusterRoleBindings of an index that name the caller.
func (r *Rights) clusterBindings(ctx context.Context, id auth.Identity, index string) (
	[]rbacv1.ClusterRoleBinding, error,
) {
	return r.feed.ClusterBindings(ctx, index, namesOf(id).UnsortedList()...)
}
