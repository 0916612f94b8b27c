package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth/oidctest"
)

const portalURL = "http://127.0.0.1:8080"

// site is a portal of one page, with a clock of its own.
type site struct {
	*Browser
	issuer  *oidctest.Provider
	clock   *clocktesting.FakePassiveClock
	handler http.Handler
	revoked *memory
	keys    string
}

// memory is a list of revoked sessions that can fail.
type memory struct {
	mu   sync.Mutex
	all  []string
	fail error
}

func (m *memory) Revoked(s string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.all, s)
}

func (m *memory) Revoke(_ context.Context, s string, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, s)
	return m.fail
}

// plainPages show what they are told to.
type plainPages struct{}

func (plainPages) SignIn(w http.ResponseWriter, _ *http.Request, href string) {
	_, _ = io.WriteString(w, "sign in at "+href)
}

func (plainPages) SignedOut(w http.ResponseWriter, _ *http.Request, endSession string) {
	_, _ = io.WriteString(w, "signed out; "+endSession)
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
	s := &site{issuer: oidctest.New(t), clock: clocktesting.NewFakePassiveClock(time.Now()), revoked: &memory{}}
	s.issuer.Now = s.clock.Now
	s.keys = filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(s.keys, []byte("# one\n"+newKey('a')+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := NewKeys(s.keys, s.clock.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.Browser = NewBrowser(BrowserOptions{Provider: s.provider(t), Keys: keys, Revoked: s.revoked, Pages: plainPages{},
		Clock: s.clock, Log: slog.New(slog.DiscardHandler)})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+SignInPath, s.SignIn)
	mux.HandleFunc("GET "+LoginPath, s.Login)
	mux.HandleFunc("GET "+CallbackPath, s.Callback)
	mux.HandleFunc("POST "+LogoutPath, s.Logout)
	mux.HandleFunc("GET "+SignedOutPath, s.SignedOut)
	mux.Handle("/", s.Require(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := FromContext(r.Context())
		_, _ = io.WriteString(w, id.Username+" "+strings.Join(id.Groups, ","))
	})))
	s.handler = s.SameOrigin(mux)
	return s
}

