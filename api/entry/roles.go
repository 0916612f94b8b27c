package entry

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// AggregateTo begins the labels of ClusterRoles whose rules become part of a role of Portico: viewer, developer, owner
// and admin, portal for what the portal reads, and impersonator for what it does as its users.
const AggregateTo = "portico.dev/aggregate-to-"

// AllVerbs returns the verbs of an entry that names none.
func AllVerbs() []v1alpha1.CatalogVerb {
	return []v1alpha1.CatalogVerb{"get", "list", "watch", "create", "update", "patch", "delete"}
}

// readVerbs change nothing.
var readVerbs = []v1alpha1.CatalogVerb{"get", "list", "watch"}

// Roles returns the ClusterRoles for a kind of others: one by which the portal reads its objects and acts as its users,
// and those by which members of teams can do what the entry's verbs say. An admin applies them: Portico gives itself no
// rights.
func Roles(e *v1alpha1.CatalogEntry) []rbacv1.ClusterRole {
	d, verbs := e.Spec.Definition, e.Spec.Verbs
	if len(verbs) == 0 {
		verbs = AllVerbs()
	}
	var look, write, as []string
	for _, verb := range verbs {
		if slices.Contains(readVerbs, verb) {
			look = append(look, string(verb))
			continue
		}
		write = append(write, string(verb))
		as = append(as, "impersonate-on:user-info:"+string(verb), "impersonate-on:serviceaccount:"+string(verb))
	}
	role := func(what string, to []string, verbs []string) rbacv1.ClusterRole {
		r := rbacv1.ClusterRole{
			TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
			ObjectMeta: metav1.ObjectMeta{
				Name: "portico-kind-" + what + ":" + e.Name, Labels: map[string]string{"app.kubernetes.io/part-of": "portico"},
			},
			Rules: []rbacv1.PolicyRule{{APIGroups: []string{d.Group}, Resources: []string{d.Resource}, Verbs: verbs}},
		}
		for _, one := range to {
			r.Labels[AggregateTo+one] = "true"
		}
		return r
	}
	all := []rbacv1.ClusterRole{
		role("portal", []string{"portal"}, []string{"get", "list", "watch"}),
		role("look", []string{"viewer", "developer", "owner", "admin"}, look),
	}
	if len(write) > 0 {
		writers := []string{"developer", "owner", "admin"}
		if e.Spec.Writers == v1alpha1.WritersAdmins {
			writers = []string{"admin"}
		}
		all = append(all, role("impersonator", []string{"impersonator"}, as), role("write", writers, write))
	}
	return all
}
