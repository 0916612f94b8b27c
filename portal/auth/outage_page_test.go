package auth

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// isAway reports whether the page says that the provider does not answer, and retries at again.
func (p page) isAway(again string) bool {
	return p.StatusCode == http.StatusBadGateway && p.body == "The identity provider does not answer; again at "+
		again &&
		p.Header.Get("Refresh") == awayRetry+"; url="+again && p.Header.Get("Retry-After") == awayRetry
}

// TestAProviderThatIsAwayCostsNobodyAPage: without a refresh token the ID token expires during an outage. Open pages
// must not be redirected to the provider then, and resume when it is back.
func TestAProviderThatIsAwayCostsNobodyAPage(t *testing.T) {
	s, cookies := newSite(t), jar{}
	s.issuer.WithoutRefresh, s.life = true, Life{Idle: 3 * time.Hour, Max: 4 * time.Hour}
	s.signIn(t, cookies, alice)
	down := s.downOnce()
	down.Store(true)
	s.later(time.Hour)
	for _, script := range [][]string{{"Accept", "text/event-stream"}, {"HX-Request", "true"}} {
		if r := s.do("GET", "/x", cookies, script...); r.StatusCode != http.StatusFailedDependency {
			t.Errorf("%v is told %d", script, r.StatusCode)
		}
	}
	if r := s.do("GET", "/x?tab=yaml", cookies); !r.isAway("/x?tab=yaml") {
		t.Errorf("a page: %d to %q: %s", r.StatusCode, r.Header.Get("Location"), r.body)
	}
	if r := s.do("POST", "/x", cookies, "Origin", portalURL); r.StatusCode != http.StatusUnauthorized ||
		!strings.Contains(r.body, "ended") {
		t.Errorf("a form: %d %s", r.StatusCode, r.body)
	}
	if n := s.issuer.Fetches(settingsPath); n > 3 {
		t.Errorf("asked %d times within a moment", n)
	}
	down.Store(false)
	s.later(discoverAgain)
	if r := s.do("GET", "/x", cookies, "Accept", "text/event-stream"); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("the stream is told %d when the provider is back", r.StatusCode)
	}
	s.back(t, cookies, s.sent(t, s.do("GET", "/x", cookies)), alice)
	s.see(t, cookies, "oidc:alice oidc:dev")
}

// TestNobodyIsSentToAProviderThatIsAway, but to a page that redirects when it is back.
func TestNobodyIsSentToAProviderThatIsAway(t *testing.T) {
	s, cookies := signedIn(t)
	down := s.downOnce()
	for _, path := range []string{LoginPath + "?return_to=%2Fx", ConfirmPath + "?return_to=%2Fx"} {
		s.later(answeredFor)
		down.Store(true)
		if r := s.do("GET", path, cookies); !r.isAway(path) {
			t.Errorf("%s: %d to %q: %s", path, r.StatusCode, r.Header.Get("Location"), r.body)
		}
		down.Store(false)
		s.later(discoverAgain)
		if to := s.do("GET", path, cookies).Header.Get("Location"); !strings.HasPrefix(to, s.issuer.URL) {
			t.Errorf("%s leads to %q when the provider is back", path, to)
		}
	}
}

// TestAProviderIsAskedOnceWhetherItIsThere for all who sign in at the same time.
func TestAProviderIsAskedOnceWhetherItIsThere(t *testing.T) {
	s := newSite(t)
	for range 5 {
		s.do("GET", LoginPath, nil)
	}
	if n := s.issuer.Fetches(settingsPath); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
