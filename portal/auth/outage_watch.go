package auth

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/portico-platform/portico/api/identity"
)

const (
	// watchEvery is how often the provider is checked; after a failed check, the next one is sooner.
	watchEvery      = 30 * time.Second
	watchAgain      = 5 * time.Second
	missedForOutage = 2 // consecutive failures; a single response can be lost
)

// absence is the result of Watch.
type absence struct {
	since  time.Time
	missed int
}

// Watch requests the identity provider's settings regularly until ctx ends, so that pages can report an outage before a
// user tries to sign in.
func (p *Provider) Watch(ctx context.Context) error {
	for {
		pause := watchEvery
		if err := p.look(ctx); err != nil {
			pause = watchAgain
		}
		pause += time.Duration((rand.Float64() - 0.5) * 0.2 * float64(pause)) //nolint:gosec // spreads replicas, and is no secret
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// Outage returns since when the identity provider does not answer; the zero time if it does.
func (p *Provider) Outage() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.absence.missed < missedForOutage {
		return time.Time{}
	}
	return p.absence.since
}

// Reach fetches the provider's settings and keys, and returns why nobody could sign in with them; see
// identity.WhyUnreachable.
func (p *Provider) Reach(ctx context.Context) error {
	found, err := p.ask(ctx)
	if err != nil {
		return err // Watch counts those that it sees itself
	}
	p.take(found)
	if _, err := found.authMethod(p.cfg); err != nil {
		return &identity.UnusableError{
			Says: "offers no way for clients to authenticate that the portal knows", Fix: "let its client there use " +
				secretBasic + " or " + secretPost, Cause: err,
		}
	}
	if _, err := p.oauth(found); err != nil {
		return &identity.UnusableError{
			Says: "has no authorization_endpoint, or no token_endpoint", Fix: "look at --oidc-issuer-url: nobody can " +
				"sign in without", Cause: err,
		}
	}
	return identity.CheckKeys(ctx, found.settings.Keys)
}

// take makes settings apply from now on.
func (p *Provider) take(found *discovered) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.absence = absence{}
	p.found, p.failure, p.heard = found.after(p.found), nil, p.now()
}

// look requests the provider's settings, which apply from now on.
func (p *Provider) look(ctx context.Context) error {
	found, err := p.ask(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		p.take(found)
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.absence.missed++; p.absence.missed == 1 {
		p.absence.since = p.now()
	}
	return err
}
