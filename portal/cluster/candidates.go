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

// candidates returns the namespaces in which it is worth asking what the caller can do: those whose RoleBindings name
// the caller, or all of them where Options.AskEverywhere says that there are other ways to rights. It decides nothing,
// and answers for no right in the whole cluster. With hundreds of namespaces it is the difference between a few access
// reviews for a page and a thousand.
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

// withBindings adds the namespaces of the RoleBindings that an index has under a name.
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

// The indexes of bindings by whom they name: RoleBindings, and ClusterRoleBindings that give rights to every object of
// a kind, or a right to one Team; and that of RoleBindings by whether they give a role that comes with Portico.
const (
	bySubject     = "subject"
	byTeamSubject = "teamsubject"
	byOurRole     = "ourrole"
)

// indexNames returns those whom a RoleBinding names.
func indexNames(obj client.Object) []string {
	b := obj.(*rbacv1.RoleBinding)
	names := make([]string, 0, len(b.Subjects))
	for _, s := range b.Subjects {
		names = append(names, subjectName(s, b.Namespace))
	}
	return names
}

// indexOurRoles returns "true" of a RoleBinding that gives a role which comes with Portico.
func indexOurRoles(obj client.Object) []string {
	if b := obj.(*rbacv1.RoleBinding); b.RoleRef.Kind == "ClusterRole" && givesARole.Has(b.RoleRef.Name) {
		return []string{"true"}
	}
	return nil
}

// givenToAll are the ClusterRoles that every API server gives everybody who is signed in: no right to anything of ours.
var givenToAll = sets.New("system:basic-user", "system:discovery", "system:public-info-viewer", "system:service-account-issuer-discovery")

// indexSubjects returns those whom a ClusterRoleBinding gives rights that the portal may ask about.
func indexSubjects(obj client.Object) []string {
	b := obj.(*rbacv1.ClusterRoleBinding)
	if givenToAll.Has(b.RoleRef.Name) || aboutTeam(b) {
		return nil
	}
	return subjectNames(b)
}

// indexTeamSubjects returns those whom a ClusterRoleBinding gives a right to their Team.
func indexTeamSubjects(obj client.Object) []string {
	if b := obj.(*rbacv1.ClusterRoleBinding); aboutTeam(b) {
		return subjectNames(b)
	}
	return nil
}

// aboutTeam reports whether a binding is one that Portico makes for the members of a Team. It decides only what is
// asked.
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

// worthAsking reports whether the caller may have a right in the whole cluster: if a ClusterRoleBinding names the
// caller, or Options.AskEverywhere says that there are other ways to rights. Nearly nobody has one, and each page needs
// a dozen. It decides nothing but a no.
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
func (c *Cluster) clusterBindings(ctx context.Context, id auth.Identity, index string) ([]rbacv1.ClusterRoleBinding, error) {
	var all []rbacv1.ClusterRoleBinding
	for name := range namesOf(id) {
		var list rbacv1.ClusterRoleBindingList
		if err := c.cache.List(ctx, &list, client.MatchingFields{index: name}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, &UnavailableError{Doing: "reading the cache of cluster role bindings", Cause: err}
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// namesOf returns the ways in which bindings may name the caller.
func namesOf(id auth.Identity) sets.Set[string] {
	out := sets.New(rbacv1.UserKind + " " + id.Username)
	for _, g := range reviewGroups(id) {
		out.Insert(rbacv1.GroupKind + " " + g)
	}
	return out
}

// subjectName returns a subject as namesOf has it; a ServiceAccount without a namespace is of the binding's.
func subjectName(s rbacv1.Subject, namespace string) string {
	if s.Kind != rbacv1.ServiceAccountKind {
		return s.Kind + " " + s.Name
	}
	if s.Namespace != "" {
		namespace = s.Namespace
	}
	return rbacv1.UserKind + " system:serviceaccount:" + namespace + ":" + s.Name
}
