//go:build integration

package integration

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/rbac"
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

// keptRoles are the ClusterRoles of Portico that a platform admin gives to nobody, with the reason.
var keptRoles = map[string]string{
	"portico-operator":         "for the operator alone: its holder can do what Portico does for every team",
	"portico-operator-teams":   "the operator's own: it writes role bindings",
	"portico-operator-secrets": "the operator's own: it reads Secrets",
	"portico-portal":           "the portal's own: it may act as users",
	"portico-inspector":        "the portal's own: the operator tells it about every team",
	"portico-carrier":          "the portal's own: it carries tokens of users",
	"portico-impersonator":     "the portal's own: it writes as users",
	"portico-tools":            "in kube-system it is worth every ServiceAccount there",
}

// clusterRoles returns the names of the ClusterRoles that come with Portico.
func clusterRoles(t *testing.T) (all []string) {
	t.Helper()
	files, err := fs.Glob(rbac.Files, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := rbac.Files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq("\n"+string(text), "\n---") {
			var o metav1.PartialObjectMetadata
			if err := yaml.Unmarshal([]byte(part), &o); err != nil {
				t.Fatal(err)
			}
			if o.Kind == "ClusterRole" {
				all = append(all, o.Name)
			}
		}
	}
	return all
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
	all := clusterRoles(t)
	for _, role := range all {
		if keptRoles[role] != "" || strings.HasSuffix(role, "-kinds") { // which are empty, or have kinds of others
			continue
		}
		b := roleBindingOf(ns, "given-"+role, role)
		if err := giver.Create(t.Context(), b); err != nil {
			t.Errorf("give %s: %v", role, err)
		} else if err := giver.Delete(t.Context(), b); err != nil {
			t.Errorf("take back %s: %v", role, err)
		}
	}
	for _, role := range append(slices.Collect(maps.Keys(keptRoles)), "cluster-admin", "edit") {
		if keptRoles[role] != "" && !slices.Contains(all, role) {
			t.Errorf("there is no role %s any more", role)
		}
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
