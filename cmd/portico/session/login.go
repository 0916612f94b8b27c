package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Login signs somebody in and keeps the session for server.
type Login struct {
	Server   string
	Settings Settings
	Store    Store
	Say      io.Writer              // what the person has to do
	Via      http.RoundTripper      // to the identity provider; nil is the default one
	Open     func(url string) error // shows a page in a browser; nil: there is none, and the device flow is used
}

// Run returns once the person has signed in, or ctx ends.
func (l Login) Run(ctx context.Context) (*Session, error) {
	p, err := discover(ctx, l.Settings, l.Via)
	if err != nil {
		return nil, err
	}
	var s *Session
	if l.Open != nil {
		s, err = l.browser(ctx, p)
	} else {
		s, err = l.device(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return s, l.Store.Change(ctx, func(all *Sessions) error {
		all.Current, all.Servers[l.Server] = l.Server, s
		return nil
	})
}

// device logs in by the device flow (RFC 8628): the person confirms a code in a browser anywhere.
func (l Login) device(ctx context.Context, p *provider) (*Session, error) {
	if p.oauth.Endpoint.DeviceAuthURL == "" {
		return nil, fmt.Errorf("the identity provider %s has no device flow: log in where there is a browser", p.settings.Issuer)
	}
	verifier := oauth2.GenerateVerifier()
	asked, err := p.oauth.DeviceAuth(p.in(ctx), oauth2.S256ChallengeOption(verifier))
	if err != nil {
		return nil, fmt.Errorf("asking the identity provider for a code: %w", plain(err))
	}
	where := cmp.Or(asked.VerificationURIComplete, asked.VerificationURI)
	_, _ = fmt.Fprintf(l.Say, "Open this page in any browser:\n\n  %s\n\nand confirm this code:\n\n  %s\n\nWaiting until you have done so…\n", where, asked.UserCode)
	token, err := p.oauth.DeviceAccessToken(p.in(ctx), asked, oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, deviceError(ctx, err)
	}
	return p.session(ctx, token, "")
}

func deviceError(ctx context.Context, err error) error {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case ok && e.ErrorCode == "access_denied":
		return errors.New(strings.TrimSuffix("the login was refused in the browser: "+e.ErrorDescription, ": "))
	case ok && e.ErrorCode == "expired_token", ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
		return errors.New("nobody confirmed the code in time: log in again")
	}
	return fmt.Errorf("waiting for the login: %w", plain(err))
}

// browser logs in by the authorization code flow with PKCE: the answer comes to a port of this machine.
func (l Login) browser(ctx context.Context, p *provider) (*Session, error) {
	listener, err := listen(ctx)
	if err != nil {
		return nil, err
	}
	p.oauth.RedirectURL = "http://" + listener.Addr().String() + "/callback"
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	back := &callback{state: state, got: make(chan answer, 1)}
	server := &http.Server{Handler: back, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends by Shutdown
	defer func() { _ = server.Shutdown(context.WithoutCancel(ctx)) }()

	page := p.oauth.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier))
	_, _ = fmt.Fprintf(l.Say, "A browser opens to log you in. If it does not, open this page on this machine, or use portico login --device:\n\n  %s\n\n", page)
	if err := l.Open(page); err != nil {
		_, _ = fmt.Fprintf(l.Say, "The browser did not open: %v\n", err)
	}
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for the browser: %w", ctx.Err())
	case a := <-back.got:
		if a.err != nil {
			return nil, a.err
		}
		token, err := p.oauth.Exchange(p.in(ctx), a.code, oauth2.VerifierOption(verifier))
		if err != nil {
			return nil, fmt.Errorf("getting a token from the identity provider: %w", plain(err))
		}
		return p.session(ctx, token, nonce)
	}
}

// ports are tried in this order: RFC 8252 wants providers to take any (0), and some take only those that are
// registered.
var ports = []string{"8000", "18000", "0"}

func listen(ctx context.Context) (net.Listener, error) {
	var lc net.ListenConfig
	var errs []error
	for _, port := range ports {
		l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			return l, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("waiting for the browser: %w", errors.Join(errs...))
}

// callback takes one answer of the identity provider from the browser.
type callback struct {
	state string
	got   chan answer
}

type answer struct {
	code string
	err  error
}

// ServeHTTP takes only what carries the state: other pages of the browser know the port, and not that.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	query := r.URL.Query()
	if r.URL.Path != "/callback" || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(c.state)) != 1 {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "This is not the answer to the login that waits here.\n") // the browser has gone
		return
	}
	a, words := answer{code: query.Get("code")}, "You are logged in. This window can be closed.\n"
	if a.code == "" {
		a.err = fmt.Errorf("the identity provider refused the login: %s", cmp.Or(query.Get("error_description"), query.Get("error"), "it does not say why"))
		words = "The login failed; the terminal says why. This window can be closed.\n"
	}
	_, _ = io.WriteString(w, words) // the browser has gone
	select {
	case c.got <- a:
	default: // it has been answered already
	}
}
