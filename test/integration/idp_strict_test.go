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

// strict is node-oidc-provider in a strict configuration; see test/oidcprovider/server.mjs.
type strict struct {
	url     string
	process *process.Process
}

// startStrict returns a function that starts the provider in one of its modes.
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

// change changes a setting of the running provider.
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

// passes advances the clocks of the portal and the provider.
func (s *site) passes(d time.Duration) {
	s.t.Helper()
	s.clock.by.Add(int64(d))
	s.idp.(*strict).change(s.t, "later", map[string]any{"milliseconds": d.Milliseconds()})
}

// TestStrictIdentityProviders signs in with a provider that is as strict as the standards allow, in five modes. It runs
// with make test-idp.
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

// goesAway stops the provider permanently. When a session has to be renewed after that, the portal does not redirect to
// the provider: pages and the login page answer 502 at their own address and are retried, and a stream answers 424.
// That is the case when the ID token has expired, or with refresh tokens when the groups have not been confirmed for
// too long.
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
	s.clock.by.Add(int64(40 * time.Minute)) // tokens last at most an hour, and so do idle sessions
	for _, page := range []string{"/teams/payments?q=x", auth.LoginPath + "?return_to=%2F"} {
		at, got := b.open(s.url + page)
		if got.status != http.StatusBadGateway || at.RequestURI() != page ||
			!strings.Contains(got.raw, "tries again every ten seconds") {
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

// losesGroups removes a group from the user. Without refresh tokens, that takes effect when the ID token expires.
func (s *site) losesGroups() {
	s.t.Helper()
	b := s.in("payments-dev", "payments")
	s.idp.groups(s.t, "payments-dev", "team-search")
	defer s.idp.groups(s.t, "payments-dev", "team-payments")
	s.outlastsToken(b)
	if _, got := b.open(s.url + "/teams/payments"); got.status != http.StatusNotFound &&
		got.status != http.StatusForbidden {
		s.t.Errorf("who is not in the group any more sees its team: %d", got.status)
	}
	s.stays(b, "/teams/search")
}

// outlastsToken advances the time until the groups are read again, in steps at which the session is used.
func (s *site) outlastsToken(b *browser) {
	s.t.Helper()
	for range 13 {
		s.passes(askedAgain)
		b.open(s.url + "/teams/search")
	}
}

// pushes signs in with a pushed authorization request. The provider requires it, and refuses parameters in the
// browser's request.
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
		UsernameClaim: "preferred_username", GroupsClaim: "groups", Prefix: stack.Prefix, Audiences: []string{
			stack.Audience,
		},
	}})
	if err != nil || problems != 0 || !strings.Contains(out.String(), "It took a pushed sign-in") {
		s.t.Errorf("--check-oidc: %v, %s", err, out.String())
	}
}

// renewsOnce sends requests from two tabs to two replicas when the session has to be renewed: a refresh token that is
// used twice ends the session.
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

// readsElsewhere signs in with an ID token that contains only the subject.
func (s *site) readsElsewhere() {
	s.t.Helper()
	b := s.in("payments-dev", "payments")
	s.passes(askedAgain)
	s.stays(b, "/teams/payments")
}

// comesBackByHint signs out at a provider that requires the ID token as a hint, and redirects back to the portal.
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
	if strings.Contains(got.raw, "<form") { // it asks for confirmation
		at, got = b.send(b.form(at, got.raw, url.Values{"logout": {"yes"}}))
	}
	if !strings.HasPrefix(at.String(), s.url+auth.SignInPath) || got.status != http.StatusOK {
		s.t.Errorf("it ends at %s with %d: %s", at, got.status, got.raw)
	}
}

// takesLateTokens signs in while tokens last a minute, the clock is 90 seconds late, and keys are rotated each time.
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
