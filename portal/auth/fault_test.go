package auth

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// TestATokenThatIsNotGoodEndsNoSession: it is retried with a silent sign-in.
func TestATokenThatIsNotGoodEndsNoSession(t *testing.T) {
	for what, claims := range map[string]oidctest.Claims{
		"for another audience": {"aud": "other"}, "of another issuer": {"iss": "https://other.example"}, "ended": {"exp": 1},
	} {
		t.Run(what, func(t *testing.T) {
			s, cookies := signedIn(t)
			s.refreshedTo(claims, http.StatusOK)
			s.later(checkEvery)
			s.back(t, cookies, s.sent(t, s.do("GET", "/x", cookies)), alice)
			s.see(t, cookies, "oidc:alice oidc:dev")
		})
	}
}

// TestKeysMayChangeAtAnyMoment: tokens of strangers with unknown keys have just caused a fetch of the keys. A renewal
// and a sign-in cause another fetch, and strangers do not.
func TestKeysMayChangeAtAnyMoment(t *testing.T) {
	g := newGate(t)
	cookies := jar{}
	g.signIn(t, cookies, alice)
	g.refreshedTo(oidctest.Claims{"groups": []string{"ops"}}, http.StatusOK)
	g.later(checkEvery)
	junk := func() {
		stranger := withKey(g.issuer.Token(oidctest.Claims{"aud": "api"}), "x")
		if w := g.call("Bearer " + stranger); w.Code != http.StatusUnauthorized {
			t.Fatalf("a stranger: %d", w.Code)
		}
	}
	if _, err := g.Browser.provider.verify(t.Context(), withKey(g.issuer.Token(nil), "x"), []string{
		"api",
	}); err == nil {
		t.Fatal("a stranger's token is good")
	}
	junk()
	before := g.issuer.Fetches(oidctest.KeysPath)
	g.issuer.NewKey()
	g.later(2 * time.Second)
	for range 20 {
		_, _ = g.Browser.provider.verify(t.Context(), withKey(g.issuer.Token(nil), "x"), []string{"api"}) // stranger
	}
	if n := g.issuer.Fetches(oidctest.KeysPath); n != before {
		t.Errorf("strangers had the keys fetched %d times more", n-before)
	}
	g.see(t, cookies, "oidc:alice oidc:ops")
	g.issuer.NewKey()
	g.later(2 * time.Second)
	if r := g.signIn(t, jar{}, alice); r.StatusCode != http.StatusSeeOther {
		t.Errorf("a sign-in: %d %s", r.StatusCode, r.body)
	}
	if n := g.issuer.Fetches(oidctest.KeysPath); n > before+2 {
		t.Errorf("fetched %d times for two tokens", n-before)
	}
}

// TestAKeyThatIsNotPublishedIsNamed as the reason, and not the audience.
func TestAKeyThatIsNotPublishedIsNamed(t *testing.T) {
	s := newSite(t)
	s.Browser.provider.cfg.IssuerURL = s.issuer.URL
	s.issuer.Settings = map[string]any{"jwks_uri": oidctest.New(t).URL + oidctest.KeysPath}
	if r := s.signIn(t, jar{}, alice); r.StatusCode != http.StatusForbidden ||
		!strings.Contains(r.body, "a key that it does not publish") {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
}

// TestTheProvidersClockMayBeOff: tokens that last a minute arrive 90 seconds after they were issued, by the portal's
// clock.
func TestTheProvidersClockMayBeOff(t *testing.T) {
	for _, c := range []struct {
		behind  time.Duration
		refresh bool
		in      bool
	}{
		{90 * time.Second, true, true},
		{90 * time.Second, false, true},
		{-90 * time.Second, false, true},
		{identity.IssuedSlack + 2*time.Minute, true, false},
	} {
		s, cookies := newSite(t), jar{}
		s.issuer.WithoutRefresh = !c.refresh
		s.issuer.Now = func() time.Time { return s.clock.Now().Add(-c.behind) }
		claims := func() oidctest.Claims {
			now := s.issuer.Now().Unix()
			return oidctest.Claims{
				"preferred_username": "alice", "groups": []string{"dev"}, "iat": now,
				"exp": now + 60,
			}
		}
		r := s.signIn(t, cookies, claims())
		if !c.in {
			if r.StatusCode != http.StatusForbidden || !strings.Contains(r.body, "had ended when it came") {
				t.Errorf("%s behind: %d %s", c.behind, r.StatusCode, r.body)
			}
			continue
		}
		s.see(t, cookies, "oidc:alice oidc:dev")
		s.later(59 * time.Second) // as long as the token lasts
		s.see(t, cookies, "oidc:alice oidc:dev")
		if c.refresh {
			s.refreshedTo(claims(), http.StatusOK)
			s.later(checkEvery)
			s.refreshedTo(claims(), http.StatusOK)
			s.see(t, cookies, "oidc:alice oidc:dev")
			continue
		}
		s.later(2 * time.Second)
		s.back(t, cookies, s.sent(t, s.do("GET", "/x", cookies)), claims())
		s.see(t, cookies, "oidc:alice oidc:dev")
	}
}
