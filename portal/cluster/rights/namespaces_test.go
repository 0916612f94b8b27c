package rights

import (
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/portico-platform/portico/portal/cluster/kubetest"
)

// Users who can list everywhere see the namespaces of teams, and not those of Kubernetes and Portico itself.
func TestANamespaceIsATeamsIfItIsGivenToOne(t *testing.T) {
	somebody := rbacv1.Subject{Kind: "User", Name: "oidc:somebody"}
	c, _ := overseen(t, "list s3buckets", "list s3buckets payments", "list s3buckets kube-system")
	c.feed.Cache = &kubetest.Spaces{
		Names:  []string{"bound", "default", "kube-public", "kube-system", "labelled", "payments", "portico-gateways", "portico-system", "search"},
		Labels: map[string]map[string]string{"labelled": {"portico.dev/team": ""}, "default": {"team": "yes"}},
		Bound:  map[string]rbacv1.Subject{"bound": somebody, "kube-system": somebody, "portico-system": somebody},
		Roles: map[string]string{
			"bound": "portico-viewer", "kube-system": "extension-apiserver-authentication-reader",
			"portico-system": "portico-operator",
		},
	}
	for _, at := range []struct{ kind, namespace string }{
		{"poolgateways", "portico-gateways"}, {"hostnamegrants", "payments"},
	} {
		k, _ := c.feed.Kinds.Now().ByPlural(at.kind)
		c.feed.Handler(k.Plural).OnAdd(kubetest.Named(at.namespace, "1"), true)
	}
	names, err := c.Namespaces(t.Context(), kubetest.Dev)
	if want := []string{"bound", "labelled", "payments", "search"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("teams are %q, %v; want %q", names, err, want)
	}
}

// Rights in one namespace count there, whatever its name is.
func TestWhoHasRightsInANamespaceSeesItWhateverItIs(t *testing.T) {
	c, _ := overseen(t, "list s3buckets kube-system")
	c.feed.Cache = &kubetest.Spaces{Names: []string{"kube-system", "search"}, Bound: map[string]rbacv1.Subject{
		"kube-system": {Kind: "User", Name: kubetest.Dev.Username},
	}}
	if names, err := c.Namespaces(t.Context(), kubetest.Dev); err != nil || !slices.Equal(names,
		[]string{"kube-system"}) {
		t.Errorf("%q, %v", names, err)
	}
}
