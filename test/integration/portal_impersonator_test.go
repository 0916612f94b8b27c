//go:build integration

package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/test/stack"
)

// pretended is an identity that a thief of the impersonator's token impersonates.
type pretended struct {
	user   string
	groups []string
}

// deed is a request that a thief tries.
type deed struct{ method, path, body string }

// thief has a token of the impersonator and calls the API server directly.
type thief struct {
	client *http.Client
	host   string
}

func newThief(t *testing.T) thief {
	t.Helper()
	cfg, err := world.ServiceAccountConfig(t.Context(), stack.Namespace, "portico-impersonator")
	if err != nil {
		t.Fatal(err)
	}
	c, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return thief{c, cfg.Host}
}

// try sends the request and returns the status of the API server's response.
func (th thief) try(t *testing.T, as pretended, d deed) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), d.method, th.host+d.path, strings.NewReader(d.body))
	if err != nil {
		t.Error(err)
		return 0
	}
	r.Header.Set("Content-Type", "application/json")
	if d.method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	r.Header.Set("Impersonate-User", as.user)
	for _, g := range as.groups {
		r.Header.Add("Impersonate-Group", g)
	}
	resp, err := th.client.Do(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// granted returns the requests that the impersonator's roles allow on behalf of others, for namespaced kinds in the
// namespace. It fails the test for a permission other than to write Portico's kinds, to read logs, and to read one
// Pod's usage.
func granted(t *testing.T, k kubernetes.Interface, namespace string) []deed {
	t.Helper()
	role, err := k.RbacV1().ClusterRoles().Get(t.Context(), "portico-impersonator", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var deeds []deed
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, d := range deedsOf(t, rule.APIGroups, resource, verb, namespace) {
					if !slices.Contains(deeds, d) { // two rules allow it: for users and for ServiceAccounts
						deeds = append(deeds, d)
					}
				}
			}
		}
	}
	return deeds
}

func deedsOf(t *testing.T, groups []string, resource, verb, namespace string) []deed {
	t.Helper()
	on, as, _ := strings.Cut(verb, ":")
	_, does, _ := strings.Cut(as, ":")
	at := "/apis/portico.dev/v1alpha1/namespaces/" + namespace + "/" + resource
	wide := []string{"awsproviders", "catalogentries", "deploypolicies", "domainclaims", "teams"}
	if slices.Contains(wide, resource) {
		at = "/apis/portico.dev/v1alpha1/" + resource
	}
	get := on == "impersonate-on" && does == "get"
	switch {
	case verb == "impersonate:user-info" && slices.Equal(groups, []string{"authentication.k8s.io"}):
		return nil
	case get && slices.Equal(groups, []string{""}) && resource == "pods/log":
		return []deed{{"GET", "/api/v1/namespaces/" + namespace + "/pods/some/log", ""}}
	case get && slices.Equal(groups, []string{"metrics.k8s.io"}) && resource == "pods":
		return []deed{{"GET", "/apis/metrics.k8s.io/v1beta1/namespaces/" + namespace + "/pods/some", ""}}
	case !slices.Equal(groups, []string{"portico.dev"}) || on != "impersonate-on":
	case does == "create":
		return []deed{{"POST", at + "?dryRun=All", `{"metadata":{"name":"some"}}`}}
	case does == "update":
		return []deed{{"PUT", at + "/some?dryRun=All", `{"metadata":{"name":"some"}}`}}
	case does == "patch":
		return []deed{{"PATCH", at + "/some?dryRun=All", `{}`}}
	case does == "delete":
		return []deed{{"DELETE", at + "/some?dryRun=All", ``}}
	}
	t.Errorf("the impersonator may %s %v %s", verb, groups, resource)
	return nil
}

