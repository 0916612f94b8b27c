//go:build integration && idp

package integration

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

// strict is node-oidc-provider in a strict configuration: see test/oidcprovider/server.mjs.
type strict struct {
	url     string
	process *process.Process
}

// startStrict returns how it starts in one of its ways.
func startStrict(way string) func(*testing.T, string) identityProvider {
	return func(t *testing.T, portal string) identityProvider {
		t.Helper()
		home := os.Getenv("OIDC_PROVIDER")
		if home == "" {
			t.Fatal("OIDC_PROVIDER is not set: make test-idp downloads node-oidc-provider, and sets it")
		}
		type user struct {
			Login  string   `json:"login"`
			Name   string   `json:"name"`
			Groups []string `json:"groups"`
		}
		var users []user
		for _, u := range stack.Users {
			users = append(users, user{u.Email(), u.Name, u.Groups})
		}
		known, err := json.Marshal(users)
		if err != nil {
			t.Fatal(err)
		}
		p := &strict{url: "http://" + freeAddress(t)}
		p.process, err = world.Run(t.Context(), process.Spec{
			Name: "oidc-provider-" + way, Path: "node", Args: []string{filepath.Join(home, "server.mjs")},
			Env: []string{
				"ISSUER=" + p.url, "PORTAL=" + portal, "WAY=" + way, "CLIENT=" + stack.PortalClient,
				"SECRET=" + stack.PortalSecret, "PASSWORD=" + stack.Password, "USERS=" + string(known),
			},
			Ready: serving(p.url + "/.well-known/openid-configuration"),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.process.Stop() })
		return p
	}
}

func (p *strict) issuer() string                  { return p.url }
func (p *strict) server() *process.Process        { return p.process }
func (p *strict) scopes() (string, string)        { return "", stack.APIScopes }
func (p *strict) comesBack() bool                 { return true }
func (p *strict) signOut(*testing.T, string) bool { return false }

func (p *strict) groups(t *testing.T, user string, groups ...string) (soon bool) {
	t.Helper()
	p.change(t, "groups", map[string]any{"login": user + "@portico.test", "groups": groups})
	return true
}

func (p *strict) newKey(t *testing.T) {
	t.Helper()
	p.change(t, "key", nil)
}

// change changes something of it.
func (p *strict) change(t *testing.T, what string, to any) {
	t.Helper()
	text, err := json.Marshal(to)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/test/"+what, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Fatalf("changing its %s: %s", what, resp.Status)
	}
}

// passes lets time pass, for the portal and for the provider.
func (s *site) passes(d time.Duration) {
	s.t.Helper()
	s.clock.by.Add(int64(d))
	s.idp.(*strict).change(s.t, "later", map[string]any{"milliseconds": d.Milliseconds()})
}

// TestStrictIdentityProviders signs in with a provider that is as strict as the standards allow, in five ways: make
// test-idp.
func TestStrictIdentityProviders(t *testing.T) {
	for _, c := range []struct {
		way string
		try func(*site)
	}{
		{"push", (*site).pushes},
		{"rotate", (*site).renewsOnce},
		{"userinfo", (*site).readsElsewhere},
		{"pairwise", (*site).comesBackByHint},
		{"late", (*site).takesLateTokens},
	} {
		t.Run(c.way, func(t *testing.T) {
			s := startSite(t, startStrict(c.way))
			c.try(s)
			s.losesGroups()
			s.goesAway()
		})
	}
}

// goesAway stops the provider for good. Nobody is sent there, and what is open stays, where there are no refresh tokens
// as soon as the ID token has ended, else when nobody has said for long who it is.
func (s *site) goesAway() {
	s.t.Helper()
	b := s.in("payments-dev", "payments")
	for range 6 {
		s.passes(askedAgain)
		b.open(s.url + "/teams/payments")
	}
	if err := s.idp.server().Stop(); err != nil {
		s.t.Fatal(err)
	}
	s.clock.by.Add(int64(40 * time.Minute)) // tokens last an hour at the most, and so do sessions without use
	for _, page := range []string{"/teams/payments?q=x", auth.LoginPath + "?return_to=%2F"} {
		at, got := b.open(s.url + page)
		if got.status != http.StatusBadGateway || at.RequestURI() != page || !strings.Contains(got.raw, "tries again every ten seconds") {
			s.t.Errorf("%s: %d at %s: %s", page, got.status, at, got.raw)
		}
		if again := got.header.Get("Refresh"); !strings.HasSuffix(again, "; url="+page) {
			s.t.Errorf("%s is tried again as %q", page, again)
		}
	}
	at, got := b.open(s.url+"/teams/payments/live", "Accept", "text/event-stream")
	if got.status != http.StatusFailedDependency {
		s.t.Errorf("a stream: %d at %s: %s", got.status, at, got.raw)
	}
}

