package auth

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
	lru "k8s.io/apimachinery/pkg/util/cache"
)

const (
	// reuseFor is how long the outcome of a refresh is reused for requests that still carry the earlier cookie: a page
	// sends several at once, and the provider may accept a refresh token only once.
	reuseFor = time.Minute
	// retryAfter is the pause after a provider did not answer.
	retryAfter = 10 * time.Second
	// refreshes bounds the cached outcomes.
	refreshes = 10_000
)

// refresher refreshes sessions at the provider.
type refresher struct {
	provider *Provider
	turns    Turns // nil: there is no other replica
	keys     *SessionKeys
	wait     time.Duration // turnWait, or less in tests
	now      func() time.Time
	log      *slog.Logger
	flights  singleflight.Group
	outcomes *lru.LRUExpireCache
}

// outcome is the result of one refresh.
type outcome struct {
	session session
	err     error
}

func newRefresher(o BrowserOptions) *refresher {
	return &refresher{
		provider: o.Provider, turns: o.Turns, keys: o.Keys, wait: turnWait, now: o.Clock.Now, log: o.Log,
		outcomes: lru.NewLRUExpireCacheWithClock(refreshes, o.Clock),
	}
}

// due returns s with claims verified lately. errEnded means that the provider no longer vouches for the user; any other
// error means that the provider could not be reached. outrun says that another response may already carry newer
// cookies: then the result must not be written to cookies.
func (f *refresher) due(ctx context.Context, s session, now time.Time) (fresh session, outrun bool, err error) {
	if s.Refresh == "" || now.Sub(time.Unix(s.Checked, 0)) < checkEvery {
		return s, false, nil
	}
	fresh, err = f.once(ctx, s, now)
	var unreachable *ProviderError
	if errors.As(err, &unreachable) && now.Sub(time.Unix(s.Checked, 0)) < checkGrace {
		if fresh.ID == "" {
			fresh = s
		}
		return fresh, errors.Is(err, errOthersTurn), nil
	}
	// The provider may be available: a silent sign-in needs no turn.
	if errors.Is(err, errOthersTurn) || errors.Is(err, errNoTurn) {
		return session{}, false, &endedError{Lapsed, err.Error()}
	}
	return fresh, false, err // after an outage fresh is s with a new refresh token, if there is one
}

// once shares one refresh among concurrent callers with the same token, and later ones for a while, on all replicas.
func (f *refresher) once(ctx context.Context, s session, now time.Time) (session, error) {
	key := s.renewalKey()
	v, err, _ := f.flights.Do(key, func() (any, error) {
		if v, ok := f.outcomes.Get(key); ok {
			return v, nil
		}
		o := f.inTurn(context.WithoutCancel(ctx), s, func(ctx context.Context) outcome {
			ctx, cancel := context.WithTimeout(ctx, providerTimeout)
			defer cancel()
			fresh, err := f.ask(ctx, s, now)
			return outcome{fresh, err}
		})
		keep := reuseFor
		if errors.Is(o.err, errOthersTurn) {
			keep = turnAgain
		} else if _, ok := errors.AsType[*ProviderError](o.err); ok {
			keep = retryAfter
		}
		f.outcomes.Add(key, o, keep)
		return o, nil
	})
	if err != nil {
		return session{}, err
	}
	o := v.(outcome)
	return o.session, o.err
}

func (f *refresher) ask(ctx context.Context, s session, now time.Time) (session, error) {
	tok, err := f.provider.refresh(ctx, s.Refresh)
	if _, ok := errors.AsType[*AnswerError](err); ok && !isAway(err) {
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
		s.Refresh = tok.RefreshToken // the old one may be invalid now, even if the ID token is refused
	}
	return f.renewed(ctx, s, raw, tok, now)
}

// renewed returns s with the claims of the new ID token, which must be about the same user. If the token cannot be
// verified for now, it returns s unchanged and a *ProviderError.
func (f *refresher) renewed(
	ctx context.Context, s session, raw string, tok *oauth2.Token, now time.Time,
) (session, error) {
	idToken, err := f.provider.verifyIssued(ctx, raw)
	if _, ok := errors.AsType[*ProviderError](err); ok {
		return s, err
	}
	if err != nil { // another token may be valid: retry with a silent sign-in
		return session{}, &endedError{Lapsed, "renewing it brought an ID token that is not good: " + err.Error()}
	}
	id, err := f.provider.who(ctx, idToken, tok, false)
	if _, ok := errors.AsType[*ProviderError](err); ok {
		return s, err
	}
	if _, ok := errors.AsType[*AnswerError](err); ok {
		return session{}, &endedError{Lapsed, err.Error()}
	}
	if err != nil {
		return session{}, err
	}
	if idToken.Subject != s.Subject || id.Username != s.Username {
		return session{}, &endedError{Another, "renewing it brought another user"}
	}
	s.Groups, s.Name, s.Email = id.Groups, cmp.Or(id.Name, s.Name), cmp.Or(id.Email, s.Email)
	s.SID, s.Hint = cmp.Or(sidOf(idToken), s.SID), cmp.Or(loginHint(idToken), s.Hint)
	s.Checked, s.TokenEnd = now.Unix(), endOf(idToken, now).Unix()
	return s, nil
}
