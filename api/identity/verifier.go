package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Settings configure which tokens are accepted by a program without its own sign-in.
type Settings struct {
	// Issuer is the URL of the identity provider; "" takes no tokens at all.
	Issuer string
	// Audiences are those of tokens for the REST API; a token must have one of them.
	Audiences []string
	// SignIn is the audience of sign-ins in a browser: the portal's client. Such tokens are taken only for Fresh after
	// the sign-in, for the portal gets one at each renewal of a session too. "" takes none.
	SignIn string
	Claims Claims
}

// Fresh is how long after a sign-in in a browser what it confirms may be done.
const Fresh = 5 * time.Minute

// maxToken bounds what is decoded before anything is verified.
const maxToken = 16 << 10

// Check refuses settings that would take tokens of others.
func (s Settings) Check() error {
	if err := CheckIssuer(s.Issuer); err != nil {
		return err
	}
	switch {
	case len(s.Audiences) == 0:
		return errors.New("at least one audience of the REST API is needed")
	case slices.Contains(s.Audiences, s.SignIn):
		return fmt.Errorf("audience %q: that of the REST API must not be the client of sign-ins", s.SignIn)
	case slices.Contains(s.Audiences, ""):
		return errors.New("an audience must not be empty")
	}
	return s.Claims.Check()
}

// CheckIssuer refuses an identity provider's URL that cannot be used, or should not be. No error has a password in it.
func CheckIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	switch {
	case err != nil:
		return errors.New("OIDC issuer URL: it cannot be read; give a URL such as https://login.example.com")
	case u.User != nil:
		return fmt.Errorf("OIDC issuer URL %q: it must have no user and no password, because everybody can read it",
			u.Redacted())
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("OIDC issuer URL %q: give a URL such as https://login.example.com", issuer)
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return fmt.Errorf("OIDC issuer URL %q: it must be https, or anyone on the network could sign in as anybody",
			issuer)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// NotFreshError says that a sign-in in a browser is too long ago for what is to be done.
type NotFreshError struct{}

func (*NotFreshError) Error() string {
	const text = "the sign-in is too long ago: sign in again to confirm, and go on within %d minutes"
	return fmt.Sprintf(text, int(Fresh.Minutes()))
}

// Verifier verifies tokens. It fetches the provider's keys at first use.
type Verifier struct {
	settings Settings
	now      func() time.Time

	mu      sync.Mutex
	keys    *Keys
	failure error
	failed  time.Time
}

// NewVerifier returns a verifier for settings that hold.
func NewVerifier(s Settings, now func() time.Time) (*Verifier, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return &Verifier{settings: s, now: now}, nil
}

// Caller returns the caller of a token. Errors are ErrBadToken, *RefusedError, *NotFreshError, or *ProviderError if the
// token could not be verified.
func (v *Verifier) Caller(ctx context.Context, raw string) (Identity, error) {
	return v.caller(ctx, raw, false)
}

// FreshCaller does what Caller does, for requests that need a recent sign-in: a token for the REST API is accepted for
// Fresh after it was issued, regardless of when its user signed in, because tools cannot ask for that. With a
// *NotFreshError it returns the caller, for the audit log.
func (v *Verifier) FreshCaller(ctx context.Context, raw string) (Identity, error) {
	return v.caller(ctx, raw, true)
}

func (v *Verifier) caller(ctx context.Context, raw string, always bool) (Identity, error) {
	if len(raw) > maxToken {
		return Identity{}, fmt.Errorf("%w: it is longer than any", ErrBadToken)
	}
	keys, err := v.discover(ctx)
	if err != nil {
		return Identity{}, err
	}
	audiences := slices.Clone(v.settings.Audiences)
	if v.settings.SignIn != "" {
		audiences = append(audiences, v.settings.SignIn)
	}
	tok, err := Verify(ctx, v.settings.Issuer, keys, raw, audiences, v.now)
	if err != nil {
		return Identity{}, err
	}
	bySignIn := v.settings.SignIn != "" && slices.Contains(tok.Audience, v.settings.SignIn) // from a browser
	forREST := slices.ContainsFunc(tok.Audience, func(a string) bool {
		return slices.Contains(v.settings.Audiences, a)
	})
	switch {
	case bySignIn || !forREST:
		err = v.fresh(tok)
	case always && v.now().Sub(tok.IssuedAt) > Fresh:
		err = &NotFreshError{}
	}
	id, claimed := v.settings.Claims.Of(tok)
	return id, cmp.Or(err, claimed) // who it was is for the record, where the sign-in is too old
}

// fresh returns a *NotFreshError unless the token comes from a sign-in of a moment ago.
func (v *Verifier) fresh(tok *oidc.IDToken) error {
	at, err := SignedInAt(tok)
	if err == nil && v.now().Sub(at) > Fresh {
		err = &NotFreshError{}
	}
	return err
}

// SignedInAt returns when the user of a verified ID token signed in: auth_time if the provider sends it, because it may
// issue new tokens for an old sign-in, else when the token was issued.
func SignedInAt(tok *oidc.IDToken) (time.Time, error) {
	var said struct {
		AuthTime int64 `json:"auth_time"`
	}
	if err := tok.Claims(&said); err != nil {
		return time.Time{}, fmt.Errorf("%w: its auth_time: %w", ErrBadToken, err)
	}
	if said.AuthTime != 0 {
		return time.Unix(said.AuthTime, 0), nil
	}
	return tok.IssuedAt, nil
}

// again is the pause after a failed discovery.
const again = 3 * time.Second

// discoverTimeout bounds discovery for which callers wait.
const discoverTimeout = 3 * time.Second

// discover returns the provider's keys, as it says where they are: once, and again some time after a failure.
func (v *Verifier) discover(ctx context.Context) (*Keys, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.keys != nil {
		return v.keys, nil
	}
	if v.failure != nil && v.now().Sub(v.failed) < again {
		return nil, v.failure
	}
	keys, err := v.ask(context.WithoutCancel(ctx), discoverTimeout) // for all who wait
	v.keys, v.failure, v.failed = keys, err, v.now()
	return keys, err
}

func (v *Verifier) ask(ctx context.Context, timeout time.Duration) (*Keys, error) {
	const doing = "asking the identity provider for its settings"
	ctx = oidc.ClientContext(ctx, &http.Client{Timeout: timeout, Transport: Bounded(nil)})
	found, err := oidc.NewProvider(ctx, v.settings.Issuer)
	if _, network := errors.AsType[*url.Error](err); err != nil && !network {
		err = &cleanError{err} // the answer may be in it
	}
	if err != nil {
		return nil, &ProviderError{Doing: doing, Cause: err}
	}
	var said struct {
		Keys string `json:"jwks_uri"`
	}
	if err := found.Claims(&said); err != nil {
		return nil, &ProviderError{Doing: doing, Cause: errors.New(Clean(err.Error()))}
	}
	u, err := url.Parse(said.Keys)
	if err != nil || u.Host == "" || u.Scheme != "https" && !isLoopback(u.Hostname()) {
		return nil, &ProviderError{
			Doing: doing, Cause: fmt.Errorf("jwks_uri is %s: %w", Clean(said.Keys), ErrNotHTTPS),
		}
	}
	return NewKeys(said.Keys, v.now), nil
}
