package auth

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

// downOnce makes the provider's settings and keys fail while the result is true.
func (s *site) downOnce() *atomic.Bool {
	down := &atomic.Bool{}
	s.issuer.Failing = down.Load
	return down
}

func TestSettingsAreAskedForOnceAndNotAtOnceAgain(t *testing.T) {
	s := newSite(t)
	down := s.downOnce()
	down.Store(true)
	p := s.Browser.provider
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			var provider *ProviderError
			if _, err := p.discover(t.Context()); !errors.As(err, &provider) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := p.discover(t.Context()); err == nil {
		t.Error("the failure is forgotten")
	}
	if n := s.issuer.Fetches(settingsPath); n != 1 {
		t.Errorf("asked %d times", n)
	}
	down.Store(false)
	s.later(discoverAgain)
	if found, err := p.discover(t.Context()); err != nil || found.settings.EndSession == "" {
		t.Errorf("%v, %v", found, err)
	}
}

// TestAddressesInClearAreRefused except on loopback.
func TestAddressesInClearAreRefused(t *testing.T) {
	for _, name := range []string{
		"authorization_endpoint", "token_endpoint", "device_authorization_endpoint",
		"jwks_uri", "revocation_endpoint",
	} {
		s := newSite(t)
		s.issuer.Settings = map[string]any{name: "http://login.example/x"}
		_, err := s.Browser.provider.discover(t.Context())
		if answer, ok := errors.AsType[*AnswerError](err); !ok ||
			!strings.Contains(answer.Detail, name+" is http://login.example/x: it must be https") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhoGivesUpWaitsForNoProvider(t *testing.T) {
	s := newSite(t)
	hold := make(chan struct{})
	s.issuer.Failing = func() bool { <-hold; return false }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Browser.provider.discover(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(hold)
	if _, err := s.Browser.provider.discover(t.Context()); err != nil {
		t.Errorf("those who wait: %v", err)
	}
}

func TestUnknownTokensDoNotStarveKnownOnes(t *testing.T) {
	g := newGate(t)
	g.reviewer.token = part(`{}`) + "." + part(`{"iss":"`+inCluster+`"}`) + ".x"
	if w := g.call("Bearer " + g.reviewer.token); w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	flood := func() {
		for i := range 2 * reviewBurst {
			g.call("Bearer " + part(`{}`) + "." + part(`{"iss":"`+inCluster+`","n":`+strconv.Itoa(i)+`}`) + ".x")
		}
	}
	g.later(bearerTTL + time.Second)
	flood()
	if w := g.call("Bearer " + g.reviewer.token); w.Code != http.StatusOK {
		t.Errorf("in a flood: %d", w.Code)
	}
	g.later(bearerTTL + time.Second)
	g.reviewer.err = ErrBadToken // it was revoked
	if w := g.call("Bearer " + g.reviewer.token); w.Code != http.StatusUnauthorized {
		t.Errorf("revoked: %d", w.Code)
	}
	g.later(refusedTTL + time.Second)
	flood()
	if w := g.call("Bearer " + g.reviewer.token); w.Code != http.StatusTooManyRequests {
		t.Errorf("known no longer: %d", w.Code)
	}
}

func TestAStateIsUsedOnce(t *testing.T) {
	for range 200 {
		u := newUsedStates(clock.RealClock{})
		var taken atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if u.use("state") {
					taken.Add(1)
				}
			})
		}
		if wg.Wait(); taken.Load() != 1 {
			t.Fatalf("used %d times", taken.Load())
		}
	}
}

func TestASecondSignInEndsTheSessionBefore(t *testing.T) {
	s, cookies := signedIn(t)
	before := jar{sessionCookie: cookies[sessionCookie]}
	if r := s.signIn(t, cookies, alice); r.StatusCode != http.StatusSeeOther {
		t.Fatalf("status %d", r.StatusCode)
	}
	s.see(t, before, "")
	s.see(t, cookies, "oidc:alice oidc:dev")
}

// TestWhoTakesOverANameIsNotItsFormerOwner if sub is the username; names are for display only.
func TestWhoTakesOverANameIsNotItsFormerOwner(t *testing.T) {
	s := newSite(t)
	s.Browser.provider.cfg.UsernameClaim = "sub"
	for sub, name := range map[string]string{"first": "alice", "second": "alice"} {
		cookies := jar{}
		s.signIn(t, cookies, oidctest.Claims{"sub": sub, "preferred_username": name, "groups": []string{"dev"}})
		s.see(t, cookies, "oidc:"+sub+" oidc:dev")
	}
}
