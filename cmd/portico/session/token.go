package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"k8s.io/utils/clock"
)

// early is how long before its expiry a token is replaced: it must outlive the request.
const early = 30 * time.Second

// NoLoginError reports that a login is needed first.
type NoLoginError struct {
	Server, Why string
	Instead     string // what to do, if that is not to log in
}

func (e *NoLoginError) Error() string {
	if e.Instead != "" {
		return e.Why + ": " + e.Instead
	}
	login := "portico login"
	if e.Server != "" {
		login += " " + e.Server
	}
	return e.Why + ": run " + login + ", or set PORTICO_TOKEN"
}

// Tokens returns the token of the session at a server, and renews it before it expires.
type Tokens struct {
	Server string
	Store  Store
	Clock  clock.Clock
	Via    http.RoundTripper // to the identity provider; nil: the default one
	Env    func(string) string

	mu   sync.Mutex
	last *Session
}

// Token returns a token that is valid for at least early. A *NoLoginError means that the user must log in again.
func (t *Tokens) Token(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		all, err := t.Store.Read()
		if err != nil {
			return "", err
		}
		t.last = all.Servers[t.Server]
	}
	if t.last == nil {
		return "", &NoLoginError{Server: t.Server, Why: "you are not logged in at " + t.Server}
	}
	if t.fresh(t.last) {
		return t.last.IDToken, nil
	}
	if err := t.renew(ctx); err != nil {
		return "", err
	}
	return t.last.IDToken, nil
}

func (t *Tokens) fresh(s *Session) bool { return t.Clock.Now().Add(early).Before(s.Expiry) }

// renew renews the token under the lock of the store: a refresh token may be valid only once, and another portico
// process may have used it meanwhile.
func (t *Tokens) renew(ctx context.Context) error {
	ended := &NoLoginError{Server: t.Server, Why: "your login at " + t.Server + " has ended"}
	return t.Store.Change(ctx, func(all *Sessions) error {
		s := all.Servers[t.Server]
		switch {
		case s == nil:
			return &NoLoginError{Server: t.Server, Why: "you have logged out at " + t.Server}
		case t.fresh(s):
			t.last = s
			return nil
		case s.Job != nil:
			j := Job{
				Server: t.Server, Audience: s.Job.Audience, Deployer: s.Job.Deployer, Env: t.Env, Via: t.Via,
				Clock: t.Clock,
			}
			fresh, err := j.Run(ctx, nil)
			if err != nil {
				return fmt.Errorf("the job's login has ended, and cannot be renewed: %w", err)
			}
			all.Servers[t.Server], t.last = fresh, fresh
			return nil
		case s.RefreshToken == "":
			return ended
		}
		p, err := discover(ctx, Settings{Issuer: s.Issuer, ClientID: s.ClientID, Scopes: s.Scopes}, t.Via)
		if err != nil {
			return err
		}
		token, err := p.oauth.TokenSource(p.in(ctx), &oauth2.Token{RefreshToken: s.RefreshToken}).Token()
		switch {
		case err != nil && wasRefused(err):
			return ended
		case err != nil:
			return fmt.Errorf("renewing your login at %s: %w", s.Issuer, plain(err))
		}
		fresh, err := p.session(ctx, token, "")
		if err != nil {
			return errors.Join(ended, err)
		}
		if fresh.RefreshToken == "" { // the old one stays valid
			fresh.RefreshToken = s.RefreshToken
		}
		all.Servers[t.Server], t.last = fresh, fresh
		return nil
	})
}
