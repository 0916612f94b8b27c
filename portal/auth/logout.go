package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

const (
	// BackChannelPath is where the identity provider reports sign-outs.
	BackChannelPath = "/auth/backchannel-logout"
	// logoutEvent is the event of a logout token, by OpenID Connect Back-Channel Logout 1.0.
	logoutEvent = "http://schemas.openid.net/event/backchannel-logout"
	// forgetTime is how long a sign-out waits for the provider; the session has already ended.
	forgetTime = 3 * time.Second
	// maxLogoutAge bounds the age of an accepted logout token.
	maxLogoutAge = 10 * time.Minute
	// hintCookie holds, sealed, the ID token of an ended session, for the page with the link to the provider's
	// sign-out; hintLife is for how long.
	hintCookie = "__Host-portico-ended"
	hintLife   = 5 * time.Minute
	// logoutSlack is how far the provider's clock can be behind.
	logoutSlack = time.Minute
)

// Logout ends the session on all replicas, even one that has already ended on this replica: on a replica with longer
// sessions it may not have. POST only.
func (b *Browser) Logout(w http.ResponseWriter, r *http.Request) {
	s, err := b.readSession(r)
	clearSession(w, r)
	if err == nil || errors.Is(err, errEnded) {
		note(r.Context(), s.identity())
		b.keepHint(w, s)
		b.forget(r.Context(), s)
		if err := b.revoked.Revoke(r.Context(), s.ref()); err != nil {
			noteSession(r.Context(), signOut, "", Failed, "")
			b.log.ErrorContext(r.Context(), "revoking a session", "error", err, "requestID", RequestID(r.Context()))
			b.pages.Problem(w, r, http.StatusServiceUnavailable, "You are signed out in this browser only",
				"The session could not be ended everywhere: a copy of its cookie, if there is one, works until it "+
					"expires.")
			return
		}
		noteSession(r.Context(), signOut, "", Done, "")
	}
	http.Redirect(w, r, SignedOutPath, http.StatusSeeOther)
}

// SignedOut shows the portal's page after sign-out, with a link to sign out at the provider too. It is a link and not a
// redirect because form-action 'self' forbids the latter.
func (b *Browser) SignedOut(w http.ResponseWriter, r *http.Request) {
	hint, _ := b.readHint(r) // most have none
	if hint != "" {
		Untransformed(w.Header())
	}
	b.pages.SignedOut(w, r, b.provider.endSessionURL(r.Context(), hint))
}

// keepHint keeps the ID token of an ending session for the sign-out page, whose link to the provider needs it.
func (b *Browser) keepHint(w http.ResponseWriter, s session) {
	if s.IDToken != "" {
		setCookie(w, hintCookie, b.keys.seal(hintCookie, []byte(s.IDToken)), hintLife)
	}
}

func (b *Browser) readHint(r *http.Request) (string, error) {
	cookies := r.CookiesNamed(hintCookie)
	if len(cookies) != 1 {
		return "", errSeal
	}
	hint, err := b.keys.open(hintCookie, cookies[0].Value)
	return string(hint), err
}

// forget asks the provider to revoke the refresh token, if it supports that (RFC 7009). Without an answer the token
// expires by itself, and only the browser's cookie has it.
func (b *Browser) forget(ctx context.Context, s session) {
	ctx, cancel := context.WithTimeout(ctx, forgetTime)
	defer cancel()
	if err := b.provider.revoke(ctx, s.Refresh); err != nil {
		b.log.WarnContext(ctx, "the identity provider did not revoke a refresh token", "error", err, "requestID",
			RequestID(ctx))
	}
}

