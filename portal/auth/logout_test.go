package auth

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// tells posts a logout token as the provider would, and returns the portal's response.
func (s *site) tells(token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, portalURL+BackChannelPath,
		strings.NewReader(url.Values{"logout_token": {token}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.BackChannelLogout(w, r)
	return w
}

// logoutToken returns the example of OpenID Connect Back-Channel Logout 1.0, section 2.4, with changes.
func (s *site) logoutToken(changes oidctest.Claims) string {
	claims := oidctest.Claims{
		"aud": "portal", "jti": "bWJq", "exp": s.clock.Now().Add(2 * time.Minute).Unix(), "iat": s.clock.Now().Unix(),
		"events": map[string]any{logoutEvent: map[string]any{}},
	}
	maps.Copy(claims, changes)
	return s.issuer.Token(claims)
}

// twoBrowsers signs in one user in two browsers and another user in a third.
func twoBrowsers(t *testing.T) (s *site, one, two, other jar) {
	t.Helper()
	s, one, two, other = newSite(t), jar{}, jar{}, jar{}
	for sid, cookies := range map[string]jar{"sid-1": one, "sid-2": two} {
		s.signIn(t, cookies, oidctest.Claims{"sub": "alice", "sid": sid, "preferred_username": "alice"})
	}
	s.signIn(t, other, oidctest.Claims{"sub": "bob", "sid": "sid-3", "preferred_username": "bob"})
	return s, one, two, other
}

func TestTheProviderSignsOut(t *testing.T) {
	for _, c := range []struct {
		reason   string
		changes  oidctest.Claims
		one, two string
	}{
		{"one session", oidctest.Claims{"sid": "sid-1"}, "", "oidc:alice "},
		{"one session, whose user is told too", oidctest.Claims{"sub": "alice", "sid": "sid-1"}, "", "oidc:alice "},
		{"all of a user", oidctest.Claims{"sub": "alice"}, "", ""},
		{"somebody who is not here", oidctest.Claims{"sub": "carol", "sid": "sid-9"}, "oidc:alice ", "oidc:alice "},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s, one, two, other := twoBrowsers(t)
			stream := s.connect(t, one)
			changes := oidctest.Claims{"sub": nil}
			maps.Copy(changes, c.changes)
			if w := s.tells(s.logoutToken(changes)); w.Code != http.StatusOK ||
				w.Header().Get("Cache-Control") != "no-store" {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if alive := Alive(stream) == nil; alive != (c.one != "") {
				t.Errorf("its stream goes on: %v", alive)
			}
			s.see(t, one, c.one)
			s.see(t, two, c.two)
			s.see(t, other, "oidc:bob ")
			s.later(time.Second)
			s.signIn(t, one, oidctest.Claims{"sub": "alice", "sid": "sid-4", "preferred_username": "alice"})
			s.see(t, one, "oidc:alice ")
		})
	}
}

// TestASessionWithoutANameEndsWithAnyOfItsUser: it is unknown which one the provider means.
func TestASessionWithoutANameEndsWithAnyOfItsUser(t *testing.T) {
	s, named, unnamed, other := newSite(t), jar{}, jar{}, jar{}
	s.signIn(t, named, oidctest.Claims{"sub": "alice", "sid": "sid-1", "preferred_username": "alice"})
	s.signIn(t, unnamed, oidctest.Claims{"sub": "alice", "preferred_username": "alice"})
	s.signIn(t, other, oidctest.Claims{"sub": "bob", "preferred_username": "bob"})
	if w := s.tells(s.logoutToken(oidctest.Claims{"sub": "alice", "sid": "sid-9"})); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	s.see(t, named, "oidc:alice ")
	s.see(t, unnamed, "")
	s.see(t, other, "oidc:bob ")
}

// TestASignOutThatIsToldAgainEndsNothingNewer: a provider repeats a sign-out if it missed the response.
func TestASignOutThatIsToldAgainEndsNothingNewer(t *testing.T) {
	for _, changes := range []oidctest.Claims{{"sub": "alice"}, {"sub": "alice", "sid": "sid-9"}} {
		s, cookies := newSite(t), jar{}
		token := s.logoutToken(changes)
		s.later(logoutSlack + time.Second)
		s.signIn(t, cookies, oidctest.Claims{"sub": "alice", "preferred_username": "alice"})
		if w := s.tells(token); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		s.see(t, cookies, "oidc:alice ")
	}
}

func TestSignOutsThatAreNotTheProvidersAreRefused(t *testing.T) {
	s, one, _, _ := twoBrowsers(t)
	for reason, token := range map[string]string{
		"nothing":     "",
		"no token":    "x",
		"too large":   strings.Repeat("x", maxToken) + ".e30.x",
		"an ID token": s.logoutToken(oidctest.Claims{"sub": "alice", "events": nil}),
		"another event": s.logoutToken(
			oidctest.Claims{"sub": "alice", "events": map[string]any{"x": map[string]any{}}}),
		"with a nonce":      s.logoutToken(oidctest.Claims{"sub": "alice", "nonce": ""}),
		"for somebody else": s.logoutToken(oidctest.Claims{"sub": "alice", "aud": "api"}),
		"of another issuer": s.logoutToken(oidctest.Claims{"sub": "alice", "iss": "https://other.example"}),
		"it has ended":      s.logoutToken(oidctest.Claims{"sub": "alice", "exp": 1}),
		"of another time": s.logoutToken(
			oidctest.Claims{"sub": "alice", "iat": s.clock.Now().Add(-maxLogoutAge - time.Second).Unix()}),
		"of no time": s.logoutToken(oidctest.Claims{"sub": "alice", "iat": nil}),
		"of nobody":  s.logoutToken(oidctest.Claims{"sub": nil}),
		"not signed": s.issuer.Unsigned(
			oidctest.Claims{"sub": "alice", "aud": "portal", "iat": s.clock.Now().Unix(), "events": map[string]any{
				logoutEvent: map[string]any{},
			}}),
		"signed by another": oidctest.New(t).Token(
			oidctest.Claims{"iss": s.issuer.URL, "sub": "alice", "aud": "portal", "events": map[string]any{
				logoutEvent: map[string]any{},
			}}),
		"events are no list": s.logoutToken(oidctest.Claims{"sub": "alice", "events": "x"}),
	} {
		if w := s.tells(token); w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), `"error":"invalid_request"`) {
			t.Errorf("%s: %d %s", reason, w.Code, w.Body)
		}
	}
	s.see(t, one, "oidc:alice ")
	s.revoked.fail = errors.New("the list cannot be written")
	if w := s.tells(s.logoutToken(oidctest.Claims{"sid": "sid-1"})); w.Code != http.StatusBadRequest ||
		strings.Contains(w.Body.String(), "list") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestALogoutTokenNeedNotSayWhenItEnds: Hydra's have no expiry. An expired one is refused.
