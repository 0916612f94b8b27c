package session_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/cmd/portico/session"
	"github.com/portico-platform/portico/portal/auth/oidctest"
)

const server = "https://portal.example.com"

func settings(p *oidctest.Provider) session.Settings {
	return session.Settings{Issuer: p.URL, ClientID: "cli", Scopes: []string{"openid"}, Audiences: []string{"api"}}
}

// comesBack returns a browser in which a user signs in with the claims. change can corrupt the response.
func comesBack(t *testing.T, p *oidctest.Provider, claims oidctest.Claims, change func(url.Values)) func(string) error {
	t.Helper()
	return func(page string) error {
		u, err := url.Parse(page)
		if err != nil {
			return err
		}
		code, state := p.Code(page, claims)
		answer := url.Values{"code": {code}, "state": {state}}
		if change != nil {
			change(answer)
		}
		go func() {
			resp, err := http.Get(u.Query().Get("redirect_uri") + "?" + answer.Encode())
			if err == nil {
				_ = resp.Body.Close()
			}
		}()
		return nil
	}
}

func TestABrowserSignsSomebodyIn(t *testing.T) {
	p := oidctest.New(t)
	store := session.Store{Dir: filepath.Join(t.TempDir(), "deep", "portico")}
	var said bytes.Buffer
	l := session.Login{
		Server: server, Settings: settings(p), Store: store, Say: &said,
		Open: comesBack(t, p, oidctest.Claims{"aud": "api"}, nil),
	}
	s, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(said.String(), s.IDToken) || strings.Contains(said.String(), s.RefreshToken) {
		t.Error("the login shows tokens")
	}
	all, err := store.Read()
	switch {
	case err != nil:
		t.Error(err)
	case all.Current != server:
		t.Errorf("Current = %v, want %v", all.Current, server)
	case all.Servers[server].IDToken != s.IDToken:
		t.Errorf("kept ID token = %q, want that of the login", all.Servers[server].IDToken)
	case s.RefreshToken == "":
		t.Error("RefreshToken is empty")
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{
			store.Dir: 0o700, filepath.Join(store.Dir, "sessions.json"): 0o600,
		} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s has %v, %v, want %v", path, info.Mode(), err, want)
			}
		}
	}
}

func TestLoginsThatFail(t *testing.T) {
	for _, c := range []struct {
		name   string
		claims oidctest.Claims
		change func(url.Values)
		want   string
	}{
		{"refused in the browser", nil, func(v url.Values) { v.Del("code"); v.Set("error_description", "not you") }, "the identity provider refused the login: not you"},
		{"a code that is none", nil, func(v url.Values) { v.Set("code", "x") }, "getting a token from the identity provider: invalid_grant"},
		{"an answer to another login", oidctest.Claims{"aud": "api", "nonce": "other"}, nil, "answer to another login"},
		{"a token for somebody else", oidctest.Claims{"aud": "elsewhere"}, nil, "is for elsewhere, and the portal takes those for api"},
		{"a token that has ended", oidctest.Claims{"aud": "api", "exp": 1}, nil, "does not hold"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := oidctest.New(t)
			store := session.Store{Dir: t.TempDir()}
			l := session.Login{
				Server: server, Settings: settings(p), Store: store, Say: io.Discard,
				Open: comesBack(t, p, c.claims, c.change),
			}
			if _, err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if all, err := store.Read(); err != nil || len(all.Servers) > 0 {
				t.Errorf("kept %+v, %v", all, err)
			}
		})
	}
}

func TestOtherPagesCannotAnswerALogin(t *testing.T) {
	p := oidctest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	l := session.Login{Server: server, Settings: settings(p), Store: session.Store{Dir: t.TempDir()}, Say: io.Discard}
	l.Open = func(page string) error {
		defer cancel()
		u, err := url.Parse(page)
		if err != nil {
			return err
		}
		back := u.Query().Get("redirect_uri")
		for _, guess := range []string{back, back + "?code=x&state=guess", strings.TrimSuffix(back, "callback")} {
			resp, err := http.Get(guess)
			if err != nil {
				return err
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s answers %s", guess, resp.Status)
			}
		}
		return nil
	}
	if _, err := l.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestALoginFindsAPortThatIsFree(t *testing.T) {
	for _, port := range []string{"8000", "18000"} {
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil { // else it is in use, which is as good
			defer func() { _ = l.Close() }()
		}
	}
	p := oidctest.New(t)
	back := ""
	come := comesBack(t, p, oidctest.Claims{"aud": "api"}, nil)
	l := session.Login{
		Server: server, Settings: settings(p), Store: session.Store{Dir: t.TempDir()}, Say: io.Discard,
		Open: func(page string) error {
			u, err := url.Parse(page)
			back = u.Query().Get("redirect_uri")
			return errors.Join(err, come(page))
		},
	}
	if _, err := l.Run(t.Context()); err != nil || strings.HasSuffix(back, ":8000/callback") ||
		!strings.HasSuffix(back, "/callback") {
		t.Errorf("%v, and the browser comes back to %s", err, back)
	}
}

func TestABrowserThatDoesNotOpen(t *testing.T) {
	p := oidctest.New(t)
	come := comesBack(t, p, oidctest.Claims{"aud": "api"}, nil)
	var said bytes.Buffer
	l := session.Login{
		Server: server, Settings: settings(p), Store: session.Store{Dir: t.TempDir()}, Say: &said,
		Open: func(page string) error {
			return errors.Join(come(page), errors.New("no browser here"))
		},
	}
	_, err := l.Run(t.Context())
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{"no browser here", "/auth?", "portico login --device"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("says %q, want %q in it", said.String(), want)
		}
	}
}

