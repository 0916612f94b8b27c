package feed

import (
	"context"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// The indexes of bindings. BySubject and ByTeamSubject are by subject: of RoleBindings and of ClusterRoleBindings that
// grant a right to all objects of a kind, and of those that grant a right to one Team. ByOurRole is of RoleBindings, by
// whether they grant one of Portico's roles.
const (
	BySubject     = "subject"
	ByTeamSubject = "teamsubject"
	ByOurRole     = "ourrole"
)

// NamespacesBinding inserts into to the namespaces of the RoleBindings that the index has under name.
func (f *Feed) NamespacesBinding(ctx context.Context, index, name string, to sets.Set[string]) error {
	var list rbacv1.RoleBindingList
	if err := f.List(ctx, "role bindings", &list, client.MatchingFields{index: name},
		client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for i := range list.Items {
		to.Insert(list.Items[i].Namespace)
	}
	return nil
}

// ClusterBindings returns the ClusterRoleBindings that the index has under one of the names.
func (f *Feed) ClusterBindings(ctx context.Context, index string, names ...string) (
	[]rbacv1.ClusterRoleBinding, error,
) {
	var all []rbacv1.ClusterRoleBinding
	for _, name := range names {
		var list rbacv1.ClusterRoleBindingList
		if err := f.List(ctx, "cluster role bindings", &list, client.MatchingFields{index: name},
			client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// indexNames returns the subjects of a RoleBinding.
func indexNames(obj client.Object) []string {
	b := obj.(*rbacv1.RoleBinding)
	names := make([]string, 0, len(b.Subjects))
	for _, s := range b.Subjects {
		names = append(names, subjectName(s, b.Namespace))
	}
	return names
}

// givesARole are Portico's roles: a subject with one in a namespace belongs to the namespace's team.
var givesARole = sets.New("portico-viewer", "portico-developer", "portico-owner", "portico-admin")

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

// subjectName returns a subject as "User" or "Group", a space and the name. A ServiceAccount without a namespace gets
// the binding's.
func subjectName(s rbacv1.Subject, namespace string) string {
	if s.Kind != rbacv1.ServiceAccountKind {
		return s.Kind + " " + s.Name
	}
	if s.Namespace != "" {
		namespace = s.Namespace
	}
	return rbacv1.UserKind + " system:serviceaccount:" + namespace + ":" + s.Name
}
