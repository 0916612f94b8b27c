package auth

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// lapsed returns a session that the provider no longer renews, as when its user signed in with another browser and the
// provider keeps one refresh token per user.
func lapsed(t *testing.T) (*site, jar) {
	t.Helper()
	s, cookies := signedIn(t)
	s.refreshedTo(nil, http.StatusBadRequest)
	s.later(checkEvery)
	return s, cookies
}

// sent returns the URL of the redirect for a silent sign-in; it fails if the response is another one.
func (s *site) sent(t *testing.T, r page) (to string) {
	t.Helper()
	to = r.Header.Get("Location")
	if r.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to, s.issuer.URL) ||
		!strings.Contains(to, "prompt=none") {
		t.Fatalf("%d to %q, not silently to the provider", r.StatusCode, to)
	}
	return to
}

// back returns from the provider with these claims of the user.
func (s *site) back(t *testing.T, cookies jar, to string, claims oidctest.Claims) page {
	t.Helper()
	code, state := s.issuer.Code(to, claims)
	return s.do("GET", CallbackPath+"?"+url.Values{"code": {code}, "state": {state}}.Encode(), cookies)
}

func TestALapsedSessionGoesOnWithoutAWord(t *testing.T) {
	s, cookies := lapsed(t)
	before := maps.Clone(cookies)
	r := s.do("GET", "/x?tab=yaml", cookies)
	changed := maps.Clone(alice)
	changed["groups"] = []string{"ops"}
	if r := s.back(t, cookies, s.sent(t, r), changed); r.StatusCode != http.StatusSeeOther ||
		r.Header.Get("Location") != "/x?tab=yaml" {
		t.Fatalf("back: %d to %q: %s", r.StatusCode, r.Header.Get("Location"), r.body)
	}
	s.see(t, cookies, "oidc:alice oidc:ops")
	if len(cookies) != 1 {
		t.Errorf("left are the cookies %v", cookies)
	}
	// It is the same session: a copy of the old cookie is signed out with it.
	s.do("POST", LogoutPath, cookies, "Origin", portalURL)
	if to := s.do("GET", "/x", before).Header.Get("Location"); !strings.Contains(to, "why=signed-out") {
		t.Errorf("the old cookie leads to %q", to)
	}
}

func TestALapsedSessionIsKeptUntilItsPageAsks(t *testing.T) {
	s, cookies := lapsed(t)
	for _, headers := range [][]string{{"HX-Request", "true"}, {"Accept", "text/event-stream"}} {
		if r := s.do("GET", "/x", cookies, headers...); r.StatusCode != http.StatusUnauthorized ||
			cookies[sessionCookie] == "" {
			t.Errorf("%v: %d, cookies %v", headers, r.StatusCode, cookies)
		}
	}
	if r := s.do("POST", "/x", cookies, "Origin", portalURL); r.StatusCode != http.StatusUnauthorized ||
		!strings.Contains(r.body, "ended") {
		t.Errorf("a form: %d %s", r.StatusCode, r.body)
	}
	s.sent(t, s.do("GET", "/x", cookies))
}

