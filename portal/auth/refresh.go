package auth

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"
	lru "k8s.io/apimachinery/pkg/util/cache"
)

const (
	// reuseFor is how long the outcome of a refresh answers requests that still carry the cookie from before it: a
	// page sends several at once, and the provider may accept a refresh token only once.
	reuseFor = time.Minute
	// retryAfter is how long a provider that did not answer is left alone.
	retryAfter = 10 * time.Second
	// refreshes bounds the outcomes kept.
	refreshes = 10_000
)

// refresher asks the provider again who the user is.
type refresher struct {
	provider *Provider
	flights  singleflight.Group
	outcomes *lru.LRUExpireCache
}

// outcome of one refresh.
type outcome struct {
	session session
	err     error
}

func newRefresher(p *Provider, clock lru.Clock) *refresher {
	return &refresher{provider: p, outcomes: lru.NewLRUExpireCacheWithClock(refreshes, clock)}
}

// due returns s with claims verified lately. errEnded means that the provider no longer vouches for the user; any other error
// means that the provider could not be asked.
func (f *refresher) due(ctx context.Context, s session, now time.Time) (session, error) {
	if s.Refresh == "" || now.Sub(time.Unix(s.Checked, 0)) < checkEvery {
		return s, nil
	}
	fresh, err := f.once(ctx, s, now)
	var unreachable *ProviderError
	if errors.As(err, &unreachable) && now.Sub(time.Unix(s.Checked, 0)) < checkGrace {
		if fresh.ID != "" {
			return fresh, nil
		}
		return s, nil
	}
	return fresh, err
}

// once collapses concurrent refreshes with one token, and later ones for a while.
func (f *refresher) once(ctx context.Context, s session, now time.Time) (session, error) {
	key := fmt.Sprintf("%x", sha256.Sum256([]byte(s.ID+"\x00"+s.Refresh)))
	v, err, _ := f.flights.Do(key, func() (any, error) {
		if v, ok := f.outcomes.Get(key); ok {
			return v, nil
		}
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), providerTimeout)
		defer cancel()
		fresh, err := f.ask(detached, s, now)
		keep := reuseFor
		if _, ok := errors.AsType[*ProviderError](err); ok {
			keep = retryAfter
		}
		f.outcomes.Add(key, outcome{fresh, err}, keep)
		return outcome{fresh, err}, nil
	})
	if err != nil {
		return session{}, err
	}
	o := v.(outcome)
	return o.session, o.err
}

func (f *refresher) ask(ctx context.Context, s session, now time.Time) (session, error) {
	tok, err := f.provider.refresh(ctx, s.Refresh)
	if answer, ok := errors.AsType[*AnswerError](err); ok && !answer.passing() {
		return session{}, &endedError{Lapsed, err.Error()}
	}
	if err != nil {
		return session{}, err
	}
	raw, ok := tok.Extra("id_token").(string)
	if !ok {
		return session{}, &endedError{Lapsed, "renewing it brought no ID token, so groups are not known"}
	}
	if tok.RefreshToken != "" {
		s.Refresh = tok.RefreshToken // the old one may be of no use by now, whatever becomes of the ID token
	}
	return f.renewed(ctx, s, raw, now)
}

// renewed returns s with the claims of the new ID token, which must be about the same user. When the token cannot be verified for
// now it returns s unchanged and a *ProviderError.
func (f *refresher) renewed(ctx context.Context, s session, raw string, now time.Time) (session, error) {
	idToken, err := f.provider.verify(ctx, raw, []string{f.provider.cfg.ClientID})
	if _, ok := errors.AsType[*ProviderError](err); ok {
		return s, err
	}
	if err != nil {
		return session{}, err
	}
	id, err := f.provider.identity(idToken)
	if err != nil {
		return session{}, err
	}
	if idToken.Subject != s.Subject || id.Username != s.Username {
		return session{}, &endedError{Another, "renewing it brought another user"}
	}
	s.Groups, s.Name, s.Email = id.Groups, id.Name, id.Email
	s.SID, s.Hint = cmp.Or(sidOf(idToken), s.SID), cmp.Or(loginHint(idToken), s.Hint)
	s.Checked, s.TokenEnd = now.Unix(), idToken.Expiry.Unix()
	return s, nil
}