func TestALogoutTokenNeedNotSayWhenItEnds(t *testing.T) {
	s, cookies := newSite(t), jar{}
	s.signIn(t, cookies, oidctest.Claims{"sub": "alice", "sid": "sid-1", "preferred_username": "alice"})
	if w := s.tells(s.logoutToken(
		oidctest.Claims{"sid": "sid-1", "exp": s.clock.Now().Add(
			-time.Hour).Unix()})); w.Code != http.StatusBadRequest {
		t.Errorf("one that has ended: %d %s", w.Code, w.Body)
	}
	s.see(t, cookies, "oidc:alice ")
	if w := s.tells(s.logoutToken(oidctest.Claims{"sid": "sid-1", "exp": nil})); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s.see(t, cookies, "")
}

// TestLogoutTokensAreTakenAsTheyCome: of a key that is new since strangers had the keys fetched, and of a clock that is
// behind.
func TestLogoutTokensAreTakenAsTheyCome(t *testing.T) {
	for what, before := range map[string]func(s *site){
		"of a key that is new": func(s *site) {
			s.tells(withKey(s.logoutToken(oidctest.Claims{"sub": "x"}), "x"))
			s.issuer.NewKey()
			s.later(10 * time.Millisecond)
		},
		"of a clock that is behind": func(s *site) {
			s.issuer.Now = func() time.Time { return s.clock.Now().Add(30*time.Second - identity.IssuedSlack) }
		},
	} {
		t.Run(what, func(t *testing.T) {
			s, cookies := newSite(t), jar{}
			s.signIn(t, cookies, oidctest.Claims{"sub": "alice", "sid": "sid-1", "preferred_username": "alice"})
			before(s)
			now := s.issuer.Now().Unix()
			token := s.logoutToken(oidctest.Claims{"sid": "sid-1", "iat": now, "exp": now + 60})
			if w := s.tells(token); w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			s.see(t, cookies, "")
		})
	}
}

