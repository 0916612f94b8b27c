package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/portico-platform/portico/api/identity"
)

// Requests about Secrets need the user's own token from a recent sign-in. A session holds no token: its user signs in
// again, and the token is kept while it is accepted, in cookies that only this session can open.

const (
	// confirmedCookie is the prefix of the cookies that hold the token; a number from 1 follows.
	confirmedCookie = "__Host-portico-confirmed-"
	// clockSlack is how much earlier than the operator the portal stops accepting a token, so that the operator does
	// not refuse a form that the portal accepted.
	clockSlack = 5 * time.Second
)

// confirmation is the content of the cookies.
type confirmation struct {
	Token string `json:"t"`
	Until int64  `json:"x"`
}

// Unconfirmed says why a sign-in did not confirm who the user is.
type Unconfirmed struct {
	Status        int
	Title, Detail string // for the user
	Back          string // the page that required it
	EndSession    string // the identity provider's sign-out URL; "" if there is none, or if it would not help
}

var (
	errAnother  = errors.New("somebody else signed in")
	errNotAsked = errors.New("the sign-in is an old one: the identity provider did not ask the user again")
)

// ConfirmAt returns the address at which a user signs in again, and then returns to a page of the portal.
func ConfirmAt(back string) string { return withReturn(ConfirmPath, back) }

// ConfirmedUntil returns until when the request has a token of a fresh sign-in (Token); the zero time if it has none.
func ConfirmedUntil(ctx context.Context) time.Time {
	until, _ := ctx.Value(untilKey).(time.Time)
	return until
}

// WithConfirmation returns a context for a browser's request with the token of a fresh sign-in, which is accepted until
// then.
func WithConfirmation(ctx context.Context, token string, until time.Time) context.Context {
	return context.WithValue(WithToken(ctx, token), untilKey, until)
}

// withConfirmation adds the token of a fresh sign-in, if the request has an accepted one.
func (b *Browser) withConfirmation(ctx context.Context, r *http.Request, s session) context.Context {
	c, err := b.readConfirmation(r, s)
	if err != nil || !b.now().Before(time.Unix(c.Until, 0)) {
		return ctx
	}
	return WithConfirmation(ctx, c.Token, time.Unix(c.Until, 0))
}

// Confirm sends the user of a session to sign in again, and then back to the page that needs it. From pages of other
// sites it redirects to that page first, which explains the reason.
func (b *Browser) Confirm(w http.ResponseWriter, r *http.Request) {
	back := localPath(r.URL.Query().Get("return_to"))
	from := r.Header.Get("Sec-Fetch-Site")
	s, err := b.current(w, r)
	if err != nil || from == "cross-site" || from == "same-site" {
		http.Redirect(w, r, back, http.StatusSeeOther) //nolint:gosec // localPath leaves paths of ours only; without a session the page leads to sign in
		return
	}
	note(r.Context(), s.identity())
	b.toProvider(w, r, login{ReturnTo: back, Confirms: s.key(), Hint: s.Hint})
}

// confirm handles the identity provider's response: it keeps the token if it is from a fresh sign-in of the session's
// user. It does not change the session.
func (b *Browser) confirm(w http.ResponseWriter, r *http.Request, l login) {
	s, err := b.readSession(r)
	if err != nil || s.key() != l.Confirms { // the page redirects to sign in, or asks for it again
		http.Redirect(w, r, l.ReturnTo, http.StatusSeeOther)
		return
	}
	note(r.Context(), s.identity())
	got, err := b.redeem(r.Context(), l, r.URL.Query())
	if err == nil {
		err = b.keepToken(w, r, s, got)
	}
	if err != nil {
		b.unconfirmed(w, r.WithContext(WithIdentity(r.Context(), s.identity())), l.ReturnTo, err)
		return
	}
	noteSession(r.Context(), confirm, "", Done, "")
	http.Redirect(w, r, l.ReturnTo, http.StatusSeeOther)
}

// keepToken sets the cookies for a token of a fresh sign-in.
func (b *Browser) keepToken(w http.ResponseWriter, r *http.Request, s session, got redeemed) error {
	if got.token.Subject != s.Subject || got.id.Username != s.Username {
		return errAnother
	}
	if _, err := b.provider.identity(got.token); err != nil { // the operator reads the token only
		return refused("%s", "What is done with Secrets takes a token that says itself who you are and in which "+
			"groups, and the identity provider's says that at its userinfo endpoint only. "+
			"Ask the people who run it to put these claims into the ID token.")
	}
	now := b.now()
	until, err := countsUntil(got.token, now)
	switch {
	case err != nil:
		return err
	case !now.Before(got.token.Expiry):
		return &identity.TokenError{Fault: identity.Ended, Cause: errors.New("it had ended when it came")}
	case !now.Before(until):
		return errNotAsked
	}
	plain, err := json.Marshal(confirmation{Token: got.raw, Until: until.Unix()})
	if err != nil {
		return fmt.Errorf("writing a confirmation: %w", err)
	}
	packed, err := pack(plain)
	if err != nil {
		return fmt.Errorf("writing a confirmation: %w", err)
	}
	sealed := b.keys.seal(s.confirmedPurpose(), packed)
	if len(sealed) > maxParts*maxCookie {
		return tooLong(len(got.raw))
	}
	writeParts(w, r, confirmedCookie, sealed, until.Sub(now))
	return nil
}

