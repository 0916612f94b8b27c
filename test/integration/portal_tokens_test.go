//go:build integration

package integration

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

func TestRESTRefusesTokens(t *testing.T) {
	issuer := oidctest.New(t)
	p := startPortal(t, issuer.URL, sessionKeys(t))
	good := oidctest.Claims{"aud": stack.Audience, "preferred_username": "someone", "groups": []string{"team-payments"}}
	with := func(changes oidctest.Claims) oidctest.Claims {
		out := maps.Clone(good)
		maps.Copy(out, changes)
		return out
	}
	p.call(t, issuer.Token(good), "GET", "/namespaces/payments/s3buckets", nil).want(t, http.StatusOK)
	for _, c := range []struct {
		reason string
		token  string
		status int
	}{
		{"no token", "", 401},
		{"no username claim", issuer.Token(with(oidctest.Claims{"preferred_username": nil})), 403},
		{"an empty username", issuer.Token(with(oidctest.Claims{"preferred_username": ""})), 403},
		{"a username of the system", issuer.Token(with(oidctest.Claims{"preferred_username": "system:admin"})), 403},
		{"a group of the system", issuer.Token(with(oidctest.Claims{"groups": []string{"x", "system:masters"}})), 403},
		{"a username with a blank at its end", issuer.Token(with(oidctest.Claims{"preferred_username": "platform-admin "})), 403},
		{"a group with a blank at its end", issuer.Token(with(oidctest.Claims{"groups": []string{"platform-admins "}})), 403},
		{"another audience", issuer.Token(with(oidctest.Claims{"aud": "another"})), 401},
		{"the portal's own audience", issuer.Token(with(oidctest.Claims{"aud": stack.PortalClient})), 401},
		{"an expired token", issuer.Token(with(oidctest.Claims{"exp": 1})), 401},
		{"another issuer, without its key", issuer.Token(with(oidctest.Claims{"iss": "https://other.example.com"})), 401},
		{"no signature", issuer.Unsigned(good), 401},
		{"no token at all", "rubbish", 401},
		{"a token of another provider", oidctest.New(t).Token(good), 401},
	} {
		t.Run(c.reason, func(t *testing.T) {
			a := p.call(t, c.token, "GET", "/namespaces/payments/s3buckets", nil).want(t, c.status)
			if challenge := a.header.Get("WWW-Authenticate"); (c.status == 401) != strings.HasPrefix(
				challenge, "Bearer") {
				t.Errorf("WWW-Authenticate %q with %d", challenge, c.status)
			}
		})
	}
	// Dex is not the issuer of this portal, so its tokens are refused.
	p.call(t, userToken(t, "payments-dev"), "GET", "/me", nil).want(t, http.StatusUnauthorized)
}

func TestRESTIgnoresSmuggledIdentities(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	token := userToken(t, "search-dev")
	smuggled := []string{
		"Impersonate-User", "oidc:platform-admin", "Impersonate-Group", "system:masters", "Impersonate_User",
		"oidc:platform-admin",
		"X-Remote-User", "admin", "X-Remote-Group", "system:masters", "X-Forwarded-User", "admin", "Connection",
		"Impersonate-User",
		"Impersonate-Uid", "1", "Impersonate-Extra-Scopes", "all",
	}
	p.call(t, token, "GET", "/namespaces/payments/s3buckets", nil, smuggled...).want(t, http.StatusForbidden)
	p.call(t, token, "POST", "/namespaces/payments/s3buckets", bucketBody(unique("no"), ""), smuggled...).want(
		t, http.StatusForbidden)
	name := unique("mine")
	remove(t, "search", name)
	made := p.call(t, token, "POST", "/namespaces/search/s3buckets", bucketBody(name, ""), smuggled...).want(
		t, http.StatusCreated)
	if got := nested(made.body, "metadata", "annotations", "portico.dev/requested-by"); got != "oidc:search-dev" {
		t.Errorf("requested by %v, want oidc:search-dev", got)
	}
	me := p.call(t, token, "GET", "/me", nil, smuggled...).want(t, http.StatusOK)
	if me.body["username"] != "oidc:search-dev" || !reflect.DeepEqual(me.body["namespaces"], []any{"search"}) {
		t.Errorf("me is %v", me.body)
	}
}

