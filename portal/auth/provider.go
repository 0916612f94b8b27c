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

// discoverAgain is how long a provider that told nothing of itself is left alone.
const discoverAgain = 3 * time.Second

const (
	// answeredFor is how long a provider that answered is taken to be there, and answersWithin how long it may take.
	answeredFor   = 5 * time.Second
	answersWithin = 3 * time.Second
	isThere       = "looking whether the identity provider is there"
)

// Provider is the identity provider. It is looked up at first use, so that the portal starts without it.
type Provider struct {
	cfg  Config
	http *http.Client
	now  func() time.Time

	flights singleflight.Group
	mu      sync.Mutex
	found   *discovered
	failure error // of the last attempt
	failed  time.Time
	heard   time.Time // it answered
	silence error     // it did not, when it was last asked whether it is there
	silent  time.Time
	absence absence // as Watch found it
}

// NewProvider checks cfg; it sends nothing yet.
func NewProvider(cfg Config, now func() time.Time) (*Provider, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return newProvider(cfg, now), nil
}

func newProvider(cfg Config, now func() time.Time) *Provider {
	return &Provider{cfg: cfg, now: now, http: &http.Client{Timeout: providerTimeout, Transport: identity.Bounded(nil)}}
}

// discover asks once, for all who wait, and again some time after a failure. It gives up waiting when ctx ends.
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

// known returns what discovery found, or its error if that is recent. Both are nil when the provider must be asked.
func (p *Provider) known() (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil && p.now().Sub(p.failed) < discoverAgain {
		return nil, p.failure
	}
	return p.found, nil
}

// answers returns nil if the provider is there: it answered a moment ago, or does now. Browsers must not be sent to one
// that is not, for their pages would be gone. It asks once for all who wait.
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
		// What a proxy in front of it says is no answer of the provider to anybody who signs in.
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

// lately reports whether it is known from a moment ago if the provider answers: nil if it does.
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

// client returns the OAuth client that the portal is at the provider.
func (p *Provider) client(ctx context.Context) (*oauth2.Config, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	return p.oauth(found)
}

// trade gives the code of a sign-in for tokens, once.
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

// refresh gives a refresh token for new tokens, once.
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

// verify checks signature, issuer, life and audience. The token must be for one of the audiences. ErrBadToken says that
// it is not good, a *ProviderError that nobody can tell for want of the provider's keys.
func (p *Provider) verify(ctx context.Context, raw string, audiences []string) (*oidc.IDToken, error) {
	found, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	return identity.Verify(p.with(ctx), p.cfg.IssuerURL, found.keys, raw, audiences, p.now)
}

// verifyIssued verifies an ID token that the token endpoint gave just now.
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

// identity reads the caller from a verified ID token. A *RefusedError says why this user may not come in.
func (p *Provider) identity(tok *oidc.IDToken) (Identity, error) {
	return p.cfg.claims().Of(tok)
}
