package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/portico-platform/portico/api/identity"
)

// timeout bounds one request to the identity provider.
const timeout = 30 * time.Second

// Settings are how a portal has people sign in.
type Settings struct {
	Issuer, ClientID  string
	Scopes, Audiences []string
}

// provider is the identity provider of a portal.
type provider struct {
	settings Settings
	http     *http.Client
	oidc     *oidc.Provider
	oauth    oauth2.Config
}

// discover asks the issuer where it does what; via carries requests to it, nil is the default transport.
func discover(ctx context.Context, s Settings, via http.RoundTripper) (*provider, error) {
	u, err := url.Parse(s.Issuer)
	if err != nil || u.Host == "" || (u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()))) {
		return nil, fmt.Errorf("the portal names %q as its identity provider, which is no https URL: ask its admins", s.Issuer)
	}
	p := &provider{settings: s, http: &http.Client{Timeout: timeout, Transport: identity.Bounded(via)}}
	if p.oidc, err = oidc.NewProvider(p.in(ctx), s.Issuer); err != nil {
		return nil, fmt.Errorf("asking the identity provider %s for its settings: %w", s.Issuer, plain(err))
	}
	p.oauth = oauth2.Config{ClientID: s.ClientID, Endpoint: p.oidc.Endpoint(), Scopes: s.Scopes}
	p.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client has no secret to put elsewhere
	return p, nil
}

func (p *provider) in(ctx context.Context) context.Context { return oidc.ClientContext(ctx, p.http) }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// session makes a session of a token answer after verifying its ID token. The ID token must repeat nonce unless that is
// "".
func (p *provider) session(ctx context.Context, token *oauth2.Token, nonce string) (*Session, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("the identity provider gave no ID token: the portal's --cli-scopes must have openid, ask its admins")
	}
	v := p.oidc.VerifierContext(p.in(ctx), &oidc.Config{SkipClientIDCheck: true}) // the audience is the API's; see below
	id, err := v.Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("the identity provider's ID token does not hold: %w", err)
	}
	switch {
	case nonce != "" && id.Nonce != nonce:
		return nil, errors.New("the ID token is an answer to another login: try again")
	case len(p.settings.Audiences) > 0 && !slices.ContainsFunc(id.Audience, func(a string) bool { return slices.Contains(p.settings.Audiences, a) }):
		return nil, fmt.Errorf("the ID token is for %s, and the portal takes those for %s: ask its admins to correct --cli-scopes or --api-audience",
			strings.Join(id.Audience, ", "), strings.Join(p.settings.Audiences, ", "))
	}
	return &Session{
		Issuer: p.settings.Issuer, ClientID: p.settings.ClientID, Scopes: p.settings.Scopes,
		IDToken: raw, Expiry: id.Expiry, RefreshToken: token.RefreshToken,
	}, nil
}

// plain returns an error of the identity provider in its own words, without the rest of the answer, which may hold
// tokens.
func plain(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		switch {
		case e.ErrorDescription != "":
			return errors.New(e.ErrorDescription)
		case e.ErrorCode != "":
			return errors.New(e.ErrorCode)
		}
		return fmt.Errorf("it answers %s", e.Response.Status)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err // without the URL, which may hold a code
	}
	return err
}

// wasRefused reports whether the provider said no, rather than nothing.
func wasRefused(err error) bool {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && e.Response.StatusCode >= 400 && e.Response.StatusCode < 500 && e.Response.StatusCode != http.StatusTooManyRequests
}