// identitiesOfTheSystem returns the subjects of the API server's own bindings, and the identities that it knows without
// a binding.
func identitiesOfTheSystem(t *testing.T, k kubernetes.Interface) []pretended {
	t.Helper()
	of := metav1.ListOptions{LabelSelector: "kubernetes.io/bootstrapping"}
	wide, err := k.RbacV1().ClusterRoleBindings().List(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := k.RbacV1().RoleBindings("").List(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	var subjects []rbacv1.Subject
	for _, b := range wide.Items {
		subjects = append(subjects, b.Subjects...)
	}
	for _, b := range narrow.Items {
		subjects = append(subjects, b.Subjects...)
	}
	all := []pretended{
		{user: "system:apiserver"},
		{user: "system:apiserver", groups: []string{"system:masters"}},
		{user: "system:anonymous"},
		{user: "system:anonymous", groups: []string{"system:unauthenticated"}},
		{user: "system:admin"},
		{user: "system:node:node-0"},
		{user: "system:node:node-0", groups: []string{"system:nodes"}},
		{user: "system:node:NOT_A_NODE", groups: []string{"system:nodes"}},
		{user: "system:bootstrap:abcdef", groups: []string{"system:bootstrappers"}},
		{user: "oidc:x", groups: []string{"system:serviceaccounts", "system:serviceaccounts:kube-system"}},
		{user: "system:serviceaccount:kube-system:generic-garbage-collector", groups: []string{"system:authenticated"}},
		{user: "system:serviceaccount:" + stack.Namespace + ":portico-operator"},
		{user: "system:serviceaccount:" + stack.Namespace + ":portico-portal"},
		{user: "system:serviceaccount:kube-system:NOT_ONE"},
	}
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.UserKind:
			all = append(all, pretended{user: s.Name})
		case rbacv1.GroupKind:
			all = append(all, pretended{user: "oidc:x", groups: []string{s.Name}},
				pretended{user: s.Name, groups: []string{s.Name}})
		default:
			all = append(all, pretended{user: "system:serviceaccount:" + s.Namespace + ":" + s.Name})
		}
	}
	slices.SortFunc(all, func(a, b pretended) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return slices.CompactFunc(all, func(a, b pretended) bool { return fmt.Sprint(a) == fmt.Sprint(b) })
}

// reads returns requests that nobody can make through the impersonator, as any identity.
func reads() []deed {
	var out []deed
	for _, path := range []string{
		"/api/v1/secrets", "/api/v1/namespaces/payments/secrets", "/api/v1/namespaces/payments/secrets/x",
		"/api/v1/configmaps",
		"/api/v1/namespaces/kube-system/configmaps", "/api/v1/events", "/api/v1/namespaces/payments/events",
		"/api/v1/pods", "/api/v1/nodes",
		"/apis/metrics.k8s.io/v1beta1/pods", "/apis/metrics.k8s.io/v1beta1/namespaces/payments/pods",
		"/apis/portico.dev/v1alpha1/s3buckets", "/apis/portico.dev/v1alpha1/awsproviders",
		"/apis/portico.dev/v1alpha1/namespaces/payments/s3buckets/some",
		"/apis/portico.dev/v1alpha1/namespaces/payments/s3buckets/some/status",
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", "/version", "/metrics",
	} {
		out = append(out, deed{"GET", path, ""}, deed{"GET", path + "?watch=true&timeoutSeconds=1", ""})
		if !strings.HasSuffix(path, "/s3buckets/some") {
			out = append(out, deed{"DELETE", path + "?dryRun=All", ""})
		}
	}
	return append(out, deed{"POST", "/api/v1/namespaces/kube-system/serviceaccounts/default/token", `{"spec":{}}`},
		deed{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", `{"spec":{}}`})
}

// TestTheImpersonatorIsNobodyOfTheSystem uses a stolen token of the impersonator: as an identity that every cluster has
// from the start, it can do nothing, and as anybody else only what its roles allow.
func TestTheImpersonatorIsNobodyOfTheSystem(t *testing.T) {
	admin(t) // the kinds are served
	k, err := kubernetes.NewForConfig(world.Admin)
	if err != nil {
		t.Fatal(err)
	}
	th, deeds, everyone := newThief(t), granted(t, k, "payments"), identitiesOfTheSystem(t, k)
	deeds = append(deeds, reads()...)
	if len(deeds) < 80 || len(everyone) < 50 {
		t.Fatalf("%d deeds as %d identities: too few to tell", len(deeds), len(everyone))
	}
	g := errgroup.Group{}
	g.SetLimit(16)
	for _, as := range everyone {
		for _, d := range deeds {
			g.Go(func() error {
				if status := th.try(t, as, d); status != http.StatusForbidden {
					t.Errorf("as %v: %s %s is answered %d", as, d.method, d.path, status)
				}
				return nil
			})
		}
	}
	_ = g.Wait()
	developer := pretended{payer.Username, payer.Groups}
	for _, d := range reads() {
		if status := th.try(t, developer, d); status != http.StatusForbidden {
			t.Errorf("as a developer: %s %s is answered %d", d.method, d.path, status)
		}
	}
	for _, as := range []pretended{developer, {user: letIn(t, k)}} { // these can make the requests refused above
		for _, d := range granted(t, k, "payments") {
			status := th.try(t, as, d)
			theirs := strings.Contains(d.path, "/namespaces/") && !strings.Contains(d.path, "/hostnamegrants") &&
				!strings.Contains(d.path, "/poolgateways")
			if strings.HasPrefix(as.user, "system:serviceaccount:") && strings.Contains(d.path, "/metrics.k8s.io/") {
				theirs = false // only pages show usage, and only people use them
			}
			if theirs == (status == http.StatusForbidden) {
				t.Errorf("as %v: %s %s is answered %d", as, d.method, d.path, status)
			}
		}
	}
}

// letIn creates a ServiceAccount of payments with a developer's permissions, and returns its username.
func letIn(t *testing.T, k kubernetes.Interface) string {
	t.Helper()
	name := unique("ci")
	var bind rbacv1.RoleBinding
	manifest := `{metadata: {name: ` +
		name + `}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: portico-developer},
subjects: [{kind: ServiceAccount, name: ` + name + `, namespace: payments}]}`
	if err := yaml.Unmarshal([]byte(manifest), &bind); err != nil {
		t.Fatal(err)
	}
	if _, err := k.RbacV1().RoleBindings("payments").Create(t.Context(), &bind, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	user := "system:serviceaccount:payments:" + name
	th := newThief(t)
	await(t, "the binding to count", func() (bool, string) {
		status := th.try(t, pretended{user: user},
			deed{"DELETE", "/apis/portico.dev/v1alpha1/namespaces/payments/s3buckets/some", ""})
		return status == http.StatusNotFound, fmt.Sprint(status)
	})
	return user
}
