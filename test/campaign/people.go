package campaign

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/portico-platform/portico/portal/auth/oidctest"
	"github.com/portico-platform/portico/test/stack"
)

// identities returns the identity provider of the portals that StartPortal starts. It is served by this process.
func (w *World) identities() *oidctest.Provider {
	if w.issuer == nil {
		w.issuer = oidctest.New(issuing{w})
	}
	return w.issuer
}

// issuing lets a World own an identity provider, as a test does.
type issuing struct{ *World }

// Helper implements oidctest.T.
func (issuing) Helper() {}

// Cleanup implements oidctest.T.
func (i issuing) Cleanup(f func()) { i.cleanups = append(i.cleanups, f) }

// Fatal implements oidctest.T.
func (issuing) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// Fatalf implements oidctest.T.
func (issuing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func claims(user, group string) oidctest.Claims {
	return oidctest.Claims{
		"sub": user, "preferred_username": user, "groups": []string{group}, "email": user + "@portico.test",
	}
}

// TokenOf returns a token for the REST API of a user who is in one group.
func (w *World) TokenOf(user, group string) string {
	all := claims(user, group)
	all["aud"] = stack.Audience
	return w.identities().Token(all)
}

// SignIn signs in a user who is in one group at a portal, and returns the cookie of the session.
func (w *World) SignIn(ctx context.Context, c *http.Client, portal, user, group string) (cookie string, err error) {
	begun, err := Send(ctx, c, http.MethodGet, portal+"/auth/login", nil, nil)
	if err != nil {
		return "", err
	}
	code, state := w.identities().Code(begun.Header.Get("Location"), claims(user, group))
	back, err := Send(ctx, c, http.MethodGet, portal+"/auth/callback?"+url.Values{
		"code": {code}, "state": {state},
	}.Encode(), http.Header{"Cookie": {begun.Cookies()}}, nil)
	if err != nil {
		return "", err
	}
	if back.Status != http.StatusSeeOther || back.Cookies() == "" {
		return "", fmt.Errorf("signing in %s is answered with %d", user, back.Status)
	}
	return back.Cookies(), nil
}

// Browser returns an HTTP client that follows no redirects.
func Browser(transport *http.Transport) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Answer is a response that has been read to its end.
type Answer struct {
	At           *url.URL // of the last request, after redirects
	Status       int
	Header       http.Header
	Body         []byte
	First, Whole time.Duration // time until the first and the last byte
}

// Cookies returns the cookies that a response sets, in the format of a Cookie header.
func (a Answer) Cookies() string {
	var all []string
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.Value != "" {
			all = append(all, c.Name+"="+c.Value)
		}
	}
	return strings.Join(all, "; ")
}

// Send sends one request, and reads the response to its end. It does not retry.
func Send(ctx context.Context, c *http.Client, method, to string, header http.Header, body io.Reader) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, body)
	if err != nil {
		return Answer{}, err
	}
	maps.Copy(req.Header, header)
	began := time.Now()
	resp, err := c.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	a := Answer{At: resp.Request.URL, Status: resp.StatusCode, Header: resp.Header, First: time.Since(began)}
	a.Body, err = io.ReadAll(resp.Body)
	a.Whole = time.Since(began)
	return a, err
}

// Stream is the stream of live updates of a page.
type Stream struct {
	*bufio.Reader
	io.Closer
}

// Follow opens the stream of live updates at a URL.
func Follow(ctx context.Context, c *http.Client, at, cookie string) (Stream, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return Stream{}, err
	}
	req.Header.Set("Cookie", cookie)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := c.Do(req)
	if err != nil {
		return Stream{}, err
	}
	if resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return Stream{}, fmt.Errorf("the stream %s is answered with %s", at, resp.Status)
	}
	return Stream{bufio.NewReader(resp.Body), resp.Body}, nil
}
