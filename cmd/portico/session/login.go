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

// Login signs a user in and stores the session of a server.
type Login struct {
	Server   string
	Settings Settings
	Store    Store
	Say      io.Writer              // instructions for the user
	Via      http.RoundTripper      // to the identity provider; nil: the default one
	Open     func(url string) error // opens a page in a browser; nil: none, use the device flow
}

// Run returns when the user has signed in, or ctx ends.
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

// device logs in by the device flow (RFC 8628): the user confirms a code in any browser.
func (l Login) device(ctx context.Context, p *provider) (*Session, error) {
	if p.oauth.Endpoint.DeviceAuthURL == "" {
		return nil, fmt.Errorf("the identity provider %s has no device flow: log in where there is a browser",
			p.settings.Issuer)
	}
	verifier := oauth2.GenerateVerifier()
	asked, err := p.oauth.DeviceAuth(p.in(ctx), oauth2.S256ChallengeOption(verifier))
	if err != nil {
		return nil, fmt.Errorf("asking the identity provider for a code: %w", plain(err))
	}
	where := cmp.Or(asked.VerificationURIComplete, asked.VerificationURI)
	_, _ = fmt.Fprintf(l.Say, "Open this page in any browser:\n\n  %s\n\nand confirm this code:\n\n  %s\n\nWaiting "+
		"until you have done so…\n", where, asked.UserCode)
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

// browser logs in by the authorization code flow with PKCE; the browser is redirected to a local port.
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
	_, _ = fmt.Fprintf(l.Say, "A browser opens to log you in. If it does not, open this page on this machine, or use "+
		"portico login --device:\n\n  %s\n\n", page)
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

// ports are the local ports, in the order in which they are tried: RFC 8252 requires providers to allow any port (0),
// but some allow registered ones only.
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

// callback receives the identity provider's response from the browser, once.
type callback struct {
	state string
	got   chan answer
}

type answer struct {
	code string
	err  error
}

// ServeHTTP accepts only requests with the state, because other pages in the browser can know the port.
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
		a.err = fmt.Errorf("the identity provider refused the login: %s",
			cmp.Or(query.Get("error_description"), query.Get("error"), "it does not say why"))
		words = "The login failed; the terminal says why. This window can be closed.\n"
	}
	_, _ = io.WriteString(w, words) // the browser has gone
	select {
	case c.got <- a:
	default: // a response was received before
	}
}