func TestProvidersThatCannotBeUsed(t *testing.T) {
	down := httptest.NewServer(http.NotFoundHandler())
	defer down.Close()
	for issuer, want := range map[string]string{
		"http://login.example.com": "no https URL", "": "no https URL", down.URL: "asking the identity provider " +
			down.URL,
		oidctest.New(t).URL: "has no device flow",
	} {
		l := session.Login{Server: server, Settings: session.Settings{Issuer: issuer, ClientID: "cli"}, Say: io.Discard}
		if _, err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", issuer, err, want)
		}
	}
}

// loggedIn returns a store with a session whose token is valid, but expires too soon to be used.
func loggedIn(t *testing.T, p *oidctest.Provider) session.Store {
	t.Helper()
	store := session.Store{Dir: t.TempDir()}
	claims := oidctest.Claims{"aud": "api", "exp": time.Now().Add(20 * time.Second).Unix()}
	l := session.Login{
		Server: server, Settings: settings(p), Store: store, Say: io.Discard,
		Open: comesBack(t, p, claims, nil),
	}
	if _, err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

func TestATokenThatEndsIsRenewedOnceForAll(t *testing.T) {
	p := oidctest.New(t)
	p.Refreshed = func() (oidctest.Claims, int) {
		return oidctest.Claims{"aud": "api", "sub": "renewed"}, http.StatusOK
	}
	store := loggedIn(t, p)
	before, err := store.Read()
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 5 { // concurrent processes
		group.Go(func() {
			got, err := (&session.Tokens{Server: server, Store: store, Clock: clock.RealClock{}}).Token(t.Context())
			if err != nil || got == before.Servers[server].IDToken {
				t.Errorf("the token is not a new one: %v", err)
			}
		})
	}
	group.Wait()
	if n := p.Refreshes(); n != 1 {
		t.Errorf("the refresh token was used %d times", n)
	}
	after, err := store.Read()
	if err != nil || after.Servers[server].RefreshToken == before.Servers[server].RefreshToken {
		t.Errorf("the new refresh token is not kept: %v", err)
	}
}

func TestASessionThatHasEnded(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		login  bool // a new login is needed
	}{"refused by the provider": {400, true}, "a provider in trouble": {503, false}} {
		t.Run(name, func(t *testing.T) {
			p := oidctest.New(t)
			store := loggedIn(t, p)
			p.Refreshed = func() (oidctest.Claims, int) { return nil, c.status }
			_, err := (&session.Tokens{Server: server, Store: store, Clock: clock.RealClock{}}).Token(t.Context())
			if _, login := errors.AsType[*session.NoLoginError](err); err == nil || login != c.login {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestLoggingOutForgetsEverything(t *testing.T) {
	p := oidctest.New(t)
	store := loggedIn(t, p)
	for _, want := range []bool{true, false} {
		if was, err := session.Logout(t.Context(), store, server, nil); err != nil || was != want {
			t.Errorf("got %v, %v, want %v", was, err, want)
		}
	}
	b, err := os.ReadFile(filepath.Join(store.Dir, "sessions.json"))
	if err != nil || regexp.MustCompile(`eyJ|current`).Match(b) {
		t.Errorf("left %s, %v", b, err)
	}
	_, err = (&session.Tokens{Server: server, Store: store, Clock: clock.RealClock{}}).Token(t.Context())
	if _, login := errors.AsType[*session.NoLoginError](err); !login {
		t.Errorf("got %v", err)
	}
}

func TestAFileThatCannotBeReadIsNotRepeated(t *testing.T) {
	store := session.Store{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(store.Dir, "sessions.json"), []byte(`eyJsecret`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Read(); err == nil || !strings.Contains(err.Error(), "delete it and log in again") ||
		strings.Contains(err.Error(), "eyJ") {
		t.Errorf("got %v", err)
	}
}

func TestAFileThatOthersCanOpenIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no such modes
	}
	store := session.Store{Dir: t.TempDir()}
	path := filepath.Join(store.Dir, "sessions.json")
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o620: true} {
		if err := os.WriteFile(path, []byte(`{"servers": {"x": {"idToken": "eyJsecret"}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := store.Read()
		switch want := "run chmod 600 " + path; {
		case (err != nil) != refused, refused && !strings.Contains(err.Error(), want):
			t.Errorf("%v: error = %v, want one: %v, with %q", mode, err, refused, want)
		case refused && strings.Contains(err.Error(), "eyJ"):
			t.Errorf("%v: error = %v, want no token in it", mode, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}
