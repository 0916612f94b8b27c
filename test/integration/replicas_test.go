//go:build integration

package integration

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/portal/limit"
)

// stream opens a page's stream and reads the first line of the snapshot.
func (r *replica) stream(t *testing.T, path string, session map[string]string) *bufio.Reader {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", r.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	for name, value := range session {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	resp, err := plainly().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewReader(resp.Body)
	if _, err := lines.ReadString('\n'); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d, no snapshot: %v", resp.StatusCode, err)
	}
	return lines
}

// Behind a proxy that sends each request to any replica, no request may depend on an earlier one.
func TestReplicasNeedNoAffinity(t *testing.T) {
	issuer, keys := oidctest.New(t), sessionKeys(t)
	limited := func(p *portal.Parts) { p.Rate = limit.Rate{PerSecond: 0.001, Burst: 5} }
	one, other := startPortalOf(t, issuer.URL, keys, limited), startPortalOf(t, issuer.URL, keys, limited)
	// A sign-in starts on one replica and ends on the other.
	start := one.visit(t, "GET", "/auth/login?return_to=%2Fteams%2Fpayments", nil).want(t, http.StatusSeeOther)
	code, state := issuer.Code(start.header.Get("Location"),
		oidctest.Claims{"preferred_username": "payments-dev", "groups": []string{"team-payments"}})
	in := other.visit(t, "GET", "/auth/callback?"+url.Values{"code": {code}, "state": {state}}.Encode(),
		start.cookies()).want(t, http.StatusSeeOther)
	session := map[string]string{"__Host-portico": in.session()}
	one.visit(t, "GET", "/teams/payments", session).want(t, http.StatusOK)
	// Each replica has its own rate limit.
	for range 4 {
		one.visit(t, "GET", "/teams/payments/catalog", session).want(t, http.StatusOK)
	}
	one.visit(t, "GET", "/teams/payments/catalog", session).want(t, http.StatusTooManyRequests)
	other.visit(t, "GET", "/teams/payments/catalog", session).want(t, http.StatusOK)
	// Signing out on one replica ends the stream on the other, and the session on both.
	lines := other.stream(t, "/teams/payments/live", session)
	one.visit(t, "POST", "/auth/logout", session, "Origin", one.url).want(t, http.StatusSeeOther)
	var err error
	for err == nil {
		_, err = lines.ReadString('\n')
	}
	if !strings.Contains(err.Error(), "EOF") {
		t.Errorf("the stream went on: %v", err)
	}
	other.visit(t, "GET", "/teams/payments", session).want(t, http.StatusSeeOther)
}