func (s *site) provider(t *testing.T) *Provider {
	t.Helper()
	p, err := NewProvider(Config{IssuerURL: s.issuer.URL, ClientID: "portal", PublicURL: portalURL, UsernameClaim: "preferred_username",
		GroupsClaim: "groups", Prefix: "oidc:", Audiences: []string{"api"}}, s.clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// jar is a browser's cookies.
type jar map[string]string

func (s *site) do(method, target string, cookies jar, headers ...string) *http.Response {
	r := httptest.NewRequest(method, portalURL+target, http.NoBody)
	for name, value := range cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	resp := w.Result()
	for _, c := range resp.Cookies() {
		if cookies == nil {
			break
		}
		if c.MaxAge < 0 {
			delete(cookies, c.Name)
		} else {
			cookies[c.Name] = c.Value
		}
	}
	return resp
}

func text(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// signIn goes through the provider; what comes back is the callback's answer.
func (s *site) signIn(t *testing.T, cookies jar, claims oidctest.Claims) *http.Response {
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
		t.Fatalf("signing in: %d to %q: %s", r.StatusCode, r.Header.Get("Location"), text(t, r))
	}
	return s, cookies
}

var alice = oidctest.Claims{"preferred_username": "alice", "groups": []string{"dev"}, "name": "Alice"}

// see fails unless the page greets the user so; "" wants a redirect to sign in.
func (s *site) see(t *testing.T, cookies jar, want string) {
	t.Helper()
	r := s.do("GET", "/x", cookies)
	if want == "" {
		if r.StatusCode != http.StatusSeeOther || !strings.HasPrefix(r.Header.Get("Location"), SignInPath) {
			t.Fatalf("status %d to %q, want a redirect to sign in", r.StatusCode, r.Header.Get("Location"))
		}
		return
	}
	if got := text(t, r); r.StatusCode != http.StatusOK || got != want {
		t.Fatalf("status %d %q, want %q", r.StatusCode, got, want)
	}
}

func TestSessionsHaveTheirNamesAndAttributes(t *testing.T) {
	s, cookies := newSite(t), jar{}
	r := s.signIn(t, cookies, alice)
	i := slices.IndexFunc(r.Cookies(), func(c *http.Cookie) bool { return c.Name == "__Host-portico" })
	if i < 0 {
		t.Fatalf("no session in %v", r.Cookies())
	}
	c := r.Cookies()[i]
	if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
		t.Errorf("cookie %v", c)
	}
	if strings.Contains(c.Value, "alice") {
		t.Error("the session can be read")
	}
	s.see(t, cookies, "oidc:alice oidc:dev")
	if _, left := cookies[loginCookie]; left {
		t.Error("the cookie of the sign-in is left")
	}
	s.see(t, jar{}, "")
	cookies[sessionCookie] = cookies[sessionCookie][:20] + "x" + cookies[sessionCookie][21:]
	s.see(t, cookies, "")
}

func TestSessionsEnd(t *testing.T) {
	for reason, c := range map[string]struct {
		claims oidctest.Claims
		step   time.Duration
		steps  int
		alive  bool
	}{
		"in use":                       {nil, 30 * time.Minute, 23, true},
		"in use for half a day":        {nil, 30 * time.Minute, 24, false},
		"not used for most of an hour": {nil, 59 * time.Minute, 1, true},
		"not used for an hour":         {nil, time.Hour, 1, false},
	} {
		t.Run(reason, func(t *testing.T) {
			s, cookies := signedIn(t)
			for range c.steps - 1 {
				s.clock.SetTime(s.clock.Now().Add(c.step))
				s.see(t, cookies, "oidc:alice oidc:dev")
			}
			s.clock.SetTime(s.clock.Now().Add(c.step))
			want := ""
			if c.alive {
				want = "oidc:alice oidc:dev"
			}
			s.see(t, cookies, want)
		})
	}
}

func TestSignOutEndsCopiesToo(t *testing.T) {
	s, cookies := signedIn(t)
	thief := jar{sessionCookie: cookies[sessionCookie]}
	r := s.do("POST", LogoutPath, cookies, "Origin", portalURL)
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != SignedOutPath {
		t.Fatalf("%d to %q", r.StatusCode, r.Header.Get("Location"))
	}
	if len(cookies) != 0 {
		t.Errorf("cookies left: %v", cookies)
	}
	if got := text(t, s.do("GET", SignedOutPath, nil)); got != "signed out; "+s.issuer.URL+"/logout?client_id=portal" {
		t.Error(got)
	}
	s.see(t, thief, "")
}

func TestSignOutSaysWhenItReachedThisBrowserOnly(t *testing.T) {
	s, cookies := signedIn(t)
	s.revoked.fail = errors.New("no cluster at secret.internal")
	r := s.do("POST", LogoutPath, cookies, "Origin", portalURL)
	if got := text(t, r); r.StatusCode != http.StatusServiceUnavailable || strings.Contains(got, "secret.internal") || len(cookies) != 0 {
		t.Errorf("%d %q, cookies %v", r.StatusCode, got, cookies)
	}
}

func TestWhoIsNotSignedInIsSentToSignIn(t *testing.T) {
	s := newSite(t)
	r := s.do("GET", "/teams/a?sort=name", nil)
	if want := SignInPath + "?return_to=%2Fteams%2Fa%3Fsort%3Dname"; r.StatusCode != 303 || r.Header.Get("Location") != want {
		t.Errorf("%d to %q, want %q", r.StatusCode, r.Header.Get("Location"), want)
	}
	if got := text(t, s.do("GET", SignInPath+"?return_to=%2Fx", nil)); got != "sign in at "+LoginPath+"?return_to=%2Fx" {
		t.Error(got)
	}
	for _, headers := range [][]string{{"HX-Request", "true"}, {"Accept", "text/event-stream"}} {
		r := s.do("GET", "/teams/a/live", nil, append(headers, "HX-Current-URL", portalURL+"/teams/a?q=1")...)
		if r.StatusCode != 401 || r.Header.Get("HX-Redirect") != SignInPath+"?return_to=%2Fteams%2Fa%3Fq%3D1" {
			t.Errorf("%v: %d, HX-Redirect %q", headers, r.StatusCode, r.Header.Get("HX-Redirect"))
		}
	}
	r = s.do("POST", "/teams/a", nil, "Origin", portalURL)
	if r.StatusCode != 401 || !strings.Contains(text(t, r), "Nothing was changed") {
		t.Errorf("POST: %d", r.StatusCode)
	}
	in, cookies := signedIn(t)
	if r := in.do("GET", SignInPath+"?return_to=%2Fy", cookies); r.Header.Get("Location") != "/y" {
		t.Errorf("signed in already, and sent to %q", r.Header.Get("Location"))
	}
}

func TestReturnToStaysHere(t *testing.T) {
	for in, want := range map[string]string{
		"/teams/a?x=1#y": "/teams/a?x=1#y", "": "/", "teams": "/", "//evil.example": "/", `/\evil.example`: "/", "/%5Cevil.example": "/",
		"https://evil.example/": "/", "javascript:alert(1)": "/", "/\tevil": "/", "/%2F/evil": "/", "/auth/logout": "/",
		"http:/x": "/", "/a\r\nSet-Cookie: x": "/", "/" + strings.Repeat("a", 3000): "/",
	} {
		if got := localPath(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWritesMustComeFromHere(t *testing.T) {
	s, cookies := signedIn(t)
	for _, c := range []struct {
		reason  string
		method  string
		headers []string
		status  int
	}{
		{"a page of ours", "POST", []string{"Origin", portalURL, "Sec-Fetch-Site", "same-origin"}, 200},
		{"fetch metadata alone", "POST", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"reading", "GET", []string{"Origin", "https://evil.example"}, 200},
		{"nothing said", "POST", nil, 403},
		{"another site", "POST", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, 403},
		{"a sibling host", "POST", []string{"Origin", "http://team.127.0.0.1:8080", "Sec-Fetch-Site", "same-site"}, 403},
		{"another port", "POST", []string{"Origin", "http://127.0.0.1:9999"}, 403},
		{"another scheme", "POST", []string{"Origin", "https://127.0.0.1:8080"}, 403},
		{"no origin to tell", "POST", []string{"Origin", "null"}, 403},
		{"typed in", "POST", []string{"Sec-Fetch-Site", "none"}, 403},
		{"DELETE of another site", "DELETE", []string{"Origin", "https://evil.example"}, 403},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if r := s.do(c.method, "/x", cookies, c.headers...); r.StatusCode != c.status {
				t.Errorf("status %d, want %d", r.StatusCode, c.status)
			}
		})
	}
}

func TestAliveEndsWithTheSession(t *testing.T) {
	s, cookies := signedIn(t)
	var alive func() error
	h := s.Require(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { alive = func() error { return Alive(r.Context()) } }))
	r := httptest.NewRequest("GET", portalURL+"/live", http.NoBody)
	r.AddCookie(&http.Cookie{Name: sessionCookie, Value: cookies[sessionCookie]})
	h.ServeHTTP(httptest.NewRecorder(), r)
	if err := alive(); err != nil {
		t.Fatal(err)
	}
	s.do("POST", LogoutPath, cookies, "Origin", portalURL)
	if alive() == nil {
		t.Error("alive after signing out")
	}
	if Alive(t.Context()) == nil {
		t.Error("alive without a session")
	}
}