// tooLong returns the error for a token of so many bytes, which is not kept; it says whether the CLI accepts it.
func tooLong(bytes int) *RefusedError {
	otherwise := "The command line works meanwhile: portico secret, portico connect."
	if bytes > maxToken {
		otherwise = fmt.Sprintf("The command line takes no token of more than %d KiB, either.", maxToken>>10)
	}
	return refused("The token that the identity provider issues for you is too long to be kept for this (%d bytes): "+
		"you are in many groups. Ask the people who run it to send only the groups that matter here. %s", bytes,
		otherwise)
}

// countsUntil returns until when a token proves a fresh sign-in.
func countsUntil(tok *oidc.IDToken, now time.Time) (time.Time, error) {
	at, err := identity.SignedInAt(tok)
	if at.After(now) { // the provider's clock is ahead
		at = now
	}
	until := at.Add(identity.Fresh - clockSlack)
	if tok.Expiry.Before(until) {
		until = tok.Expiry
	}
	return until, err
}

func (b *Browser) readConfirmation(r *http.Request, s session) (c confirmation, err error) {
	n := 0
	for _, cookie := range r.Cookies() {
		if len(cookie.Name) == len(confirmedCookie)+1 && cookie.Name[:len(confirmedCookie)] == confirmedCookie {
			n++
		}
	}
	if n == 0 || n > maxParts {
		return c, errSeal
	}
	sealed, err := readParts(r, confirmedCookie, n)
	if err != nil {
		return c, err
	}
	packed, err := b.keys.open(s.confirmedPurpose(), sealed)
	if err != nil {
		return c, err
	}
	plain, err := unpack(packed, maxConfirmation)
	if err != nil {
		return c, err
	}
	err = json.Unmarshal(plain, &c)
	return c, err
}

// maxConfirmation bounds the unpacked size.
const maxConfirmation = 2 * maxToken

// confirmedPurpose returns the sealing purpose of one session: the token of another session does not open.
func (s session) confirmedPurpose() string { return confirmedCookie + s.ID }

// withoutRefresh returns the scopes without the one for a refresh token: the session has its own, and some providers
// keep only one.
func withoutRefresh(scopes []string) []string {
	return slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return s == oidc.ScopeOfflineAccess })
}

// unconfirmed shows why the sign-in did not confirm the user, and what to do; it logs the cause.
func (b *Browser) unconfirmed(w http.ResponseWriter, r *http.Request, back string, err error) {
	outcome, reason := refusalOf(err)
	noteSession(r.Context(), confirm, "", outcome, reason)
	b.log.WarnContext(r.Context(), "a sign-in does not confirm its user", "error", err, "requestID",
		RequestID(r.Context()))
	u := Unconfirmed{Status: http.StatusForbidden, Title: "You are not signed in again", Back: back}
	var refused *RefusedError
	var answer *AnswerError
	var provider *ProviderError
	switch {
	case errors.Is(err, errAnother):
		u.Detail = "The identity provider signed in somebody else than the user of this session. Sign in as " +
			"yourself, or sign out here to go on as somebody else."
		u.EndSession = b.provider.endSessionURL(r.Context(), "")
	case errors.Is(err, errNotAsked):
		u.Detail = "The identity provider did not ask you to sign in again: it answered with a sign-in that is too " +
			"old for this. Sign out there, then try again. If that is of no use, it cannot ask again by itself: tell " +
			"a platform admin, whose admin guide says what to set. " +
			"The command line works meanwhile: portico secret, portico connect."
		u.EndSession = b.provider.endSessionURL(r.Context(), "")
	case errors.As(err, &refused):
		u.Detail = refused.Reason
	case errors.As(err, &answer):
		u.Status, u.Title, u.Detail = answer.status(), "The identity provider did not sign you in", answer.detail()
	case errors.As(err, &provider):
		u.Status, u.Title, u.Detail = http.StatusBadGateway, "The identity provider does not answer",
			"Try again in a minute."
	case errors.Is(err, ErrBadToken):
		u.Detail = faultWords(err)
	default:
		u.Status, u.Title, u.Detail = http.StatusInternalServerError, "Something went wrong",
			"The error has been logged."
	}
	b.pages.Unconfirmed(w, r, u)
}
