package auth

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/portico-platform/portico/api/identity"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// withKey returns the token with a header that names another key.
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
	eventually(t, "a second fetch", func() bool {
		g.call(junk(21))
		return g.issuer.Fetches(oidctest.KeysPath) == 2
	})
}

func TestAnOutageOfTheKeysIsNotABadToken(t *testing.T) {
	g := newGate(t)
	down := g.downOnce()
	if g.call("Bearer "+g.issuer.Token(oidctest.Claims{"iss": g.issuer.URL, "aud": "other"})).Code != http.StatusUnauthorized {
		t.Fatal("the settings are not known")
	}
	g.later(identity.KeysEvery)
	down.Store(true)
	p := g.provider(t) // with no keys yet
	p.found = &discovered{keys: identity.NewKeys(t.Context(), g.issuer.URL+oidctest.KeysPath, g.clock.Now)}
	token := g.issuer.Token(oidctest.Claims{"aud": "api"})
	var provider *ProviderError
	for range 2 {
		if _, err := p.verify(t.Context(), token, []string{"api"}); !errors.As(err, &provider) || errors.Is(err, ErrBadToken) {
			t.Errorf("%v", err)
		}
	}
	eventually(t, "the outage", func() bool {
		return g.call("Bearer "+withKey(token, "x")).Code == http.StatusServiceUnavailable
	})
	down.Store(false)
	g.later(identity.KeysEvery)
	eventually(t, "the keys", func() bool {
		_, err := p.verify(t.Context(), token, []string{"api"})
		return err == nil
	})
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
	found.keys = identity.NewKeys(t.Context(), s.issuer.URL+oidctest.KeysPath, s.clock.Now) // they have been forgotten
	s.see(t, cookies, "oidc:alice oidc:dev")
	down.Store(false)
	s.later(identity.KeysEvery + retryAfter)
	found.keys = identity.NewKeys(t.Context(), s.issuer.URL+oidctest.KeysPath, s.clock.Now)
	s.see(t, cookies, "oidc:alice oidc:ops") // with the refresh token that came without keys to verify the rest

	down.Store(true)
	s.later(identity.KeysEvery)
	found.keys = identity.NewKeys(t.Context(), s.issuer.URL+oidctest.KeysPath, s.clock.Now)
	if r := s.signIn(t, jar{}, alice); r.StatusCode != http.StatusBadGateway {
		t.Errorf("sign-in: %d %s", r.StatusCode, r.body)
	}
}
