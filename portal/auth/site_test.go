package auth

import (
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

const portalURL = "http://127.0.0.1:8080"

// site is a portal with one page and its own clock.
type site struct {
	*Browser
	issuer  *oidctest.Provider
	clock   *clocktesting.FakePassiveClock
	handler http.Handler
	revoked *memory
	turns   *turns
	keys    string
}

// memory is a list of revoked sessions that can fail, and drops expired ones as the real one does.
type memory struct {
	mu      sync.Mutex
	all     map[string]time.Time // expiry
	users   map[string]time.Time // all sessions that began until then
	now     func() time.Time
	fail    error
	loading bool
}

func (m *memory) Loaded() bool { return !m.loading }

func (m *memory) Revoked(s SessionRef) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	until, all := m.users[s.User]
	return m.now().Before(m.all[s.ID]) || all && !s.Began.After(until)
}

func (m *memory) Revoke(_ context.Context, s SessionRef) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all[s.ID] = s.Forgettable()
	return m.fail
}

func (m *memory) RevokeUser(_ context.Context, until SessionRef) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users[until.User] = until.Began
	return m.fail
}

// plainPages render their arguments as text.
type plainPages struct{}

func (plainPages) SignIn(w http.ResponseWriter, _ *http.Request, href string, why Ending) {
	_, _ = io.WriteString(w, strings.TrimSpace("sign in at "+href+" "+string(why)))
}

func (plainPages) SignedOut(w http.ResponseWriter, _ *http.Request, endSession string) {
	_, _ = io.WriteString(w, "signed out; "+endSession)
}

func (plainPages) Ended(w http.ResponseWriter, _ *http.Request, href string) {
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = io.WriteString(w, "ended; sign in at "+href)
}

func (plainPages) Away(w http.ResponseWriter, _ *http.Request, again string) {
	w.WriteHeader(http.StatusBadGateway)
	_, _ = io.WriteString(w, "The identity provider does not answer; again at "+again)
}

func (plainPages) Unconfirmed(w http.ResponseWriter, r *http.Request, u Unconfirmed) {
	id, _ := FromContext(r.Context())
	w.WriteHeader(u.Status)
	_, _ = io.WriteString(w, id.Username+": "+u.Title+": "+u.Detail+" Back to "+u.Back+" "+u.EndSession)
}

func (plainPages) Problem(w http.ResponseWriter, _ *http.Request, status int, title, detail string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, title+": "+detail)
}

func newKey(b byte) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(b), 32)))
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{
		issuer: oidctest.New(t), clock: clocktesting.NewFakePassiveClock(time.Now()),
		revoked: &memory{all: map[string]time.Time{}, users: map[string]time.Time{}},
	}
	s.issuer.Now, s.revoked.now = s.clock.Now, s.clock.Now
	s.turns = &turns{all: map[string]turn{}}
	s.keys = filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(s.keys, []byte("# one\n"+newKey('a')+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	return s
}

// replica returns another replica of the portal, with the same users, keys and lists.
func (s *site) replica(t *testing.T) *site {
	t.Helper()
	other := &site{issuer: s.issuer, clock: s.clock, revoked: s.revoked, turns: s.turns, keys: s.keys}
	other.start(t)
	return other
}

func (s *site) start(t *testing.T) {
	t.Helper()
	keys, err := NewSessionKeys(s.keys, s.clock.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.Browser = NewBrowser(BrowserOptions{
		Provider: s.provider(t), Keys: keys, Revoked: s.revoked, Turns: s.turns, Pages: plainPages{},
		Life:  DefaultLife(),
		Clock: s.clock, Log: slog.New(slog.DiscardHandler),
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+SignInPath, s.SignIn)
	mux.HandleFunc("GET "+LoginPath, s.Login)
	mux.HandleFunc("GET "+CallbackPath, s.Callback)
	mux.HandleFunc("GET "+ConfirmPath, s.Confirm)
	mux.HandleFunc("POST "+LogoutPath, s.Logout)
	mux.HandleFunc("POST "+BackChannelPath, s.BackChannelLogout)
	mux.HandleFunc("GET "+SignedOutPath, s.SignedOut)
	// no page of ours shows it
	mux.Handle("/token", s.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, Token(r.Context()))
	})))
	mux.Handle("/", s.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := FromContext(r.Context())
		_, _ = io.WriteString(w, id.Username+" "+strings.Join(id.Groups, ","))
	})))
	s.handler = s.SameOrigin(mux)
}

func (s *site) provider(t *testing.T) *Provider {
	t.Helper()
	p, err := NewProvider(Config{
		IssuerURL: s.issuer.URL, ClientID: "portal", PublicURL: portalURL, UsernameClaim: "preferred_username",
		GroupsClaim: "groups", GroupsOptional: true, Prefix: "oidc:", Audiences: []string{"api"},
		ConfirmPrompt: DefaultConfirmPrompt,
	}, s.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// jar is a browser's cookies.
type jar map[string]string

func request(method, target string, cookies jar) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), method, portalURL+target, http.NoBody)
	for name, value := range cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	return r
}

func (s *site) do(method, target string, cookies jar, headers ...string) page {
	r := request(method, target, cookies)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	got := page{StatusCode: w.Code, Header: w.Header(), body: w.Body.String()}
	for _, c := range got.Cookies() {
		if cookies == nil {
			break
		}
		if c.MaxAge < 0 {
			delete(cookies, c.Name)
		} else {
			cookies[c.Name] = c.Value
		}
	}
	return got
}

// page is a response.
type page struct {
	StatusCode int
	Header     http.Header
	body       string
}

// Cookies returns the cookies that the response sets.
func (p page) Cookies() []*http.Cookie {
	r := http.Response{Header: p.Header}
	return r.Cookies()
}

// signIn goes through the provider and returns the callback's response.
func (s *site) signIn(t *testing.T, cookies jar, claims oidctest.Claims) page {
	t.Helper()
	start := s.do("GET", LoginPath+"?return_to=%2Fx", cookies)
	code, state := s.issuer.Code(start.Header.Get("Location"), claims)
	return s.do("GET", CallbackPath+"?"+url.Values{"code": {code}, "state": {state}}.Encode(), cookies)
}

func signedIn(t *testing.T) (*site, jar) {
	t.Helper()
	s, cookies := newSite(t), jar{}
	r := s.signIn(t, cookies, alice)
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/x" {
		t.Fatalf("signing in: %d to %q: %s", r.StatusCode, r.Header.Get("Location"), r.body)
	}
	return s, cookies
}

var alice = oidctest.Claims{"preferred_username": "alice", "groups": []string{"dev"}, "name": "Alice"}

// see fails unless the page greets the user with want; "" expects a redirect to sign in.
func (s *site) see(t *testing.T, cookies jar, want string) {
	t.Helper()
	r := s.do("GET", "/x", cookies)
	if want == "" {
		if r.StatusCode != http.StatusSeeOther || !strings.HasPrefix(r.Header.Get("Location"), SignInPath) {
			t.Fatalf("status %d to %q, want a redirect to sign in", r.StatusCode, r.Header.Get("Location"))
		}
		return
	}
	if got := r.body; r.StatusCode != http.StatusOK || got != want {
		t.Fatalf("status %d %q, want %q", r.StatusCode, got, want)
	}
}
