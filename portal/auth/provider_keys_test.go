package auth

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// withKey returns the token with another key ID in its header.
func withKey(token, kid string) string {
	_, rest, _ := strings.Cut(token, ".")
	return part(`{"alg":"RS256","kid":"`+kid+`"}`) + "." + rest
}

func TestUnknownKeysDoNotBecomeAFloodOnTheProvider(t *testing.T) {
	g := newGate(t)
	good := g.issuer.Token(oidctest.Claims{"preferred_username": "alice", "aud": "api"})
	junk := func(i int) string {
		return "Bearer " + withKey(good, "x"+strconv.Itoa(i))
	}
	for i := range 20 {
		if w := g.call(junk(i)); w.Code != http.StatusUnauthorized {
			t.Fatalf("status %d", w.Code)
		}
	}
	if n := g.issuer.Fetches(oidctest.KeysPath); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
	if w := g.call("Bearer " + good); w.Code != http.StatusOK {
		t.Errorf("a good token: %d", w.Code)
	}
	g.later(identity.KeysEvery)
	if g.call(junk(21)); g.issuer.Fetches(oidctest.KeysPath) != 2 {
		t.Error("the keys are not fetched again")
	}
}

func TestAnOutageOfTheKeysIsNotABadToken(t *testing.T) {
	g := newGate(t)
	down := g.downOnce()
	if g.call("Bearer "+g.issuer.Token(
		oidctest.Claims{"iss": g.issuer.URL, "aud": "other"})).Code != http.StatusUnauthorized {
		t.Fatal("the settings are not known")
	}
	g.later(identity.KeysEvery)
	down.Store(true)
	p := g.provider(t) // without keys yet
	p.found = &discovered{keys: identity.NewKeys(g.issuer.URL+oidctest.KeysPath, g.clock.Now)}
	token := g.issuer.Token(oidctest.Claims{"aud": "api"})
	var provider *ProviderError
	for range 2 {
		if _, err := p.verify(t.Context(), token, []string{"api"}); !errors.As(err, &provider) ||
			errors.Is(err, ErrBadToken) {
			t.Errorf("%v", err)
		}
	}
	if w := g.call("Bearer " + withKey(token, "x")); w.Code != http.StatusServiceUnavailable {
		t.Errorf("in the outage: %d", w.Code)
	}
	down.Store(false)
	g.later(identity.KeysEvery)
	if _, err := p.verify(t.Context(), token, []string{"api"}); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}

func TestAnOutageOfTheKeysEndsNoSession(t *testing.T) {
	s, cookies := signedIn(t)
	s.refreshedTo(oidctest.Claims{"groups": []string{"ops"}}, http.StatusOK)
	s.later(checkEvery)
	down := s.downOnce()
	down.Store(true)
	found, err := s.Browser.provider.discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found.keys = identity.NewKeys(s.issuer.URL+oidctest.KeysPath, s.clock.Now) // drop the cached keys
	s.see(t, cookies, "oidc:alice oidc:dev")
	down.Store(false)
	s.later(identity.KeysEvery + retryAfter)
	found.keys = identity.NewKeys(s.issuer.URL+oidctest.KeysPath, s.clock.Now)
	s.see(t, cookies, "oidc:alice oidc:ops") // by the refresh token that was kept when the keys were missing

	other := jar{}
	code, state := s.issuer.Code(s.do("GET", LoginPath, other).Header.Get("Location"), alice)
	if found, err = s.Browser.provider.discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	down.Store(true)
	s.later(identity.KeysEvery)
	found.keys = identity.NewKeys(s.issuer.URL+oidctest.KeysPath, s.clock.Now)
	r := s.do("GET", CallbackPath+"?"+url.Values{"code": {code}, "state": {state}}.Encode(), other)
	if !r.isAway(LoginPath + "?return_to=%2F") {
		t.Errorf("sign-in: %d %s", r.StatusCode, r.body)
	}
}

// TestATokenOfANewKeyWaitsForIt: strangers caused a fetch of the keys just before there was a new one. A token of the
// new key waits for the next fetch and is not refused; strangers cannot cause more fetches.
func TestATokenOfANewKeyWaitsForIt(t *testing.T) {
	issuer, older := oidctest.New(t), oidctest.New(t)
	var rotated atomic.Bool
	var fetches atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetches.Add(1)
		if !rotated.Load() {
			older.Handler().ServeHTTP(w, r)
			return
		}
		issuer.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	const every = 300 * time.Millisecond
	keys := identity.NewKeysFrom(identity.KeySource{
		Address: srv.URL + oidctest.KeysPath, Transport: http.DefaultTransport, Every: every, Waits: true,
	}, time.Now)
	verify := func(token string) error {
		_, err := identity.Verify(t.Context(), issuer.URL, keys, token, []string{"api"}, time.Now)
		return err
	}
	good := issuer.Token(oidctest.Claims{"aud": "api"})
	if err := verify(withKey(good, "x")); !errors.Is(err, ErrBadToken) || fetches.Load() != 1 {
		t.Fatalf("%v after %d fetches", err, fetches.Load())
	}
	rotated.Store(true)
	began := time.Now()
	var flood sync.WaitGroup
	for i := range 50 {
		flood.Go(func() {
			if err := verify(withKey(good, "x"+strconv.Itoa(i))); !errors.Is(err, ErrBadToken) {
				t.Errorf("a forged one: %v", err)
			}
		})
	}
	if err := verify(good); err != nil {
		t.Errorf("a token of the new key: %v", err)
	}
	flood.Wait()
	if most := int32(time.Since(began)/every) + 2; fetches.Load() > most {
		t.Errorf("%d fetches, want %d at most", fetches.Load(), most)
	}
}