func TestRESTTakesServiceAccountTokens(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	clients, err := kubernetes.NewForConfig(world.Admin)
	if err != nil {
		t.Fatal(err)
	}
	ns := team(t, admin(t))
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "ci"}}
	if _, err := clients.CoreV1().ServiceAccounts(ns).Create(t.Context(), sa, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The role is bound to the group of all ServiceAccounts of the namespace: the portal must pass groups too.
	bind := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "ci"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-developer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:serviceaccounts:" + ns}},
	}
	if _, err := clients.RbacV1().RoleBindings(ns).Create(t.Context(), bind, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	tokenFor := func(audiences ...string) string {
		r := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
		got, err := clients.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), "ci", r, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Status.Token
	}
	token, path := tokenFor(stack.Audience), "/namespaces/"+ns+"/s3buckets"
	await(t, "the binding to count", func() (bool, string) {
		a := p.call(t, token, "GET", path, nil)
		return a.status == http.StatusOK, a.raw
	})
	// Without portico-tools in the namespace, its tools can only read.
	if no := p.call(t, token, "POST", path, bucketBody("by-ci", "")).want(t, http.StatusForbidden); !strings.Contains(
		no.detail(), "portico-tools") {
		t.Errorf("the refusal says %q, not what to do", no.detail())
	}
	letToolsIn(t, clients, ns)
	await(t, "the tools to be let in", func() (bool, string) {
		a := p.call(t, token, "POST", path+"?dryRun=All", bucketBody("by-ci", ""))
		return a.status == http.StatusOK, a.raw
	})
	made := p.call(t, token, "POST", path, bucketBody("by-ci", "")).want(t, http.StatusCreated)
	if got := nested(made.body, "metadata", "annotations", "portico.dev/requested-by"); got != "system:serviceaccount:"+
		ns+":ci" {
		t.Errorf("requested by %v", got)
	}
	labels := map[string]any{"metadata": map[string]any{"labels": map[string]any{"by": "ci"}}}
	patched := p.call(t, token, "PATCH", path+"/by-ci", labels, "Content-Type", "application/merge-patch+json",
		"If-Match", made.header.Get("ETag")).
		want(t, http.StatusOK)
	if got := nested(patched.body, "metadata", "labels", "by"); got != "ci" {
		t.Errorf("patched to %v", got)
	}
	p.call(t, token, "DELETE", path+"/by-ci", nil).want(t, http.StatusAccepted)
	p.call(t, token, "GET", "/namespaces/payments/s3buckets", nil).want(t, http.StatusForbidden)
	p.call(t, tokenFor(), "GET", path, nil).want(t, http.StatusUnauthorized)          // for the API server
	p.call(t, tokenFor("another"), "GET", path, nil).want(t, http.StatusUnauthorized) // for somebody else
}

// TestAFloodOfForgedTokensRefusesNobody sends 2,013 forged tokens with the issuer of the API server, half of them with
// the ID of its key. Tools with new tokens are still accepted, and the API server is not asked about the forged ones.
func TestAFloodOfForgedTokensRefusesNobody(t *testing.T) {
	p := startPortal(t, "", sessionKeys(t))
	c, ns := admin(t), team(t, admin(t))
	const tools = 6
	for i := range tools {
		create(t, c, &corev1.ServiceAccount{ObjectMeta: meta1(ns, fmt.Sprint("ci-", i))})
	}
	create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: meta1(ns, "ci"), RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-viewer",
		},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "system:serviceaccounts:" + ns}},
	})
	path := "/namespaces/" + ns + "/s3buckets"
	await(t, "the binding to count", func() (bool, string) {
		a := p.call(t, accountToken(t, ns, "ci-0", stack.Audience), "GET", path, nil)
		return a.status == http.StatusOK, a.raw
	})
	parts := strings.Split(accountToken(t, ns, "ci-0", stack.Audience), ".")
	said, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	p.calls.take()
	honest := 0
	var flood sync.WaitGroup
	for n := range 2013 {
		header, signature := parts[0], base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%0256d", n))
		if n%2 == 0 { // with an unknown key ID
			header = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"alg":"RS256","kid":"k%d"}`, n))
		}
		claims := base64.RawURLEncoding.EncodeToString(append(said[:len(said)-1], fmt.Sprintf(`,"n":%d}`, n)...))
		flood.Go(func() {
			if a := p.call(t, header+"."+claims+"."+signature, "GET", path, nil); a.status != http.StatusUnauthorized {
				t.Errorf("a forged token: %s", a.raw)
			}
		})
		if n > 1880 && n%20 == 0 { // in the middle of the flood
			token := accountToken(t, ns, fmt.Sprint("ci-", n/20%tools), stack.Audience)
			p.call(t, token, "GET", path, nil).want(t, http.StatusOK)
			honest++
		}
	}
	flood.Wait()
	asked, fetched := 0, 0
	for _, c := range p.calls.take() {
		switch {
		case strings.HasSuffix(c.path, "/tokenreviews"):
			asked++
		case c.path == "/openid/v1/jwks":
			fetched++
		}
	}
	if asked != honest || honest < tools {
		t.Errorf("%d questions about tokens, for %d of tools", asked, honest)
	}
	t.Logf("the keys were fetched %d times", fetched)
}

// letToolsIn allows the ServiceAccounts of the namespace to write through the portal.
func letToolsIn(t *testing.T, k kubernetes.Interface, namespace string) {
	t.Helper()
	bind := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "portico-tools"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-tools"},
		Subjects: []rbacv1.Subject{
			{Kind: "ServiceAccount", Name: "portico-impersonator", Namespace: stack.Namespace},
		},
	}
	if _, err := k.RbacV1().RoleBindings(namespace).Create(t.Context(), bind, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestRESTNoticesALostRight(t *testing.T) {
	tiers.Long(t)
	p := startPortal(t, "", sessionKeys(t))
	clients, err := kubernetes.NewForConfig(world.Admin)
	if err != nil {
		t.Fatal(err)
	}
	ns := team(t, admin(t))
	bind := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "search"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-viewer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "oidc:team-search"}},
	}
	if _, err := clients.RbacV1().RoleBindings(ns).Create(t.Context(), bind, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, path := userToken(t, "search-dev"), "/namespaces/"+ns+"/s3buckets"
	becomes := func(status int) {
		t.Helper()
		await(t, fmt.Sprintf("status %d", status), func() (bool, string) {
			a := p.call(t, token, "GET", path, nil)
			return a.status == status, a.raw
		})
	}
	becomes(http.StatusOK)
	if err := clients.RbacV1().RoleBindings(ns).Delete(t.Context(), "search", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	becomes(http.StatusForbidden)
}
