package auth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/portico-platform/portico/api/identity"
)

// providerTimeout bounds one request to the identity provider.
const providerTimeout = identity.Timeout

// discoverAgain is the minimum time between a failed discovery and the next.
const discoverAgain = 3 * time.Second

const (
	// answeredFor is how long a provider that answered counts as available, and answersWithin how long it can take to
	// answer.
	answeredFor   = 5 * time.Second
	answersWithin = 3 * time.Second
	isThere       = "looking whether the identity provider is there"
)

// Provider is the identity provider. Discovery happens at first use, so that the portal starts without it.
type Provider struct {
	cfg  Config
	http *http.Client
	now  func() time.Time

	flights singleflight.Group
	mu      sync.Mutex
	found   *discovered
	failure error // of the last attempt
	failed  time.Time
	heard   time.Time // last answer
	silence error     // error of the last check whether it answers
	silent  time.Time
	absence absence // result of Watch
}

// NewProvider checks cfg; it sends no requests.
func NewProvider(cfg Config, now func() time.Time) (*Provider, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return newProvider(cfg, now), nil
}

func newProvider(cfg Config, now func() time.Time) *Provider {
	return &Provider{cfg: cfg, now: now, http: &http.Client{Timeout: providerTimeout, Transport: identity.Bounded(nil)}}
}

// discover fetches the provider's settings, once for all waiting callers, and again some time after a failure. It stops
// waiting when ctx ends.
func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	if found, err := p.known(); found != nil || err != nil {
		return found, err
	}
	ch := p.flights.DoChan("", func() (any, error) {
		if found, err := p.known(); found != nil || err != nil {
			return found, err
		}
		found, err := p.ask(context.WithoutCancel(ctx))
		p.mu.Lock()
		defer p.mu.Unlock()
		p.found, p.failure, p.failed = found, err, p.now()
		if err == nil {
			p.heard = p.now()
		}
		return found, err
	})
	select {
	case <-ctx.Done():
		return nil, &ProviderError{Doing: "waiting for the identity provider's settings", Cause: ctx.Err()}
	case r := <-ch:
		found, _ := r.Val.(*discovered)
		return found, r.Err
	}
}

// known returns the result of discovery, or its error if that is recent. Both are nil when discovery is due.
func (p *Provider) known() (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil && p.now().Sub(p.failed) < discoverAgain {
		return nil, p.failure
	}
	return p.found, nil
}

// answers returns nil if the provider answered lately, or answers now. Browsers must not be sent to a provider that
// does not answer, since their pages would be lost. Concurrent callers share one request.
func (p *Provider) answers(ctx context.Context) error {
	if known, err := p.lately(); known {
		return err
	}
	ch := p.flights.DoChan("answers", func() (any, error) {
		if known, err := p.lately(); known {
			return nil, err
		}
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), answersWithin)
		defer cancel()
		found, err := p.ask(bounded)
		p.mu.Lock()
		defer p.mu.Unlock()
		if err == nil {
			p.found, p.failure, p.heard = found.after(p.found), nil, p.now()
			return nil, nil
		}
		// The response of a proxy in front of the provider is not for users who sign in.
		p.silence, p.silent = &ProviderError{Doing: isThere, Cause: errors.New(err.Error())}, p.now()
		return nil, p.silence
	})
	select {
	case <-ctx.Done():
		return &ProviderError{Doing: isThere, Cause: ctx.Err()}
	case r := <-ch:
		return r.Err
	}
}

// lately reports whether the provider's availability is known from a recent check; err is nil if it answered.
func (p *Provider) lately() (known bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch now := p.now(); {
	case p.silence != nil && p.silent.After(p.heard) && now.Sub(p.silent) < discoverAgain:
		return true, p.silence
	case p.found != nil && now.Sub(p.heard) < answeredFor:
		return true, nil
	}
	return false, nil
}

// client returns the portal's OAuth client.
func (p *Provider) client(ctx context.Context) (*oauth2.Config, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	return p.oauth(found)
}

// trade exchanges the code of a sign-in for tokens, once.
func (p *Provider) trade(ctx context.Context, code, verifier string) (*oauth2.Token, error) {
	oauth, err := p.client(ctx)
	if err != nil {
		return nil, err
	}
	tok, err := oauth.Exchange(p.with(ctx), code, oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, asking("trading the code for tokens", err, code, verifier, p.cfg.ClientSecret)
	}
	return tok, nil
}

// refresh exchanges a refresh token for new tokens, once.
func (p *Provider) refresh(ctx context.Context, token string) (*oauth2.Token, error) {
	oauth, err := p.client(ctx)
	if err != nil {
		return nil, err
	}
	tok, err := oauth.TokenSource(p.with(ctx), &oauth2.Token{RefreshToken: token}).Token()
	if err != nil {
		return nil, asking("renewing a session", err, token, p.cfg.ClientSecret)
	}
	return tok, nil
}

func (p *Provider) with(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.http)
}

// verify checks signature, issuer, expiry and audience. The token must be for one of the audiences. ErrBadToken means
// that it is invalid, a *ProviderError that the provider's keys are not available.
func (p *Provider) verify(ctx context.Context, raw string, audiences []string) (*oidc.IDToken, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	return identity.Verify(p.with(ctx), p.cfg.IssuerURL, found.keys, raw, audiences, p.now)
}

// verifyIssued verifies an ID token that the token endpoint has just issued.
func (p *Provider) verifyIssued(ctx context.Context, raw string) (*oidc.IDToken, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	return identity.VerifyIssued(p.with(ctx), p.cfg.IssuerURL, found.keys, raw, []string{p.cfg.ClientID}, p.now)
}

// verifyLogout verifies a logout token.
func (p *Provider) verifyLogout(ctx context.Context, raw string) (*oidc.IDToken, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	return identity.VerifyLogout(p.with(ctx), p.cfg.IssuerURL, found.keys, raw, []string{p.cfg.ClientID}, p.now)
}

// identity returns the caller of a verified ID token. A *RefusedError says why this user is refused.
func (p *Provider) identity(tok *oidc.IDToken) (Identity, error) {
	return p.cfg.claims().Of(tok)
}
