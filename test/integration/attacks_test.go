//go:build integration

package integration

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// target is a portal under attack, and a developer of payments who uses it.
type target struct {
	*replica
	t       *testing.T
	issuer  *oidctest.Provider
	claims  oidctest.Claims
	session map[string]string
}

func newTarget(t *testing.T) *target {
	t.Helper()
	issuer := oidctest.New(t)
	g := &target{replica: startPortal(t, issuer.URL, sessionKeys(t)), t: t, issuer: issuer}
	g.claims = oidctest.Claims{
		"sub": "dev", "preferred_username": "payments-dev", "groups": []string{"team-payments"},
		"aud": stack.Audience,
	}
	g.session = g.signedIn()
	return g
}

// signedIn returns the cookies of a new session.
func (g *target) signedIn() map[string]string {
	g.t.Helper()
	in := g.signIn(g.t, g.issuer, oidctest.Claims{
		"sub": "dev", "preferred_username": "payments-dev",
		"groups": []string{"team-payments"},
	}).
		want(g.t, http.StatusSeeOther)
	return map[string]string{"__Host-portico": in.session()}
}

// TestRedirectsStayHere checks that links with any address of an attacker's redirect to the portal only.
func TestRedirectsStayHere(t *testing.T) {
	g := newTarget(t)
	hostile := []string{
		"//evil.example", "///evil.example", "////evil.example/%2e%2e", `/\evil.example`, `\/evil.example`,
		`\\evil.example`, "/%5Cevil.example", "/%5cevil.example",
		"/%2Fevil.example", "/%2f%2fevil.example", "%2F%2Fevil.example", "https://evil.example", "https:evil.example",
		"http:/\\evil.example", "HTTPS://evil.example",
		"javascript:alert(1)", "data:text/html,x", "/\t/evil.example", "/\n/evil.example", "/\r\n\r\n<script>",
		"/%09/evil.example", "/%0d%0aSet-Cookie:x=1",
		" //evil.example", "\x00//evil.example", "/.//evil.example", "/..//evil.example", "/teams/..//evil.example",
		"/./\\evil.example", "@evil.example", "/@evil.example",
		":80@evil.example", "//127.0.0.1@evil.example", "//evil.example#" + g.url, g.url + ".evil.example",
		g.url + "@evil.example", "/auth/logout", "/auth/login?return_to=//evil.example",
		"?return_to=//evil.example", "/／evil.example", "/⁄evil.example", "//evil。example", "/;@evil.example",
		"/teams?x=//evil.example",
	}
	count := 0
	stays := func(way string, a answer) {
		count++
		at := a.header.Get("Location")
		to, err := url.Parse(at)
		// Browsers treat \ as /, and drop tabs and newlines.
		plain := strings.NewReplacer(`\`, "/", "\t", "", "\n", "", "\r", "").Replace(at)
		if err != nil || to.IsAbs() || to.Host != "" {
			t.Errorf("%s leads to %q, %v, want a path", way, at, err)
		}
		ours := strings.HasPrefix(plain, "/") && !strings.HasPrefix(plain, "//")
		if at != "" && !ours {
			t.Errorf("%s leads to %q, want a path of the portal", way, at)
		}
		if decoded, _ := url.PathUnescape(plain); strings.HasPrefix(decoded, "//") ||
			strings.HasPrefix(strings.ReplaceAll(decoded, `\`, "/"), "//") {
			t.Errorf("%s leads to %q, which a proxy may decode", way, at)
		}
	}
	for _, to := range hostile {
		q := url.QueryEscape(to)
		start := g.visit(t, "GET", "/auth/login?return_to="+q, nil).want(t, http.StatusSeeOther)
		code, state := g.issuer.Code(start.header.Get("Location"), g.claimsOfBrowser())
		back := g.visit(t, "GET", "/auth/callback?"+url.Values{"code": {code}, "state": {state}}.Encode(),
			start.cookies())
		stays("signing in to come back to "+to, back.want(t, http.StatusSeeOther))
		stays("the page for signing in, while signed in, with "+to,
			g.visit(t, "GET", "/auth/sign-in?return_to="+q, g.session))
		stays("choosing the team "+to, g.visit(t, "GET", "/switch?team="+q, g.session))
		if strings.Contains(g.visit(t, "GET", "/auth/sign-in?return_to="+q, nil).raw, `href="//`) {
			t.Errorf("the page for signing in links to %q", to)
		}
	}
	for _, path := range []string{
		"//evil.example", "//evil.example/%2e%2e/", "/api/docs//evil.example",
		"/docs//evil.example", "/teams//evil.example", "/%5C%5Cevil.example", "/admin//evil.example/..",
	} {
		stays("the path "+path, g.visit(t, "GET", path, g.session))
		stays("the path "+path+", signed out", g.visit(t, "GET", path, nil))
	}
	t.Logf("%d bad inputs", count)
}

func (g *target) claimsOfBrowser() oidctest.Claims {
	return oidctest.Claims{"sub": "dev", "preferred_username": "payments-dev", "groups": []string{"team-payments"}}
}

