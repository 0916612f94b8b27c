package session

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Logout deletes the stored session of a server, and revokes it at the provider if possible. It reports whether there
// was a session. via is as for Login.
func Logout(ctx context.Context, store Store, server string, via http.RoundTripper) (was bool, err error) {
	var s *Session
	err = store.Change(ctx, func(all *Sessions) error {
		s = all.Servers[server]
		delete(all.Servers, server)
		if all.Current == server {
			all.Current = ""
		}
		return nil
	})
	if err != nil || s == nil {
		return false, err
	}
	s.revoke(ctx, via)
	return true, nil
}

// revoke revokes the refresh token (RFC 7009). It ignores errors: the token expires by itself, and the local copy is
// deleted.
func (s *Session) revoke(ctx context.Context, via http.RoundTripper) {
	p, err := discover(ctx, Settings{Issuer: s.Issuer, ClientID: s.ClientID}, via)
	if err != nil || s.RefreshToken == "" {
		return
	}
	var more struct {
		Revocation string `json:"revocation_endpoint"`
	}
	if err := p.oidc.Claims(&more); err != nil || more.Revocation == "" {
		return
	}
	form := url.Values{"token": {s.RefreshToken}, "token_type_hint": {"refresh_token"}, "client_id": {s.ClientID}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, more.Revocation, strings.NewReader(form.Encode()))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if resp, err := p.http.Do(req); err == nil {
		_ = resp.Body.Close() // the response does not matter
	}
}
