//go:build integration

package integration

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/api/deploy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// actor is a column of the matrix: a caller with a token for programs and the cookie of a browser.
type actor struct {
	name    string
	claims  oidctest.Claims // of people, who can sign in
	token   string
	session string
	inTeam  bool // has a role in the team, and so knows that it exists
	member  bool // of its Team
}

// actors returns the columns. All that have a role in the team, except the tool, the deployer and the admin,
// are members of its Team.
func (m *matrix) actors() []actor {
	person := func(name, group string, inTeam bool) actor {
		claims := oidctest.Claims{"sub": name, "preferred_username": name, "groups": []string{group}}
		return actor{
			name, claims, m.tokenOf(claims, nil), m.portal.signIn(m.t, m.issuer, claims).session(), inTeam,
			inTeam && group != "platform-admins",
		}
	}
	developer := person("developer", m.group(v1alpha1.TeamDeveloper), true)
	return []actor{
		{name: "anonymous"},
		{name: "expired", token: m.tokenOf(developer.claims, oidctest.Claims{"exp": 1}), session: m.expiredSession(developer.claims)},
		{name: "wrong audience", token: m.tokenOf(developer.claims, oidctest.Claims{"aud": "another"}), session: m.foreignSession(developer.claims)},
		{name: "ServiceAccount", token: m.serviceAccount(), inTeam: true},
		{name: "deployer", token: m.deployer(), inTeam: true},
		person("developer of another team", "team-search", false),
		person("viewer", m.group(v1alpha1.TeamViewer), true),
		developer,
		person("owner", m.group(v1alpha1.TeamOwner), true),
		person("admin", "platform-admins", true),
	}
}

func (m *matrix) bindTo(role string, who rbacv1.Subject) {
	m.t.Helper()
	create(m.t, m.c, &rbacv1.RoleBinding{
		ObjectMeta: meta1(m.ns, unique("matrix")), Subjects: []rbacv1.Subject{who},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	})
}

// tokenOf returns a token for the REST API with the given claims, overridden by over.
func (m *matrix) tokenOf(claims, over oidctest.Claims) string {
	with := oidctest.Claims{"aud": stack.Audience}
	maps.Copy(with, claims)
	maps.Copy(with, over)
	return m.issuer.Token(with)
}

// expiredSession returns the cookie of a session that is older than the maximum.
func (m *matrix) expiredSession(claims oidctest.Claims) string {
	m.t.Helper()
	return m.sessionAt(claims, m.keys, clocktesting.NewFakePassiveClock(time.Now().Add(-25*time.Hour)))
}

// foreignSession returns the cookie of another installation, sealed with other keys.
func (m *matrix) foreignSession(claims oidctest.Claims) string {
	m.t.Helper()
	return m.sessionAt(claims, sessionKeys(m.t), clock.RealClock{})
}

// sessionAt signs in at another replica. It calls the handler directly, because for a late clock the deadlines of
// network connections would have passed.
func (m *matrix) sessionAt(claims oidctest.Claims, keys string, now clock.PassiveClock) string {
	m.t.Helper()
	p := startPortalOf(m.t, m.issuer.URL, keys, func(parts *portal.Parts) { parts.Clock = now })
	get := func(path string, cookies map[string]string) answer {
		req := httptest.NewRequestWithContext(m.t.Context(), http.MethodGet, path, http.NoBody)
		for name, value := range cookies {
			req.AddCookie(&http.Cookie{Name: name, Value: value})
		}
		w := httptest.NewRecorder()
		p.handler.ServeHTTP(w, req)
		return answer{status: w.Code, header: w.Header(), raw: w.Body.String()}.want(m.t, http.StatusSeeOther)
	}
	start := get("/auth/login", nil)
	code, state := m.issuer.Code(start.header.Get("Location"), claims)
	return get("/auth/callback?"+url.Values{"code": {code}, "state": {state}}.Encode(), start.cookies()).session()
}

// serviceAccount returns the token of a tool of the team, a ServiceAccount that is bound as a developer and that
// admission lets in.
func (m *matrix) serviceAccount() string {
	m.t.Helper()
	k, err := kubernetes.NewForConfig(world.Admin)
	if err != nil {
		m.t.Fatal(err)
	}
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "ci"}}
	if _, err := k.CoreV1().ServiceAccounts(m.ns).Create(m.t.Context(), sa, metav1.CreateOptions{}); err != nil {
		m.t.Fatal(err)
	}
	m.bindTo("portico-developer", rbacv1.Subject{Kind: "ServiceAccount", Namespace: m.ns, Name: "ci"})
	letToolsIn(m.t, k, m.ns)
	return accountToken(m.t, m.ns, "ci", stack.Audience)
}

// deployer returns the token of a deployer of the team, with the account and the role that the operator gives it.
func (m *matrix) deployer() string {
	m.t.Helper()
	name := deploy.Account(m.ns, "matrix")
	create(m.t, m.c, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: name}})
	m.bindTo("portico-developer", rbacv1.Subject{Kind: "ServiceAccount", Namespace: deploy.Namespace, Name: name})
	var own struct {
		Audiences []string `json:"aud"` // of the API server
	}
	payload, err := base64.RawURLEncoding.DecodeString(
		strings.Split(accountToken(m.t, deploy.Namespace, name), ".")[1])
	if err == nil {
		err = json.Unmarshal(payload, &own)
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return accountToken(m.t, deploy.Namespace, name, append(own.Audiences, stack.Audience)...)
}

// entitled waits until the roles take effect.
func (m *matrix) entitled(all []actor) {
	m.t.Helper()
	for _, a := range all {
		if a.inTeam {
			await(m.t, "the rights of "+a.name, func() (bool, string) {
				got := m.portal.call(m.t, a.token, "GET", "/namespaces/"+m.ns+"/s3buckets", nil)
				return got.status == http.StatusOK, got.raw
			})
		}
	}
	m.entitledTo(m.things[v1alpha1.KindTeam], all)
	m.entitledTo(m.spare, all)
	await(m.t, "the tools to be let in", func() (bool, string) {
		got := m.portal.call(m.t, all[3].token, "POST", "/namespaces/"+m.ns+"/s3buckets?dryRun=All",
			bucketBody("by-ci", ""))
		return got.status == http.StatusOK, got.raw
	})
}
