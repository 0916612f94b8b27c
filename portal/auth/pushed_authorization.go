package auth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

const (
	// pushWithin bounds a pushed request at a provider that does not require it.
	pushWithin = 3 * time.Second
	pushing    = "pushing a sign-in"
)

// authURL returns where a browser is redirected to sign in. If the provider supports it, the parameters are pushed
// beforehand (RFC 9126). If the push fails and the provider does not require it, they are part of the URL.
func (p *Provider) authURL(
	ctx context.Context, oauth *oauth2.Config, state string, opts ...oauth2.AuthCodeOption,
) (string, error) {
	plain := oauth.AuthCodeURL(state, opts...)
	found, err := p.discover(ctx)
	if err != nil || found.settings.Pushed == "" {
		return plain, err
	}
	asked, err := url.Parse(plain)
	if err != nil {
		return "", &ProviderError{Doing: pushing, Cause: err}
	}
	within := providerTimeout
	if !found.settings.MustPush {
		within = pushWithin
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	uri, err := p.push(ctx, oauth, found.settings.Pushed, asked.Query())
	switch {
	case err == nil:
		return pushedURL(oauth, uri)
	case found.settings.MustPush:
		return "", err
	}
	return plain, nil
}

// pushedURL returns the URL of a pushed authorization request.
func pushedURL(oauth *oauth2.Config, uri string) (string, error) {
	to, err := url.Parse(oauth.Endpoint.AuthURL)
	if err != nil {
		return "", &ProviderError{Doing: pushing, Cause: err}
	}
	q := to.Query()
	q.Set("client_id", oauth.ClientID)
	q.Set("request_uri", uri)
	to.RawQuery = q.Encode()
	return to.String(), nil
}

// push pushes the parameters of a sign-in, and returns their short-lived request URI.
func (p *Provider) push(ctx context.Context, oauth *oauth2.Config, to string, asked url.Values) (string, error) {
	resp, err := p.post(ctx, oauth, to, asked)
	if err != nil {
		return "", &ProviderError{Doing: pushing, Cause: err}
	}
	defer func() { _ = resp.Body.Close() }() // it has been read, or is not needed
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", &ProviderError{Doing: pushing, Cause: err}
	}
	var said struct {
		URI         string `json:"request_uri"`
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}
	if err := json.Unmarshal(body, &said); err != nil || resp.StatusCode/100 != 2 || said.URI == "" {
		return "", asking(pushing, &oauth2.RetrieveError{
			Response: resp, ErrorCode: said.Code, ErrorDescription: said.Description,
		}, p.cfg.ClientSecret, asked.Get("state"), asked.Get("nonce"), asked.Get("code_challenge"))
	}
	return said.URI, nil
}

// post sends a form to the provider with the portal's client authentication.
func (p *Provider) post(
	ctx context.Context, client *oauth2.Config, to string, form url.Values,
) (*http.Response, error) {
	form.Set("client_id", client.ClientID)
	basic := client.Endpoint.AuthStyle == oauth2.AuthStyleInHeader
	if !basic && client.ClientSecret != "" {
		form.Set("client_secret", client.ClientSecret)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, errors.New("its address is none")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if basic {
		req.SetBasicAuth(url.QueryEscape(client.ClientID), url.QueryEscape(client.ClientSecret))
	}
	return p.http.Do(req)
}
