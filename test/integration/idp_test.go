//go:build integration && idp

package integration

import (
	"context"
	"errors"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/stack/process"
)

// identityProvider is a provider to test the portal with, configured as its admin would.
type identityProvider interface {
	issuer() string
	server() *process.Process
	// scopes returns the scopes for the portal, "" for its default, and for command-line tools.
	scopes() (portal, cli string)
	// groups puts a user into exactly these groups. It reports whether that affects existing sessions.
	groups(t *testing.T, user string, groups ...string) (soon bool)
	// comesBack reports whether the provider's sign-out page redirects back to the portal.
	comesBack() bool
	// signOut ends the user's sessions at the provider; false if it does not notify the portal.
	signOut(t *testing.T, user string) bool
	// newKey makes the provider sign with a new key.
	newKey(t *testing.T)
}

// identityProviders are functions that start a provider for the portal at an address.
var identityProviders = map[string]func(t *testing.T, portal string) identityProvider{
	"Dex": startOwnDex, "Keycloak": startKeycloak,
}

// site is a portal with three replicas at one address, and its provider.
type site struct {
	t     *testing.T
	url   string
	idp   identityProvider
	clock *ahead
	all   []*replica
}

func (s *site) later() { s.clock.by.Add(int64(askedAgain)) }

func startSite(t *testing.T, start func(*testing.T, string) identityProvider) *site {
	t.Helper()
	s := &site{t: t, clock: &ahead{}}
	var turn atomic.Uint64
	front := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		to, err := url.Parse(s.all[turn.Add(1)%uint64(len(s.all))].url)
		if err != nil {
			t.Error(err)
		}
		r.SetURL(to)
		r.Out.Host = r.In.Host // the portal compares it with the Origin of requests
	}})
	t.Cleanup(front.Close)
	s.url = front.URL
	s.idp = start(t, s.url)
	s.serves()
	keys := sessionKeys(t)
	for range 3 {
		var settings auth.Config
		s.all = append(s.all, startPortalBy(t, "127.0.0.1:0", keys, func(cfg *auth.Config) {
			defer func() { settings = *cfg }()
			own, cli := s.idp.scopes()
			cfg.IssuerURL, cfg.PublicURL, cfg.Scopes, cfg.CLIScopes = s.idp.issuer(), s.url, strings.Fields(own),
				strings.Fields(cli)
			cfg.PostLogoutRedirect = s.idp.comesBack()
		}, func(parts *portal.Parts) {
			parts.Clock = s.clock
			if _, ok := s.idp.(*strict); ok { // its clock follows the portal's
				var err error
				if parts.Provider, err = auth.NewProvider(settings, s.clock.Now); err != nil {
					t.Fatal(err)
				}
			}
		}))
	}
	return s
}

// TestIdentityProviders signs in with real providers. It runs with make test-idp.
func TestIdentityProviders(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(identityProviders)) {
		t.Run(name, func(t *testing.T) {
			s := startSite(t, identityProviders[name])
			for _, part := range []struct {
				what string
				try  func(*site)
			}{
				{"signed out there", (*site).signedOutThere}, // first, while the portal's clock is the provider's
				{"signing out", (*site).signsOut},
				{"Chromium", (*site).browses},
				{"the REST API", (*site).takesTokens},
				{"portico login", (*site).commandLine},
				{"sessions stay", (*site).sessionsStay},
				{"the provider is away", (*site).restarts},
				{"keys change", (*site).keysChange},
				{"groups are revoked", (*site).groupsAreRevoked},
			} {
				t.Run(part.what, func(t *testing.T) {
					same := *s
					same.t = t
					part.try(&same)
				})
			}
		})
	}
}

// These find the address of a form and its hidden fields.
var (
	action  = regexp.MustCompile(`<form[^>]*\baction="([^"]+)"`)
	hidden  = regexp.MustCompile(`<input[^>]*type="hidden"[^>]*>`)
	nameOf  = regexp.MustCompile(`name="([^"]+)"`)
	valueOf = regexp.MustCompile(`value="([^"]*)"`)
)