func TestALapsedSessionEndsWithAReason(t *testing.T) {
	for reason, c := range map[string]struct {
		during func(s *site, cookies jar)
		answer func(t *testing.T, s *site, cookies jar, to string) page
		why    string
	}{
		"the provider wants the user": {nil, nil, "lapsed"},
		"somebody else is signed in there": {nil, func(t *testing.T, s *site, cookies jar, to string) page {
			t.Helper()
			return s.back(t, cookies, to, oidctest.Claims{"sub": "bob", "preferred_username": "bob"})
		}, "another"},
		"the user signed out meanwhile": {func(s *site, cookies jar) {
			s.do("POST", LogoutPath, maps.Clone(cookies), "Origin", portalURL)
		}, nil, "signed-out"},
		"left alone meanwhile": {func(s *site, _ jar) { s.life.Idle = time.Minute }, nil, "rested"},
	} {
		t.Run(reason, func(t *testing.T) {
			s, cookies := lapsed(t)
			to := s.sent(t, s.do("GET", "/x", cookies))
			if c.during != nil {
				c.during(s, cookies)
			}
			if c.answer == nil {
				c.answer = func(t *testing.T, s *site, cookies jar, to string) page {
					t.Helper()
					_, state := s.issuer.Code(to, alice)
					return s.do("GET", CallbackPath+"?"+url.Values{
						"error": {"login_required"}, "state": {state},
					}.Encode(), cookies)
				}
			}
			r := c.answer(t, s, cookies, to)
			if got, want := r.Header.Get("Location"), SignInPath+"?return_to=%2Fx&why="+c.why; r.StatusCode != 303 ||
				got != want || len(cookies) != 0 {
				t.Fatalf("%d to %q, want %q; cookies %v", r.StatusCode, got, want, cookies)
			}
			if r := s.do("GET", r.Header.Get("Location"), cookies); r.StatusCode != 200 ||
				!strings.HasSuffix(r.body, " "+c.why) {
				t.Errorf("the page says %q", r.body)
			}
			if r := s.do("GET", SignInPath+"?why=call-555-now", cookies); strings.Contains(r.body, "555") {
				t.Errorf("a made-up reason is told: %q", r.body)
			}
		})
	}
}

// TestEachPageSaysWhyItsSessionEnded, and not the first one alone.
func TestEachPageSaysWhyItsSessionEnded(t *testing.T) {
	s, cookies := signedIn(t)
	s.later(s.life.Idle)
	for _, page := range []string{"/x", "/y"} {
		s.do("GET", page, cookies, "Accept", "text/event-stream")
		if to := s.do("GET", page, cookies).Header.Get("Location"); !strings.Contains(to, "why=rested") {
			t.Errorf("%s leads to %q", page, to)
		}
	}
	if r := s.signIn(t, cookies, alice); r.StatusCode != http.StatusSeeOther {
		t.Errorf("signing in again: %d", r.StatusCode)
	}
	s.see(t, cookies, "oidc:alice oidc:dev")
}

func TestPagesOfALapsedSessionGoOnBesideEachOther(t *testing.T) {
	s, cookies := lapsed(t)
	one := s.sent(t, s.do("GET", "/x", cookies))
	other := s.sent(t, s.do("GET", "/y", cookies))
	for to, want := range map[string]string{one: "/x", other: "/y"} {
		if r := s.back(t, cookies, to, alice); r.StatusCode != 303 || r.Header.Get("Location") != want {
			t.Errorf("%d to %q, want %q: %s", r.StatusCode, r.Header.Get("Location"), want, r.body)
		}
	}
	s.see(t, cookies, "oidc:alice oidc:dev")
	// An interactive sign-in in another tab is faster: there is nothing left to renew.
	s.refreshedTo(nil, http.StatusBadRequest)
	s.later(checkEvery)
	to := s.sent(t, s.do("GET", "/x", cookies))
	s.signIn(t, cookies, alice)
	mine := cookies[sessionCookie]
	if r := s.back(t, cookies, to, alice); r.Header.Get("Location") != "/x" || cookies[sessionCookie] != mine {
		t.Errorf("%d to %q", r.StatusCode, r.Header.Get("Location"))
	}
	for range 3 * maxLogins { // abandoned sign-ins do not pile up
		s.do("GET", LoginPath, cookies)
	}
	if len(cookies) > maxLogins+1 {
		t.Errorf("%d cookies", len(cookies))
	}
}

func TestARenewedSessionLastsNoLonger(t *testing.T) {
	s, cookies := signedIn(t)
	s.issuer.WithoutRefresh = true
	s.signIn(t, cookies, alice)
	s.life = Life{Idle: 90 * time.Minute, Max: 3 * time.Hour}
	for range 2 { // the ID token lasts an hour
		s.later(time.Hour)
		if r := s.back(t, cookies, s.sent(t, s.do("GET", "/x", cookies)), alice); r.Header.Get("Location") != "/x" {
			t.Fatalf("%d to %q", r.StatusCode, r.Header.Get("Location"))
		}
		s.see(t, cookies, "oidc:alice oidc:dev")
	}
	s.later(time.Hour)
	if to := s.do("GET", "/x", cookies).Header.Get("Location"); !strings.Contains(to, "why=over") {
		t.Errorf("at its end it leads to %q", to)
	}
}