func (p *Provider) revoke(ctx context.Context, token string) error {
	const doing = "revoking a refresh token"
	if token == "" {
		return nil
	}
	found, err := p.discover(ctx)
	if err != nil || found.settings.Revocation == "" {
		return err
	}
	client, err := p.oauth(found)
	if err != nil {
		return err
	}
	form := url.Values{"token": {token}, "token_type_hint": {"refresh_token"}}
	resp, err := p.post(ctx, client, found.settings.Revocation, form)
	if err != nil {
		return &ProviderError{Doing: doing, Cause: err}
	}
	_ = resp.Body.Close() // only the status matters
	if resp.StatusCode/100 != 2 {
		return &AnswerError{Doing: doing, Status: resp.StatusCode}
	}
	return nil
}

// BackChannelLogout ends, on all replicas, sessions that the identity provider reports as ended: the one of a browser
// (sid), or all of a user (sub). The provider authenticates by a signed token.
func (b *Browser) BackChannelLogout(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	said, err := b.provider.logoutToken(r.Context(), r.PostFormValue("logout_token"), b.now())
	if err == nil {
		err = b.endAtProvider(r.Context(), said)
	}
	if err != nil {
		outcome, reason := refusalOf(err)
		noteSession(r.Context(), signOut, said.Subject, outcome, reason)
		b.log.WarnContext(r.Context(), "the identity provider's sign-out was not taken", "error", err, "requestID",
			RequestID(r.Context()))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest) // as the standard requires, whatever the reason
		_ = json.NewEncoder(w).Encode(
			map[string]string{"error": "invalid_request", "error_description": "the logout token is not valid here, " +
				"or cannot be acted on now"})
		return
	}
	noteSession(r.Context(), signOut, said.Subject, Done, "provider")
}

// logout is the content of a logout token.
type logout struct {
	Subject string                     `json:"sub"`
	Session string                     `json:"sid"`
	Events  map[string]json.RawMessage `json:"events"`
	Nonce   *string                    `json:"nonce"`
	issued  time.Time
}

func (p *Provider) logoutToken(ctx context.Context, raw string, now time.Time) (logout, error) {
	if _, err := payloadOf(raw); err != nil {
		return logout{}, err
	}
	tok, err := p.verifyLogout(ctx, raw)
	if err != nil {
		return logout{}, err
	}
	var said logout
	if err := tok.Claims(&said); err != nil {
		return logout{}, fmt.Errorf("%w: its claims: %w", ErrBadToken, err)
	}
	switch _, ok := said.Events[logoutEvent]; {
	case !ok, said.Nonce != nil:
		return logout{}, fmt.Errorf("%w: it is no logout token", ErrBadToken)
	case cmp.Or(said.Subject, said.Session) == "":
		return logout{}, fmt.Errorf("%w: it names neither a user nor a session", ErrBadToken)
	case now.Sub(tok.IssuedAt).Abs() > maxLogoutAge:
		return logout{}, fmt.Errorf("%w: it is of another time", ErrBadToken)
	}
	said.issued = tok.IssuedAt
	return said, nil
}

// endAtProvider ends the session with the given sid, and those of its user without a sid; without a sid in the token,
// all sessions of the user.
func (b *Browser) endAtProvider(ctx context.Context, said logout) error {
	now := b.now()
	until := said.issued.Add(logoutSlack) // a repeated token ends no session that began since
	if until.After(now) {
		until = now
	}
	switch {
	case said.Subject == "":
		return b.revoked.Revoke(ctx, sidRef(said.Session, "", now))
	case said.Session == "":
		return b.revoked.RevokeUser(ctx, SessionRef{User: userHash(said.Subject), Began: until})
	}
	return errors.Join(
		b.revoked.Revoke(ctx, sidRef(said.Session, said.Subject, now)),
		b.revoked.RevokeUser(ctx, SessionRef{User: unnamedHash(said.Subject), Began: until}))
}

// sidOf returns the provider's sid of the session, "" if it has none.
func sidOf(tok *oidc.IDToken) string {
	var said struct {
		Session string `json:"sid"`
	}
	_ = tok.Claims(&said) // many have none
	return said.Session
}