// TestWritesOfOtherSitesAreRefused checks writes from other origins: tenants own hosts next to the portal's, so the
// same site is not trusted.
func TestWritesOfOtherSitesAreRefused(t *testing.T) {
	g := newTarget(t)
	name := unique("csrf")
	b := newBucket("payments", name)
	create(t, admin(t), b)
	discard(t, b)
	at := "/teams/payments/s3buckets/" + name
	await(t, "the portal to know the bucket", func() (bool, string) {
		a := g.visit(t, "GET", at, g.session)
		return a.status == http.StatusOK, a.raw
	})
	host := strings.TrimPrefix(g.url, "http://")
	port := host[strings.LastIndexByte(host, ':'):]
	count := 0
	for _, path := range []string{
		at + "/pause", at + "/delete", at + "/edit", "/teams/payments/new/s3buckets",
		"/auth/logout",
	} {
		for _, headers := range [][]string{
			{},
			{"Origin", "null"},
			{"Origin", "https://evil.example"},
			{"Origin", "http://evil." + host},
			{"Origin", "http://shop.payments.localhost" + port},
			{"Origin", "https://" + host},
			{"Origin", "http://127.0.0.1"},
			{"Origin", g.url + ".evil.example"},
			{"Origin", g.url + "@evil.example"},
			{"Origin", g.url + "/"},
			{"Origin", strings.ToUpper(g.url)},
			{"Origin", "http://localhost" + port},
			{"Origin", g.url + ", https://evil.example"},
			{"Origin", " null"},
			{"Sec-Fetch-Site", "same-site"},
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "none"},
			{"Referer", g.url + at},
			{"X-Forwarded-Host", "evil.example", "Origin", "https://evil.example"},
			{"X-Requested-With", "XMLHttpRequest"},
			{"HX-Request", "true"},
			{"Content-Type", "text/plain"},
			{"Origin", g.url, "Sec-Fetch-Site", "cross-site", "Cookie", "__Host-portico=x"},
		} {
			count++
			a := g.visit(t, "POST", path, g.session, headers...)
			if a.status != http.StatusForbidden && a.status != http.StatusUnauthorized {
				t.Errorf("POST %s with %q: %d", path, headers, a.status)
			}
		}
	}
	for _, headers := range [][]string{
		{"X-HTTP-Method-Override", "DELETE"},
		{"X-HTTP-Method", "POST"},
		{"X-Method-Override", "POST"},
	} {
		count++
		g.visit(t, "GET", at+"/pause", g.session, append(headers, "Origin", "https://evil.example")...)
	}
	got := newBucket("payments", name)
	if err := admin(t).Get(t.Context(), keyOf(got), got); err != nil || got.Annotations["portico.dev/paused"] != "" ||
		got.DeletionTimestamp != nil {
		t.Errorf("another site changed it: %v, %v", got.Annotations, err)
	}
	g.visit(t, "GET", at, g.session).want(t, http.StatusOK) // and it has not signed anybody out
	t.Logf("%d bad inputs", count)
}

// TestTossedCookiesOpenNothing checks cookies from a host next to the portal's, which can set cookies for the parent
// domain and so for the portal, but none whose name begins with __Host-. They must not count, nor displace the
// portal's own.
func TestTossedCookiesOpenNothing(t *testing.T) {
	g := newTarget(t)
	sealed := g.session["__Host-portico"]
	count := 0
	for _, cookies := range []string{
		"portico=" + sealed, "__host-portico=" + sealed, "__HOST-PORTICO=" + sealed, "__Secure-portico=" + sealed,
		"__Host-portico\u00a0=" + sealed,
		"\u00a0__Host-portico=" + sealed, "\u2000__Host-portico=" + sealed, "\x85__Host-portico=" + sealed,
		"_Host-portico=" + sealed, "__Host-portico-groups-1=" + sealed, "__Host-portico-login=" + sealed,
		"__Host-portico=" + sealed + "x", "__Host-portico=" + sealed[1:], "__Host-portico=" + strings.ToUpper(sealed),
		"__Host-portico=",
		"__Host-portico=" + sealed + "; __Host-portico=other", "=__Host-portico=" + sealed,
		"$Version=1; $Path=/; portico=" + sealed,
		"__Host-portico%3D" + sealed, "x=1, __Host-portico=" + sealed,
	} {
		count++
		a := g.visit(t, "GET", "/teams/payments", nil, "Cookie", cookies)
		if a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/auth/") {
			t.Errorf("%.40q opens the page: %d", cookies, a.status)
		}
		// a browser keeps one cookie with a name
		if !strings.HasPrefix(cookies, "__Host-portico=") && !strings.Contains(cookies, " __Host-portico=") {
			count++
			g.visit(t, "GET", "/teams/payments", nil, "Cookie", cookies+"; __Host-portico="+sealed).want(
				t, http.StatusOK)
		}
	}
	flood := strings.Repeat("a=1; ", 4000) + "__Host-portico=" + sealed
	count++
	if a := g.visit(t, "GET", "/teams/payments", nil, "Cookie", flood); a.status >= 500 {
		t.Errorf("a flood of cookies is answered %d", a.status)
	}
	t.Logf("%d bad inputs", count)
}
