//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// maySetSecrets reports whether a user can set values of Secrets in a namespace.
func maySetSecrets(t *testing.T, c client.Client, namespace, user string) bool {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, Groups: []string{"system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: "update", Group: "portico.dev", Resource: "secretvalues",
		},
	}}
	if err := c.Create(t.Context(), review); err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

// TestDevelopersSetSecretsUnlessTheTeamSaysOtherwise tries the three values of spec.secrets.setBy, and suspension.
func TestDevelopersSetSecretsUnlessTheTeamSaysOtherwise(t *testing.T) {
	c := withOperator(t)
	squad := teamOf(t, c)
	squad.Spec.Members = []v1alpha1.TeamMember{
		{User: "oidc:viewer", Role: v1alpha1.TeamViewer},
		{User: "oidc:developer", Role: v1alpha1.TeamDeveloper},
		{User: "oidc:owner", Role: v1alpha1.TeamOwner},
	}
	createReady(t, c, squad)
	for _, step := range []struct {
		change func(*v1alpha1.TeamSpec)
		want   string
	}{
		{func(*v1alpha1.TeamSpec) {}, "developer owner"},
		{func(s *v1alpha1.TeamSpec) { s.Secrets.SetBy = v1alpha1.ReachOwners }, "owner"},
		{func(s *v1alpha1.TeamSpec) { s.Secrets.SetBy = v1alpha1.ReachNobody }, ""},
		{func(s *v1alpha1.TeamSpec) { s.Secrets.SetBy = v1alpha1.ReachDevelopers }, "developer owner"},
		{func(s *v1alpha1.TeamSpec) { s.Suspended = true }, ""},
	} {
		edit(t, c, squad, func(squad *v1alpha1.Team) { step.change(&squad.Spec) })
		await(t, "values to be set by: "+step.want, func() (bool, string) {
			var who []string
			for _, name := range []string{"viewer", "developer", "owner"} {
				if maySetSecrets(t, c, squad.Name, "oidc:"+name) {
					who = append(who, name)
				}
			}
			got := strings.Join(who, " ")
			return got == step.want, got
		})
	}
}

// roleBindingOf returns a RoleBinding to a ClusterRole.
func roleBindingOf(namespace, name, role string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "oidc:somebody"}},
	}
}

// TestAPlatformAdminGivesTheRolesOfPortico checks that a platform admin can bind and unbind Portico's roles, and no
// others.
func TestAPlatformAdminGivesTheRolesOfPortico(t *testing.T) {
	c := admin(t)
	ns := team(t, c)
	bindEverywhere(t, c, "portico-admin", "oidc:giver")
	giver := as(t, "oidc:giver")
	await(t, "the admin's rights to count", func() (bool, string) {
		err := giver.Create(t.Context(), roleBindingOf(ns, "first", "portico-viewer"))
		return err == nil, fmt.Sprint(err)
	})
	for _, role := range []string{
		"portico-viewer", "portico-developer", "portico-owner", "portico-admin", "portico-secret-writer",
		"portico-database-reader", "portico-database-owner",
		"portico-service-binding",
	} {
		b := roleBindingOf(ns, "given-"+role, role)
		if err := giver.Create(t.Context(), b); err != nil {
			t.Errorf("give %s: %v", role, err)
		} else if err := giver.Delete(t.Context(), b); err != nil {
			t.Errorf("take back %s: %v", role, err)
		}
	}
	for _, role := range []string{"cluster-admin", "edit", "portico-operator"} {
		if err := giver.Create(t.Context(), roleBindingOf(ns, "given-"+role, role)); err == nil {
			t.Errorf("a platform admin gives %s", role)
		}
	}
	other := roleBindingOf(ns, "of-another-program", "view")
	create(t, c, other)
	err := giver.Delete(t.Context(), other.DeepCopy())
	if err == nil || !strings.Contains(err.Error(), "of-another-program binds view") {
		t.Errorf("delete a RoleBinding of another program: %v", err)
	}
	if err := c.Delete(t.Context(), other); err != nil {
		t.Errorf("somebody who administers the cluster deletes it: %v", err)
	}
}
