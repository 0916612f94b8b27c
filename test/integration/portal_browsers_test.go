//go:build integration

package integration

import (
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal"
	"github.com/portico-platform/portico/test/stack"
)

// secureJar keeps cookies as browsers do for loopback addresses, which they treat like https.
type secureJar struct{ http.CookieJar }

func (j secureJar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.CookieJar.SetCookies(secure(u), cookies)
}

func (j secureJar) Cookies(u *url.URL) []*http.Cookie { return j.CookieJar.Cookies(secure(u)) }

// secure returns the address with https, so that the jar keeps Secure cookies. Cookies are sent to all ports of a host,
// but the portal and Dex use different names.
func secure(u *url.URL) *url.URL {
	s := *u
	s.Scheme = "https"
	return &s
}

// browser is a user's browser, which follows redirects between the portal and Dex.
type browser struct {
	t        *testing.T
	client   *http.Client
	silently int // number of sign-ins with prompt=none
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	kept, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t}
	b.client = &http.Client{
		Jar: secureJar{kept}, Timeout: patience,
		Transport: secrets.Transport(http.DefaultTransport),
		CheckRedirect: func(r *http.Request, before []*http.Request) error {
			if len(before) > 12 {
				return errors.New("redirected round and round")
			}
			if r.URL.Query().Get("prompt") == "none" {
				b.silently++
			}
			return nil
		},
	}
	return b
}

// open follows a link, and returns the final address and the response.
func (b *browser) open(at string, headers ...string) (*url.URL, answer) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, at, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return b.send(r)
}

func (b *browser) send(r *http.Request) (*url.URL, answer) {
	b.t.Helper()
	resp, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		return resp.Request.URL, answer{status: resp.StatusCode}
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.Request.URL, answer{status: resp.StatusCode, header: resp.Header, raw: string(body)}
}

// signIn signs in with Dex's form.
func (b *browser) signIn(portal, user string) {
	b.t.Helper()
	form, page := b.open(portal + "/auth/login?return_to=%2Fteams%2Fpayments")
	if !strings.HasPrefix(form.String(), world.Issuer) {
		b.t.Fatalf("no form of Dex but %s: %s", form, page.raw)
	}
	in := url.Values{"login": {user + "@portico.test"}, "password": {stack.Password}}
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, form.String(), strings.NewReader(in.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	b.shows(r, "/teams/payments")
}

// shows sends the request, and fails unless the browser ends up at the page.
func (b *browser) shows(r *http.Request, page string) {
	b.t.Helper()
	at, got := b.send(r)
	if got.status != http.StatusOK || at.RequestURI() != page {
		b.t.Fatalf("status %d at %s, want %s: %s", got.status, at, page, got.raw)
	}
}

// TestTwoBrowsersOfAUserStaySignedIn checks that sessions are renewed, although Dex has only one refresh token for each
// user and client, so that each browser invalidates the other's again and again.
func TestTwoBrowsersOfAUserStaySignedIn(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Now())
	p := startPortalAt(t, strings.TrimPrefix(world.PortalURL, "http://"), "", sessionKeys(t),
		func(parts *portal.Parts) { parts.Clock = clock })
	one, other := newBrowser(t), newBrowser(t)
	one.signIn(p.url, "payments-dev")
	other.signIn(p.url, "payments-dev")
	for round := range 4 {
		clock.SetTime(clock.Now().Add(5*time.Minute + time.Second))
		for _, b := range []*browser{one, other} {
			before := b.silently
			if _, got := b.open(p.url+"/teams/payments/live", "Accept",
				"text/event-stream"); got.status == http.StatusUnauthorized {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/teams/payments?q=x",
					http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				b.shows(r, "/teams/payments?q=x") // the page's script reloads it like this
				if b.silently == before {
					t.Errorf("round %d: a stream is refused, and then the page is not", round)
				}
			}
			if _, got := b.open(p.url+"/teams/payments/live", "Accept",
				"text/event-stream"); got.status != http.StatusOK {
				t.Errorf("round %d: the stream is answered %d", round, got.status)
			}
		}
	}
	if one.silently+other.silently < 4 {
		t.Errorf("the browsers were renewed silently %d and %d times: Dex does not do any more what this test is about",
			one.silently, other.silently)
	}
	if strings.Contains(p.log.String(), "sign-in failed") {
		t.Errorf("a sign-in failed: %s", p.log.String())
	}
}
