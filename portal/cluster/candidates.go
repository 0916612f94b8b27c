package cluster

import (
	"context"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
)

// candidates returns the namespaces that are worth access reviews for the caller: those whose RoleBindings name the
// caller, or all of them with Options.AskEverywhere, where rights can come from other sources. It grants nothing and
// does not cover cluster-wide rights. With hundreds of namespaces it saves about a thousand access reviews per page.
func (c *Cluster) candidates(ctx context.Context, id auth.Identity) (sets.Set[string], error) {
	out := sets.Set[string]{}
	if c.askEverywhere {
		metas, err := c.namespaceMetas(ctx)
		for i := range metas {
			out.Insert(metas[i].Name)
		}
		return out, err
	}
	for name := range namesOf(id) {
		if err := c.withBindings(ctx, bySubject, name, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// withBindings inserts into to the namespaces of the RoleBindings that the index has under name.
func (c *Cluster) withBindings(ctx context.Context, index, name string, to sets.Set[string]) error {
	var list rbacv1.RoleBindingList
	if err := c.cache.List(ctx, &list, client.MatchingFields{index: name}, client.UnsafeDisableDeepCopy); err != nil {
		return &UnavailableError{Doing: "reading the cache of role bindings", Cause: err}
	}
	for i := range list.Items {
		to.Insert(list.Items[i].Namespace)
	}
	return nil
}

// The indexes of bindings. bySubject and byTeamSubject are by subject: of RoleBindings and of ClusterRoleBindings that
// grant a right to all objects of a kind, and of those that grant a right to one Team. byOurRole is of RoleBindings, by
// whether they grant one of Portico's roles.
const (
	bySubject     = "subject"
	byTeamSubject = "teamsubject"
	byOurRole     = "ourrole"
)

// indexNames returns the subjects of a RoleBinding.
func indexNames(obj client.Object) []string {
	b := obj.(*rbacv1.RoleBinding)
	names := make([]string, 0, len(b.Subjects))
	for _, s := range b.Subjects {
		names = append(names, subjectName(s, b.Namespace))
	}
	return names
}

// indexOurRoles returns "true" for a RoleBinding that grants one of Portico's roles.
func indexOurRoles(obj client.Object) []string {
	if b := obj.(*rbacv1.RoleBinding); b.RoleRef.Kind == "ClusterRole" && givesARole.Has(b.RoleRef.Name) {
		return []string{"true"}
	}
	return nil
}

// givenToAll are the ClusterRoles that every API server grants to authenticated users; none of them is about our kinds.
var givenToAll = sets.New("system:basic-user", "system:discovery", "system:public-info-viewer",
	"system:service-account-issuer-discovery")

// indexSubjects returns the subjects to which a ClusterRoleBinding grants rights that the portal checks.
func indexSubjects(obj client.Object) []string {
	b := obj.(*rbacv1.ClusterRoleBinding)
	if givenToAll.Has(b.RoleRef.Name) || aboutTeam(b) {
		return nil
	}
	return subjectNames(b)
}

// indexTeamSubjects returns the subjects to which a ClusterRoleBinding grants a right to their Team.
func indexTeamSubjects(obj client.Object) []string {
	if b := obj.(*rbacv1.ClusterRoleBinding); aboutTeam(b) {
		return subjectNames(b)
	}
	return nil
}

// aboutTeam reports whether a binding is one that Portico creates for the members of a Team. It only selects what is
// reviewed.
func aboutTeam(b *rbacv1.ClusterRoleBinding) bool {
	return strings.HasPrefix(b.RoleRef.Name, v1alpha1.TeamRolePrefix)
}

func subjectNames(b *rbacv1.ClusterRoleBinding) []string {
	names := make([]string, 0, len(b.Subjects))
	for _, s := range b.Subjects {
		names = append(names, subjectName(s, ""))
	}
	return names
}

// worthAsking reports whether a cluster-wide right of the caller is worth a review: if a ClusterRoleBinding names the
// caller, or with Options.AskEverywhere. Hardly any user has such a right, and each page checks a dozen. It can only
// deny.
func (c *Cluster) worthAsking(ctx context.Context, id auth.Identity, act Right) (bool, error) {
	if c.askEverywhere {
		return true, nil
	}
	named, err := c.clusterBindings(ctx, id, bySubject)
	if len(named) > 0 || err != nil || act.object == "" {
		return len(named) > 0, err
	}
	named, err = c.clusterBindings(ctx, id, byTeamSubject)
	return len(named) > 0, err
}

// clusterBindings returns the ClusterRoleBindings of an index that name the caller.
func (c *Cluster) clusterBindings(ctx context.Context, id auth.Identity, index string) (
	[]rbacv1.ClusterRoleBinding, error,
) {
	var all []rbacv1.ClusterRoleBinding
	for name := range namesOf(id) {
		var list rbacv1.ClusterRoleBindingList
		if err := c.cache.List(ctx, &list, client.MatchingFields{index: name},
			client.UnsafeDisableDeepCopy); err != nil {
			return nil, &UnavailableError{Doing: "reading the cache of cluster role bindings", Cause: err}
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// namesOf returns the subject names by which bindings can name the caller.
func namesOf(id auth.Identity) sets.Set[string] {
	out := sets.New(rbacv1.UserKind + " " + id.Username)
	for _, g := range reviewGroups(id) {
		out.Insert(rbacv1.GroupKind + " " + g)
	}
	return out
}

// subjectName returns a subject in the format of namesOf. A ServiceAccount without a namespace gets the binding's.
func subjectName(s rbacv1.Subject, namespace string) string {
	if s.Kind != rbacv1.ServiceAccountKind {
		return s.Kind + " " + s.Name
	}
	if s.Namespace != "" {
		namespace = s.Namespace
	}
	return rbacv1.UserKind + " system:serviceaccount:" + namespace + ":" + s.Name
}
