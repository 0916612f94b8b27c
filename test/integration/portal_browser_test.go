//go:build integration

package integration

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// visit sends a request as a browser would; cookies are pairs of name and value.
func (r *replica) visit(t *testing.T, method, path string, cookies map[string]string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	a := send(t, req)
	a.raw = strings.ReplaceAll(a.raw, "<wbr>", "") // hostnames have one after each dot
	return a
}

// cookies returns all cookies that a response sets.
func (a answer) cookies() map[string]string {
	resp, all := http.Response{Header: a.header}, map[string]string{}
	for _, c := range resp.Cookies() {
		all[c.Name] = c.Value
	}
	return all
}

// session returns the session cookie that a response sets, or "" if it sets none or clears it.
func (a answer) session() string { return a.cookies()["__Host-portico"] }

// signIn signs in at the provider and returns the response, which sets the session cookie.
func (r *replica) signIn(t *testing.T, issuer *oidctest.Provider, claims oidctest.Claims) answer {
	t.Helper()
	start := r.visit(t, "GET", "/auth/login?return_to=%2Fteams%2Fpayments", nil).want(t, http.StatusSeeOther)
	code, state := issuer.Code(start.header.Get("Location"), claims)
	q := url.Values{"code": {code}, "state": {state}}
	in := r.visit(t, "GET", "/auth/callback?"+q.Encode(), start.cookies())
	secrets.Plant("a session", in.session())
	return in
}

func TestBrowserSignsInAndOutEverywhere(t *testing.T) {
	issuer, keys := oidctest.New(t), sessionKeys(t)
	one, other := startPortal(t, issuer.URL, keys), startPortal(t, issuer.URL, keys)
	in := one.signIn(t, issuer, oidctest.Claims{
		"preferred_username": "payments-dev", "name": "Payments",
		"groups": []string{"team-payments"},
	}).
		want(t, http.StatusSeeOther)
	if got := in.header.Get("Location"); got != "/teams/payments" {
		t.Errorf("back to %q", got)
	}
	session := map[string]string{"__Host-portico": in.session()}
	for _, r := range []*replica{one, other} {
		page := r.visit(t, "GET", "/teams/payments", session).want(t, http.StatusOK)
		if !strings.Contains(page.raw, "payments") {
			t.Error("the page does not name the team")
		}
		csp := page.header.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'; script-src 'self'") || page.header.Get("X-Request-Id") == "" {
			t.Errorf("headers: %v", page.header)
		}
	}
	one.visit(t, "GET", "/teams/search", session).want(t, http.StatusForbidden)
	// The REST API does not accept a cookie.
	one.visit(t, "GET", "/api/v1/me", session).want(t, http.StatusUnauthorized)

	for path, method := range map[string]string{
		"/auth/logout": "GET", "/teams/payments/catalog": "PUT",
		"/healthz": "PUT",
	} {
		want := map[string]string{"GET": "POST", "PUT": "GET"}[method]
		no := one.visit(t, method, path, session, "Origin", one.url).want(t, http.StatusMethodNotAllowed)
		if got := no.header.Get("Allow"); got != want {
			t.Errorf("%s %s: Allow %q, want %q", method, path, got, want)
		}
	}
	for _, path := range []string{"/teams/payments", "/teams/payments/live", "/healthz", "/api/docs"} {
		if got := one.visit(t, "HEAD", path, session).want(t, http.StatusOK); got.raw != "" ||
			got.header.Get("Content-Type") == "" {
			t.Errorf("HEAD %s: %q, %v", path, got.raw, got.header)
		}
	}
	one.visit(t, "POST", "/auth/logout", session).want(t, http.StatusForbidden) // without an Origin
	one.visit(t, "POST", "/auth/logout", session, "Origin", "https://evil.example.com").want(t, http.StatusForbidden)
	one.visit(t, "GET", "/teams/payments", session).want(t, http.StatusOK)

	out := one.visit(t, "POST", "/auth/logout", session, "Origin", one.url).want(t, http.StatusSeeOther)
	page := one.visit(t, "GET", out.header.Get("Location"), nil).want(t, http.StatusOK)
	if !strings.Contains(page.raw, issuer.URL+"/logout") {
		t.Error("the page after signing out has no link to the provider")
	}
	// A copy of the cookie is invalid after the sign-out, on every replica.
	one.visit(t, "GET", "/teams/payments", session).want(t, http.StatusSeeOther)
	await(t, "the other replica to know", func() (bool, string) {
		a := other.visit(t, "GET", "/teams/payments", session)
		return a.status == http.StatusSeeOther, a.raw
	})
	if strings.Contains(one.log.String(), session["__Host-portico"]) {
		t.Error("the session cookie is in the log")
	}
}

// TestTheProviderSignsOutEverywhere checks that the other replica ends the session as well when the provider notifies
// one.
func TestTheProviderSignsOutEverywhere(t *testing.T) {
	issuer, keys := oidctest.New(t), sessionKeys(t)
	one, other := startPortal(t, issuer.URL, keys), startPortal(t, issuer.URL, keys)
	for _, bySession := range []bool{true, false} {
		sub, sid := rand.Text(), rand.Text() // no earlier sign-out exists for them
		in := one.signIn(t, issuer, oidctest.Claims{
			"sub": sub, "sid": sid, "preferred_username": "payments-dev",
			"groups": []string{"team-payments"},
		}).
			want(t, http.StatusSeeOther)
		session := map[string]string{"__Host-portico": in.session()}
		other.visit(t, "GET", "/teams/payments", session).want(t, http.StatusOK)
		claims := oidctest.Claims{"sub": sub, "aud": stack.PortalClient, "events": map[string]any{
			"http://schemas.openid.net/event/backchannel-logout": map[string]any{},
		}}
		if bySession {
			claims["sub"], claims["sid"] = nil, sid
		}
		one.logout(t, "no token").want(t, http.StatusBadRequest)
		one.logout(t, issuer.Token(claims)).want(t, http.StatusOK)
		one.visit(t, "GET", "/teams/payments", session).want(t, http.StatusSeeOther)
		await(t, "the other replica to know", func() (bool, string) {
			a := other.visit(t, "GET", "/teams/payments", session)
			return a.status == http.StatusSeeOther, a.raw
		})
	}
}

// logout sends a back-channel logout as the provider does.
func (r *replica) logout(t *testing.T, token string) answer {
	t.Helper()
	form := strings.NewReader(url.Values{"logout_token": {token}}.Encode())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/auth/backchannel-logout", form)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return send(t, req)
}

func TestBrowserRefusesUsers(t *testing.T) {
	issuer := oidctest.New(t)
	p := startPortal(t, issuer.URL, sessionKeys(t))
	for _, c := range []struct {
		reason string
		claims oidctest.Claims
		says   string
	}{
		{"no username claim", oidctest.Claims{}, "preferred_username"},
		{"a username of the system", oidctest.Claims{"preferred_username": "system:admin"}, "Kubernetes"},
		{"a group of the system", oidctest.Claims{"preferred_username": "x", "groups": []string{"system:masters"}}, "Kubernetes"},
		{"a token for another audience", oidctest.Claims{"preferred_username": "x", "aud": stack.Audience}, "not meant for this portal"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			a := p.signIn(t, issuer, c.claims).want(t, http.StatusForbidden)
			if a.session() != "" {
				t.Error("there is a session all the same")
			}
			if !strings.Contains(a.raw, c.says) || !strings.Contains(a.header.Get("Content-Type"), "text/html") {
				t.Errorf("the page does not say %q: %s", c.says, a.raw)
			}
		})
	}
}