// form returns the request of the form on a page, with additional fields.
func (b *browser) form(at *url.URL, page string, more url.Values) *http.Request {
	b.t.Helper()
	to, fields := at, url.Values{}
	if found := action.FindStringSubmatch(page); found != nil {
		var err error
		if to, err = at.Parse(html.UnescapeString(found[1])); err != nil {
			b.t.Fatal(err)
		}
	}
	for _, input := range hidden.FindAllString(page, -1) {
		name, value := nameOf.FindStringSubmatch(input), valueOf.FindStringSubmatch(input)
		if name != nil && value != nil {
			fields.Set(name[1], html.UnescapeString(value[1]))
		}
	}
	maps.Copy(fields, more)
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, to.String(), strings.NewReader(
		fields.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

// loginOf returns the login of a sample user, with the field names of both Dex and Keycloak.
func loginOf(user string) url.Values {
	return url.Values{"login": {user + "@portico.test"}, "username": {user}, "password": {stack.Password}}
}

// in returns a browser in which the user is signed in.
func (s *site) in(user, team string) *browser {
	s.t.Helper()
	b := newBrowser(s.t)
	at, page := b.open(s.url + "/auth/login?return_to=" + url.QueryEscape("/teams/"+team))
	if !strings.HasPrefix(at.String(), s.idp.issuer()) {
		s.t.Fatalf("no form of the provider but %s: %s", at, page.raw)
	}
	b.shows(b.form(at, page.raw, loginOf(user)), "/teams/"+team)
	return b
}

// stays fails unless the browser is still signed in.
func (s *site) stays(b *browser, page string) {
	s.t.Helper()
	b.t = s.t
	if at, got := b.open(s.url + page); got.status != http.StatusOK || at.RequestURI() != page {
		s.t.Errorf("status %d at %s, want %s", got.status, at, page)
	}
}

// serves waits until the provider is served.
func (s *site) serves() {
	s.t.Helper()
	isServed(s.t, s.idp.issuer()+"/.well-known/openid-configuration")
}

func (s *site) sessionsStay() {
	one, other := s.in("payments-dev", "payments"), s.in("payments-dev", "payments")
	for range 4 {
		s.later()
		s.stays(one, "/teams/payments?q=x")
		s.stays(other, "/teams/payments?q=y")
	}
}

func (s *site) restarts() {
	b, token := s.in("payments-dev", "payments"), s.token("payments-dev")
	s.rest(token, http.StatusOK)
	if err := s.idp.server().Stop(); err != nil {
		s.t.Fatal(err)
	}
	defer func() { // the following tests need it
		if s.idp.server().Ended() {
			_ = s.idp.server().Start(context.Background())
		}
	}()
	s.stays(b, "/teams/payments?q=away")
	s.later()
	s.stays(b, "/teams/payments?q=away+for+long")
	s.rest(token, http.StatusOK)
	if err := s.idp.server().Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.serves()
	s.later()
	s.stays(b, "/teams/payments?q=back")
	s.in("search-dev", "search")
}

func (s *site) keysChange() {
	b, token := s.in("payments-dev", "payments"), s.token("payments-dev")
	s.idp.newKey(s.t)
	s.rest(token, http.StatusOK)
	s.rest(s.token("payments-dev"), http.StatusOK)
	s.in("payments-dev", "payments")
	s.later()
	s.stays(b, "/teams/payments?q=x")
}

func (s *site) groupsAreRevoked() {
	b := s.in("payments-dev", "payments")
	soon := s.idp.groups(s.t, "payments-dev", "team-search")
	defer s.idp.groups(s.t, "payments-dev", "team-payments")
	s.later()
	if !soon {
		s.stays(b, "/teams/payments")
		s.stays(s.in("payments-dev", "search"), "/teams/search")
		return
	}
	if _, got := b.open(s.url + "/teams/payments"); got.status != http.StatusNotFound &&
		got.status != http.StatusForbidden {
		s.t.Errorf("who is not in the group any more sees its team: %d", got.status)
	}
	s.stays(b, "/teams/search")
}

// tokens returns the tokens that a user's tool gets, with the password grant, which both providers allow in tests.
func (s *site) tokens(user string) (id, access string) {
	s.t.Helper()
	return passwordGrant(s.t, s.idp, user)
}

func (s *site) token(user string) string { id, _ := s.tokens(user); return id }

// rest sends a request to each replica.
func (s *site) rest(token string, want int) {
	s.t.Helper()
	for _, r := range s.all {
		if got := r.call(s.t, token, "GET", "/namespaces/payments/s3buckets", nil); got.status != want {
			s.t.Errorf("status %d, want %d: %s", got.status, want, got.raw)
		}
	}
}

func (s *site) takesTokens() {
	id, access := s.tokens("payments-dev")
	s.rest(id, http.StatusOK)
	s.rest(access, http.StatusOK)
	s.rest(id[:len(id)-4]+"AAAA", http.StatusUnauthorized)
	other, _ := s.tokens("search-dev")
	s.rest(other, http.StatusForbidden)
}

// commandLine logs in with a browser on this machine, and with one on another device.
func (s *site) commandLine() {
	for _, device := range []bool{true, false} {
		c := newTerminal(s.t)
		asked := filepath.Join(s.t.TempDir(), "asked")
		opener := filepath.Join(filepath.Dir(asked), "xdg-open")
		if err := os.WriteFile(opener, []byte("#!/bin/sh\necho \"$1\" > '"+asked+".new' && mv '"+asked+".new' '"+asked+
			"'\n"), 0o700); err != nil {
			s.t.Fatal(err)
		}
		args := []string{"login", s.url}
		if device {
			args = append(args, "--device")
		}
		cmd := c.command(args...)
		if !device { // it opens a browser only if its output is a terminal
			at := exec.CommandContext(s.t.Context(), "script", "--quiet", "--return", "--command", cmd.String(),
				"/dev/null")
			at.Env, cmd = cmd.Env, at
		}
		cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(asked)+":"+os.Getenv("PATH"), "DISPLAY=:0")
		var said syncedBuffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
		s.follow(s.address(device, asked, &said))
		if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), "Logged in at") {
			s.t.Errorf("portico %v: %v: %s", args, err, said.String())
		}
	}
}