// TestStrangersLogoutTokensCostTheProviderLittle: they have the keys fetched once a second at most, and a sign-in with
// a new key is in nonetheless.
func TestStrangersLogoutTokensCostTheProviderLittle(t *testing.T) {
	s := newSite(t)
	p, err := NewProvider(s.Browser.provider.cfg, time.Now) // real time, for tokens wait
	if err != nil {
		t.Fatal(err)
	}
	s.Browser.provider = p
	s.signIn(t, jar{}, alice)
	began, before := time.Now(), s.issuer.Fetches(oidctest.KeysPath)
	junk := s.logoutToken(oidctest.Claims{"sub": "alice"})
	if w := s.tells(withKey(junk, "first")); w.Code != http.StatusBadRequest {
		t.Errorf("a stranger's: %d", w.Code)
	}
	s.issuer.NewKey()
	var flood sync.WaitGroup
	for i := range 50 {
		flood.Go(func() {
			if w := s.tells(withKey(junk, "x"+strconv.Itoa(i))); w.Code != http.StatusBadRequest {
				t.Errorf("a stranger's: %d", w.Code)
			}
		})
	}
	if r := s.signIn(t, jar{}, alice); r.StatusCode != http.StatusSeeOther {
		t.Errorf("a sign-in: %d %s", r.StatusCode, r.body)
	}
	flood.Wait()
	if most := int(time.Since(began)/time.Second) + 2; s.issuer.Fetches(oidctest.KeysPath)-before > most {
		t.Errorf("%d fetches, want %d at most", s.issuer.Fetches(oidctest.KeysPath)-before, most)
	}
}

// TestALogoutTokenIsNobodysIdentity, though it is signed and names a user.
func TestALogoutTokenIsNobodysIdentity(t *testing.T) {
	g := newGate(t)
	g.bearer.cfg.UsernameClaim = "sub"
	if w := g.call("Bearer " + g.logoutToken(oidctest.Claims{"aud": "api", "events": nil})); w.Code != http.StatusOK {
		t.Fatalf("an ID token: %d %s", w.Code, w.Body)
	}
	if w := g.call("Bearer " + g.logoutToken(oidctest.Claims{"aud": "api"})); w.Code != http.StatusUnauthorized {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := g.call("Bearer " +
		g.logoutToken(oidctest.Claims{"aud": "api", "sid": 7})); w.Code != http.StatusUnauthorized {
		t.Errorf("with a session that is no text: %d %s", w.Code, w.Body)
	}
}

// TestTheProvidersSessionIsTheOneOfTheLastToken: after a silent renewal the provider's session can be another one.
func TestTheProvidersSessionIsTheOneOfTheLastToken(t *testing.T) {
	s, cookies := newSite(t), jar{}
	claims := func(sid string) oidctest.Claims {
		return oidctest.Claims{"sub": "alice", "sid": sid, "preferred_username": "alice"}
	}
	s.signIn(t, cookies, claims("sid-1"))
	s.refreshedTo(nil, http.StatusBadRequest)
	s.later(checkEvery)
	s.back(t, cookies, s.sent(t, s.do("GET", "/x", cookies)), claims("sid-2"))
	s.tells(s.logoutToken(oidctest.Claims{"sid": "sid-1"}))
	s.see(t, cookies, "oidc:alice ")
	s.refreshedTo(oidctest.Claims{"sub": "alice", "sid": "sid-3"}, http.StatusOK)
	s.later(checkEvery)
	s.see(t, cookies, "oidc:alice ")
	s.tells(s.logoutToken(oidctest.Claims{"sid": "sid-2"}))
	s.see(t, cookies, "oidc:alice ")
	s.tells(s.logoutToken(oidctest.Claims{"sid": "sid-3"}))
	s.see(t, cookies, "")
}

func TestSigningOutRevokesTheRefreshToken(t *testing.T) {
	for _, c := range []struct {
		reason, method string
		status         int
		offers         bool
		list           error // of writing the revocation
		want           []string
	}{
		{"by basic", secretBasic, 200, true, nil, []string{secretBasic}},
		{"by post", secretPost, 200, true, nil, []string{secretPost}},
		{"the provider cannot", secretBasic, 500, true, nil, []string{secretBasic}},
		{"the provider offers nothing", secretBasic, 200, false, nil, nil},
		{"the list cannot be written", secretBasic, 200, true, errors.New("no"), []string{secretBasic}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s, cookies := newSite(t), jar{}
			log := s.logged()
			s.Browser.provider.cfg.ClientSecret, s.Browser.provider.cfg.AuthMethod = "s3cret", c.method
			if c.offers {
				s.issuer.Settings = map[string]any{"revocation_endpoint": s.issuer.URL + "/revoke"}
			}
			s.issuer.Revocation = c.status
			s.signIn(t, cookies, alice)
			s.revoked.fail = c.list
			if r := s.do("POST", LogoutPath, cookies, "Origin",
				portalURL); (r.StatusCode == http.StatusSeeOther) != (c.list == nil) || len(cookies) != 0 {
				t.Errorf("%d %s", r.StatusCode, r.body)
			}
			if got := s.issuer.Revoked(); !slices.Equal(got, c.want) {
				t.Errorf("revoked by %v, want %v", got, c.want)
			}
			if said := strings.Contains(log.String(), "did not revoke"); said != (c.status != 200) {
				t.Errorf("the log says %s", log)
			}
		})
	}
}