// TestAPageThatLoadsItselfAnewIsNoUse: if the provider renews nothing, pages that reload themselves do not keep a
// session alive.
func TestAPageThatLoadsItselfAnewIsNoUse(t *testing.T) {
	for _, c := range []struct{ user, end string }{{"", "why=rested"}, {"?1", "prompt=none"}} {
		s, cookies := signedIn(t)
		s.refreshedTo(nil, http.StatusBadRequest)
		s.life = Life{Idle: 12 * time.Minute, Max: time.Hour}
		page := []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-User", c.user}
		for range 2 {
			s.later(checkEvery)
			s.back(t, cookies, s.sent(t, s.do("GET", "/x", cookies, page...)), alice)
			if r := s.do("GET", "/x", cookies, page...); r.StatusCode != http.StatusOK {
				t.Fatalf("%d", r.StatusCode)
			}
		}
		s.later(checkEvery)
		if to := s.do("GET", "/x", cookies, page...).Header.Get("Location"); !strings.Contains(to, c.end) {
			t.Errorf("asked for by %q it leads to %q, want %s", c.user, to, c.end)
		}
	}
}

func TestNothingIsRenewedBeforeItIsKnownWhoSignedOut(t *testing.T) {
	s, cookies := lapsed(t)
	to := s.sent(t, s.do("GET", "/x", cookies))
	s.revoked.loading = true
	if r := s.back(t, cookies, to, alice); r.StatusCode != http.StatusServiceUnavailable ||
		cookies[sessionCookie] == "" {
		t.Errorf("%d, cookies %v", r.StatusCode, cookies)
	}
	s.revoked.loading = false
	s.back(t, cookies, s.sent(t, s.do("GET", "/x", cookies)), alice)
	s.see(t, cookies, "oidc:alice oidc:dev")
}

// TestARenewalSaysWhoseItIs: with several accounts signed in, the provider could not tell them apart.
func TestARenewalSaysWhoseItIs(t *testing.T) {
	for _, c := range []struct {
		why    string
		claims oidctest.Claims
		want   string
	}{
		{"the login name", oidctest.Claims{"email": "alice@example.com"}, "alice"},
		{"as the provider says", oidctest.Claims{"login_hint": "O.CiQw", "email": "alice@example.com"}, "O.CiQw"},
		{"the e-mail address", oidctest.Claims{"preferred_username": nil, "email": "alice@example.com"}, "alice@example.com"},
		{"nothing", oidctest.Claims{"preferred_username": nil}, ""},
		{"no text", oidctest.Claims{"preferred_username": nil, "login_hint": 7}, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			s, cookies := newSite(t), jar{}
			s.Browser.provider.cfg.UsernameClaim = "sub"
			s.issuer.WithoutRefresh, s.life = true, Life{Idle: 2 * time.Hour, Max: 3 * time.Hour}
			claims := maps.Clone(alice)
			maps.Copy(claims, c.claims)
			s.signIn(t, cookies, claims)
			s.later(time.Hour)
			to, err := url.Parse(s.sent(t, s.do("GET", "/x", cookies)))
			if err != nil || to.Query().Get("prompt") != "none" || to.Query().Get("login_hint") != c.want {
				t.Errorf("it asks with %v (%v), want the hint %q", to.Query(), err, c.want)
			}
		})
	}
	s, cookies := signedIn(t)
	if to := s.do("GET", LoginPath, cookies).Header.Get("Location"); strings.Contains(to, "login_hint") {
		t.Errorf("who signs in by hand may be anybody, but it leads to %s", to)
	}
}