// address returns the address that portico login opens in a browser.
func (s *site) address(device bool, asked string, said *syncedBuffer) (address string) {
	s.t.Helper()
	await(s.t, "the address of portico login", func() (bool, string) {
		if device {
			address = regexp.MustCompile(`http\S+`).FindString(said.String())
			return strings.Contains(said.String(), "Waiting"), said.String()
		}
		data, err := os.ReadFile(asked)
		address = strings.TrimSpace(string(data))
		return err == nil, said.String()
	})
	return address
}

// follow submits each form, with the user's name and password, until a page has none.
func (s *site) follow(address string) {
	s.t.Helper()
	b := newBrowser(s.t)
	at, got := b.open(address)
	for range 4 {
		if !strings.Contains(got.raw, "<form") {
			return
		}
		fields := loginOf("payments-dev")
		if code := at.Query().Get("user_code"); code != "" {
			fields.Set("user_code", code)
			fields.Set("device_user_code", code)
		}
		if strings.Contains(got.raw, `name="accept"`) {
			fields.Set("accept", "Yes")
		}
		at, got = b.send(b.form(at, got.raw, fields))
	}
	if strings.Contains(got.raw, "<form") {
		s.t.Errorf("form after form, the last at %s: %s", at, got.raw)
	}
}

func (s *site) signsOut() {
	b := s.in("payments-dev", "payments")
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/auth/logout", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Origin", s.url)
	at, got := b.send(r)
	there := regexp.MustCompile(`href="(` + regexp.QuoteMeta(s.idp.issuer()) + `[^"]+)"`).FindStringSubmatch(got.raw)
	if got.status != http.StatusOK || there == nil {
		s.t.Fatalf("signing out ends at %s with %d, and no link to sign out at the provider: %s", at, got.status,
			got.raw)
	}
	s.stays(b, "/auth/signed-out")
	at, got = b.open(html.UnescapeString(there[1]))
	if strings.Contains(got.raw, "<form") { // it asks for confirmation
		at, got = b.send(b.form(at, got.raw, url.Values{}))
	}
	if got.status != http.StatusOK {
		s.t.Errorf("signing out at the provider ends at %s with %d: %s", at, got.status, got.raw)
	}
	if at, got := b.open(s.url + "/auth/login?return_to=%2Fteams%2Fpayments"); !strings.HasPrefix(
		at.String(), s.idp.issuer()) || !strings.Contains(got.raw, `type="password"`) {
		s.t.Errorf("the provider still knows the user: %s, %d", at, got.status)
	}
}

// signedOutThere ends a session at the provider, which notifies the portal.
func (s *site) signedOutThere() {
	b := s.in("viewer", "payments")
	if !s.idp.signOut(s.t, "viewer") {
		return
	}
	for range s.all { // the provider notified one replica; all must know
		await(s.t, "the session to end", func() (bool, string) {
			at, got := b.open(s.url + "/teams/payments")
			return strings.HasPrefix(at.String(), s.idp.issuer()) || strings.Contains(got.raw, "signed out"),
				at.String()
		})
	}
}

// isServed waits until the address answers: Keycloak can take minutes to start on a busy machine.
func isServed(t *testing.T, address string) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for err := serving(address)(t.Context()); err != nil; err = serving(address)(t.Context()) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer: %v", address, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// serving returns a function that requests an address once, and returns what is wrong.
func serving(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	}
}
