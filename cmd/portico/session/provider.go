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

// Settings are a portal's settings for signing in.
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

// discover requests the issuer's metadata. via is the transport for requests to it; nil is the default one.
func discover(ctx context.Context, s Settings, via http.RoundTripper) (*provider, error) {
	u, err := url.Parse(s.Issuer)
	if err != nil || u.Host == "" || (u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname()))) {
		return nil, fmt.Errorf("the portal names %q as its identity provider, which is no https URL: ask its admins",
			s.Issuer)
	}
	p := &provider{settings: s, http: &http.Client{Timeout: timeout, Transport: identity.Bounded(via)}}
	if p.oidc, err = oidc.NewProvider(p.in(ctx), s.Issuer); err != nil {
		return nil, fmt.Errorf("asking the identity provider %s for its settings: %w", s.Issuer, plain(err))
	}
	p.oauth = oauth2.Config{ClientID: s.ClientID, Endpoint: p.oidc.Endpoint(), Scopes: s.Scopes}
	p.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client has no secret for the header
	return p, nil
}

func (p *provider) in(ctx context.Context) context.Context { return oidc.ClientContext(ctx, p.http) }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// session returns the session of a token response after verifying its ID token, which must contain nonce unless that is
// "".
func (p *provider) session(ctx context.Context, token *oauth2.Token, nonce string) (*Session, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("the identity provider gave no ID token: the portal's --cli-scopes must have openid, " +
			"ask its admins")
	}
	// the audience is the API's; see below
	v := p.oidc.VerifierContext(p.in(ctx), &oidc.Config{SkipClientIDCheck: true})
	id, err := v.Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("the identity provider's ID token does not hold: %w", err)
	}
	switch {
	case nonce != "" && id.Nonce != nonce:
		return nil, errors.New("the ID token is an answer to another login: try again")
	case len(p.settings.Audiences) > 0 && !slices.ContainsFunc(id.Audience, func(a string) bool {
		return slices.Contains(p.settings.Audiences, a)
	}):
		return nil, fmt.Errorf("the ID token is for %s, and the portal takes those for %s: ask its admins to correct "+
			"--cli-scopes or --api-audience",
			strings.Join(id.Audience, ", "), strings.Join(p.settings.Audiences, ", "))
	}
	return &Session{
		Issuer: p.settings.Issuer, ClientID: p.settings.ClientID, Scopes: p.settings.Scopes,
		IDToken: raw, Expiry: id.Expiry, RefreshToken: token.RefreshToken,
	}, nil
}

// plain returns the identity provider's error message without the rest of the response, which can contain tokens.
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
		return e.Err // without the URL, which can contain a code
	}
	return err
}

// wasRefused reports whether the provider refused the request: it responded 4xx other than 429.
func wasRefused(err error) bool {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	return ok && e.Response.StatusCode >= 400 && e.Response.StatusCode < 500 &&
		e.Response.StatusCode != http.StatusTooManyRequests
}