// losesGroups takes a group away. Where there are no refresh tokens, that counts when the ID token ends.
func (s *site) losesGroups() {
	s.t.Helper()
	b := s.in("payments-dev", "payments")
	s.idp.groups(s.t, "payments-dev", "team-search")
	defer s.idp.groups(s.t, "payments-dev", "team-payments")
	s.outlastsToken(b)
	if _, got := b.open(s.url + "/teams/payments"); got.status != http.StatusNotFound && got.status != http.StatusForbidden {
		s.t.Errorf("who is not in the group any more sees its team: %d", got.status)
	}
	s.stays(b, "/teams/search")
}

// outlastsToken waits until groups are asked for again, in steps in which the session is used.
func (s *site) outlastsToken(b *browser) {
	s.t.Helper()
	for range 13 {
		s.passes(askedAgain)
		b.open(s.url + "/teams/search")
	}
}

// pushes signs in by a pushed request, as the provider requires: in what the browser brings it takes nothing else.
func (s *site) pushes() {
	s.t.Helper()
	_, got := newBrowser(s.t).open(s.idp.issuer() + "/auth?" + url.Values{
		"client_id": {stack.PortalClient}, "response_type": {"code"}, "scope": {"openid"},
		"redirect_uri": {s.url + auth.CallbackPath}, "code_challenge": {strings.Repeat("x", 43)}, "code_challenge_method": {"S256"},
	}.Encode())
	if got.status < http.StatusBadRequest && !strings.Contains(got.raw, "invalid_request") {
		s.t.Fatalf("the provider takes what is not pushed: %d %s", got.status, got.raw)
	}
	b := s.in("payments-dev", "payments")
	s.outlastsToken(b)
	s.stays(b, "/teams/payments")
	var out strings.Builder
	problems, err := auth.Inspect(s.t.Context(), &out, auth.Inspection{Now: s.clock.Now, Config: auth.Config{
		IssuerURL: s.idp.issuer(), ClientID: stack.PortalClient, ClientSecret: stack.PortalSecret, PublicURL: s.url,
		UsernameClaim: "preferred_username", GroupsClaim: "groups", Prefix: stack.Prefix, Audiences: []string{stack.Audience},
	}})
	if err != nil || problems != 0 || !strings.Contains(out.String(), "It took a pushed sign-in") {
		s.t.Errorf("--check-oidc: %v, %s", err, out.String())
	}
}

// renewsOnce has two tabs come to two replicas when the session is due: a refresh token that comes twice ends all.
func (s *site) renewsOnce() {
	s.t.Helper()
	b := s.in("payments-dev", "payments")
	for range 4 {
		s.passes(askedAgain)
		var tabs sync.WaitGroup
		for _, page := range []string{"/teams/payments?q=one", "/teams/payments?q=other"} {
			tabs.Go(func() { s.stays(b, page) })
		}
		tabs.Wait()
	}
	if b.silently != 0 {
		s.t.Errorf("the session was lost %d times, and came back by a silent sign-in", b.silently)
	}
}

// readsElsewhere signs in where the ID token says nothing but who it is about.
func (s *site) readsElsewhere() {
	s.t.Helper()
	b := s.in("payments-dev", "payments")
	s.passes(askedAgain)
	s.stays(b, "/teams/payments")
}

// comesBackByHint signs out at a provider that wants the ID token for that, and leads back.
func (s *site) comesBackByHint() {
	s.t.Helper()
	b := s.in("payments-dev", "payments")
	s.passes(askedAgain)
	s.stays(b, "/teams/payments")
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+auth.LogoutPath, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Origin", s.url)
	_, got := b.send(r)
	there := regexp.MustCompile(`href="(` + regexp.QuoteMeta(s.idp.issuer()) + `[^"]+)"`).FindStringSubmatch(got.raw)
	if there == nil {
		s.t.Fatalf("no link to sign out at the provider: %s", got.raw)
	}
	at, got := b.open(html.UnescapeString(there[1]))
	if strings.Contains(got.raw, "<form") { // it asks whether that is meant
		at, got = b.send(b.form(at, got.raw, url.Values{"logout": {"yes"}}))
	}
	if !strings.HasPrefix(at.String(), s.url+auth.SignInPath) || got.status != http.StatusOK {
		s.t.Errorf("it ends at %s with %d: %s", at, got.status, got.raw)
	}
}

// takesLateTokens signs in where tokens last a minute and the clock is 90 seconds behind, and keys change all the time.
func (s *site) takesLateTokens() {
	s.t.Helper()
	b := s.in("payments-dev", "payments")
	for range 4 {
		s.idp.newKey(s.t)
		s.passes(61 * time.Second)
		s.stays(b, "/teams/payments")
		s.in("search-dev", "search")
	}
	if b.silently != 4 {
		s.t.Errorf("%d silent sign-ins in four minutes", b.silently)
	}
}
