package auth

import (
	"context"
	"math/rand/v2"
	"time"
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
		if !p.look(ctx) {
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

// look reports whether the provider answered. Its new settings apply from now on.
func (p *Provider) look(ctx context.Context) bool {
	found, err := p.ask(ctx)
	if ctx.Err() != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.absence = absence{}
		p.found, p.failure, p.heard = found.after(p.found), nil, p.now()
		return true
	}
	if p.absence.missed++; p.absence.missed == 1 {
		p.absence.since = p.now()
	}
	return false
}