func TestTheProvidersSignOutLeadsBackIfThatIsRegistered(t *testing.T) {
	s := newSite(t)
	if got := s.do("GET", SignedOutPath, nil).body; !strings.Contains(got, "client_id=portal") ||
		strings.Contains(got, "logout_") {
		t.Errorf("by default the link is %s", got)
	}
	s.Browser.provider.cfg.PostLogoutRedirect = true
	back := url.QueryEscape(portalURL + SignInPath)
	got := s.do("GET", SignedOutPath, nil).body
	if !strings.Contains(got, "post_logout_redirect_uri="+back) || !strings.Contains(got, "&logout_uri="+back) {
		t.Errorf("the link is %s", got)
	}
}

// TestTheProviderIsToldWhichSessionEnds: some providers do not redirect back without the session's ID token. It is kept
// sealed, and left out if it does not fit.
func TestTheProviderIsToldWhichSessionEnds(t *testing.T) {
	for room, claims := range map[bool]oidctest.Claims{
		true:  alice,
		false: {"preferred_username": "alice", "groups": groupIDs(40)},
	} {
		s, cookies := newSite(t), jar{}
		s.Browser.provider.cfg.PostLogoutRedirect = true
		s.signIn(t, cookies, claims)
		if len(cookies[sessionCookie]) > maxCookie {
			t.Errorf("a cookie of %d bytes", len(cookies[sessionCookie]))
		}
		s.later(checkEvery)
		s.do("GET", "/x", cookies) // a renewal keeps it
		s.do("POST", LogoutPath, cookies, "Origin", portalURL)
		r := s.do("GET", SignedOutPath, cookies)
		to, err := url.Parse(strings.TrimPrefix(r.body, "signed out; "))
		if err != nil {
			t.Fatal(err)
		}
		hint := to.Query().Get("id_token_hint")
		if (hint != "") != room || to.Query().Get("post_logout_redirect_uri") == "" {
			t.Errorf("it leads to %s", to)
		}
		if room {
			tok, err := s.Browser.provider.verify(t.Context(), hint, []string{"portal"})
			if err != nil || tok.Subject != oidctest.Subject {
				t.Errorf("the hint is %v, %v", tok, err)
			}
			if said := r.Header.Get("Cache-Control"); !strings.Contains(said, "no-transform") {
				t.Errorf("Cache-Control %q", said)
			}
		}
		if r := s.do("GET", SignedOutPath, jar{hintCookie: "x"}); strings.Contains(r.body, "id_token_hint") {
			t.Errorf("made up: %s", r.body)
		}
	}
}
