package auth

import (
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// refreshedTo sets the provider's response to refreshes.
func (s *site) refreshedTo(claims oidctest.Claims, status int) {
	s.issuer.Refreshed = func() (oidctest.Claims, int) {
		all := oidctest.Claims{"aud": "portal", "preferred_username": "alice"}
		maps.Copy(all, claims)
		return all, status
	}
}

func (s *site) later(d time.Duration) { s.clock.SetTime(s.clock.Now().Add(d)) }

func TestRefreshSeesNewGroups(t *testing.T) {
	s, cookies := signedIn(t)
	s.refreshedTo(oidctest.Claims{"groups": []string{"ops"}}, http.StatusOK)
	s.later(checkEvery - time.Second)
	s.see(t, cookies, "oidc:alice oidc:dev")
	s.later(time.Second)
	s.see(t, cookies, "oidc:alice oidc:ops")
	s.see(t, cookies, "oidc:alice oidc:ops")
	if n := s.issuer.Refreshes(); n != 1 {
		t.Errorf("%d refreshes", n)
	}
	s.later(checkEvery)
	s.see(t, cookies, "oidc:alice oidc:ops") // with the new refresh token
	if n := s.issuer.Refreshes(); n != 2 {
		t.Errorf("%d refreshes", n)
	}
}

func TestRefreshesOfOnePageAreOne(t *testing.T) {
	s, cookies := signedIn(t)
	s.refreshedTo(oidctest.Claims{"groups": []string{"ops"}}, http.StatusOK)
	s.later(checkEvery)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			// Each with the old cookie, like a page's concurrent requests.
			if r := s.do("GET", "/x", jar{sessionCookie: cookies[sessionCookie]}); r.StatusCode != http.StatusOK {
				t.Errorf("status %d", r.StatusCode)
			}
		})
	}
	wg.Wait()
	s.see(t, jar{sessionCookie: cookies[sessionCookie]}, "oidc:alice oidc:ops") // and one that comes late
	if n := s.issuer.Refreshes(); n != 1 {
		t.Errorf("%d refreshes of a token that may be used once", n)
	}
}

func TestRefreshEndsSessions(t *testing.T) {
	for _, c := range []struct {
		reason string
		claims oidctest.Claims
		status int
		code   int // 303 to sign in, 403 with a page
	}{
		{"another user", oidctest.Claims{"sub": "other"}, 200, 303},
		{"another username", oidctest.Claims{"preferred_username": "bob"}, 200, 303},
		{"a group of the system", oidctest.Claims{"groups": []string{"system:masters"}}, 200, 403},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s, cookies := signedIn(t)
			s.refreshedTo(c.claims, c.status)
			s.later(checkEvery)
			if r := s.do("GET", "/x", cookies); r.StatusCode != c.code || cookies[sessionCookie] != "" {
				t.Errorf("status %d, want %d; cookies %v", r.StatusCode, c.code, cookies)
			}
		})
	}
}

func TestSessionsOutliveAProviderThatIsDown(t *testing.T) {
	s, cookies := signedIn(t)
	s.answers(http.StatusServiceUnavailable, nil)
	before := len(s.issuer.Asked())
	s.later(checkEvery)
	s.see(t, cookies, "oidc:alice oidc:dev")
	s.see(t, cookies, "oidc:alice oidc:dev")
	if n := len(s.issuer.Asked()) - before; n > 2 { // the oauth2 package retries once by itself
		t.Errorf("%d refreshes within seconds", n)
	}
	s.later(checkGrace - checkEvery)
	if r := s.do("GET", "/x?q=1", cookies); !r.isAway("/x?q=1") || cookies[sessionCookie] == "" {
		t.Errorf("nobody has said for long who it is: %d %s, cookies %v", r.StatusCode, r.body, cookies)
	}
	if r := s.do("GET", "/x", cookies, "HX-Request", "true"); r.StatusCode != http.StatusFailedDependency {
		t.Errorf("the script is told %d", r.StatusCode)
	}
	if r := s.do("POST", "/x", cookies, "Origin", portalURL, "Referer", portalURL+"/new"); !r.isAway(
		SignInPath + "?return_to=%2Fnew") {
		t.Errorf("a form: %d %s", r.StatusCode, r.body)
	}
	s.issuer.Refusal = nil
	s.refreshedTo(oidctest.Claims{"groups": []string{"ops"}}, http.StatusOK)
	s.later(retryAfter + time.Second)
	s.see(t, cookies, "oidc:alice oidc:ops")
}
