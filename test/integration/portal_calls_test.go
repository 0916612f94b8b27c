//go:build integration

package integration

import (
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// calls records the requests of a portal or an operator to Kubernetes.
type calls struct {
	mu   sync.Mutex
	all  []call
	away atomic.Bool // no request is answered
}

var errAway = errors.New("no answer from Kubernetes")

type call struct{ method, path, query string }

// noting returns a transport that records the requests.
func (c *calls) noting(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		c.mu.Lock()
		c.all = append(c.all, call{r.Method, r.URL.Path, r.URL.RawQuery})
		c.mu.Unlock()
		if c.away.Load() {
			return nil, errAway
		}
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// take returns the calls since its previous call.
func (c *calls) take() []call {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.all
	c.all = nil
	return all
}

// isReview reports whether the call is an access review.
func (c call) isReview() bool {
	return c.method == http.MethodPost && path.Base(c.path) == "subjectaccessreviews"
}

// isWatch reports whether the call starts a watch, which no page waits for.
func (c call) isWatch() bool { return strings.Contains(c.query, "watch=true") }

func TestPagesAskKubernetesForRightsAlone(t *testing.T) {
	issuer := oidctest.New(t)
	p := startPortal(t, issuer.URL, sessionKeys(t))
	name := unique("seen")
	create(t, admin(t), newBucket("payments", name))
	remove(t, "payments", name)
	group := unique("developers") // others also see objects of other tests, and each namespace costs reviews
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: group},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "portico-developer"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "oidc:" + group}},
	}
	create(t, admin(t), binding)
	discard(t, binding)
	in := p.signIn(t, issuer, oidctest.Claims{"preferred_username": group, "groups": []string{group}}).want(
		t, http.StatusSeeOther)
	session := map[string]string{"__Host-portico": in.session()}
	page := "/teams/payments/s3buckets/" + name
	await(t, "the bucket in the portal's cache", func() (bool, string) {
		return strings.Contains(p.visit(t, http.MethodGet, "/teams/payments?q="+name, session).raw, page), "not listed"
	})
	app := "/teams/payments/webapps/" + name
	shop := &v1alpha1.WebApp{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: name}}
	shop.Spec.Image = "registry.example.com/shop:1.0.0"
	create(t, admin(t), shop)
	discard(t, shop)
	pod := app + "/pods/" + podOfApp(t, name, true).Name
	p.calls.take()
	await(t, "the page of the Pod", func() (bool, string) {
		got := p.visit(t, http.MethodGet, pod, session)
		return got.status == http.StatusOK, got.raw
	})
	if lists := slices.DeleteFunc(p.calls.take(), func(c call) bool {
		return path.Base(c.path) != "events" || c.isWatch()
	}); len(lists) > 0 {
		t.Errorf("the first page of a Pod asks for %v", lists)
	}
	boss := p.signIn(t, issuer, oidctest.Claims{"preferred_username": "platform-admin", "groups": []string{
		"platform-admins",
	}}).want(t, http.StatusSeeOther)
	overseer := map[string]string{"__Host-portico": boss.session()}
	// These are the access reviews of a page in addition to those of the pages before it, which are cached for
	// accessTTL; the list has been requested above.
	for _, c := range []struct {
		who     map[string]string
		path    string
		reviews int
	}{
		{session, "/teams/payments", 3},
		{session, "/teams/-", 3},
		{session, "/teams", 5},
		{overseer, "/teams/-", 12},
		{overseer, "/teams", 4}, // one for each kind of the platform
		{session, page, 6},
		{session, page + "?tab=events", 3},
		{session, page + "?tab=conditions", 0},
		{session, page + "?tab=activity", 0},
		{session, page + "?tab=objects", 0},
		{session, page + "?tab=yaml", 3},
		{session, page + "/edit", 3},
		{session, page + "/delete", 3},
		{session, app, 6},
		{session, app + "/restart", 3},
		{session, pod, 5},
		{session, pod, 0},
		{session, "/teams/payments/catalog", 3},
		{session, "/teams/payments/about", 5},
		{session, "/teams/payments/new/s3buckets", 3},
		{session, "/teams/payments/new/webapps", 3},
		{overseer, "/admin", 20},
		{overseer, "/admin/pool", 3},
		{overseer, "/admin/claims", 3},
		{overseer, "/admin/grants", 3},
		{overseer, "/admin/quotas", 3},
		{overseer, "/admin/calls", 3},
	} {
		t.Run(c.path, func(t *testing.T) {
			p.calls.take()
			p.visit(t, http.MethodGet, c.path, c.who).want(t, http.StatusOK)
			reviews := 0
			others := slices.DeleteFunc(p.calls.take(), func(c call) bool {
				if c.isReview() {
					reviews++
				}
				// The Lease has the operator's address, and the impersonator's token is renewed every eight minutes; no
				// page causes these requests.
				return c.isReview() || c.isWatch() || path.Base(c.path) == "portico-operator" ||
					strings.HasSuffix(c.path, "/portico-impersonator/token")
			})
			if len(others) > 0 {
				t.Errorf("it asks Kubernetes for %v", others)
			}
			if reviews > c.reviews {
				t.Errorf("%d access reviews, want %d at most", reviews, c.reviews)
			}
		})
	}
}
