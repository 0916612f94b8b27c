package auth

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
)

// renew continues a lapsed session, if the identity provider still knows its user without asking. It stays the same
// session: signing out with a copy of the cookie ends it, and its idle and maximum durations continue.
func (b *Browser) renew(w http.ResponseWriter, r *http.Request, l login) {
	old, err := b.readSession(r)
	switch {
	// Another tab signed a user in meanwhile, or another request renewed the session: the response no longer applies.
	case err == nil && (old.key() != l.Renews || old.Checked > l.Since):
		http.Redirect(w, r, l.ReturnTo, http.StatusSeeOther)
		return
	case !b.revoked.Loaded():
		b.starting(w, r)
		return
	case old.key() != l.Renews:
		err = errNoSession
	case err == nil || endingOf(err) == Lapsed:
		err = b.goOn(w, r, l, old)
	}
	var unreachable *ProviderError
	switch {
	case err == nil:
		note(r.Context(), old.identity())
		noteSession(r.Context(), renewal, "", Done, "")
		http.Redirect(w, r, l.ReturnTo, http.StatusSeeOther)
	case errors.As(err, &unreachable): // the session is still lapsed: the next request tries again
		b.problem(w, r, err, l.ReturnTo)
	default:
		note(r.Context(), old.identity())
		outcome, reason := refusalOf(err)
		noteSession(r.Context(), renewal, "", outcome, reason)
		b.log.InfoContext(r.Context(), "session not renewed", "cause", err, "requestID", RequestID(r.Context()))
		clearSession(w, r)
		http.Redirect(w, r, signInAgain(l.ReturnTo, endingOf(err)), http.StatusSeeOther)
	}
}

// goOn writes old with the provider's current claims of its user.
func (b *Browser) goOn(w http.ResponseWriter, r *http.Request, l login, old session) error {
	fresh, err := b.begin(r.Context(), l, r.URL.Query())
	var refused *RefusedError
	var unreachable *ProviderError
	var answer *AnswerError
	switch {
	case errors.As(err, &unreachable):
		return err
	case errors.As(err, &refused), errors.As(err, &answer):
		return &endedError{Lapsed, err.Error()}
	case err != nil:
		return err
	case fresh.Subject != old.Subject || fresh.Username != old.Username:
		return &endedError{Another, "the identity provider knows another user"}
	}
	fresh.ID, fresh.Start, fresh.Seen = old.ID, old.Start, old.Seen
	fresh.SID = cmp.Or(fresh.SID, old.SID)
	return b.writeSession(w, r, fresh)
}

// loginHint returns how the provider's sign-in page identifies the user: by its own claim for that (Entra ID has one),
// else the login name, else the e-mail address. "" if the token has none of them.
func loginHint(tok *oidc.IDToken) string {
	var said struct {
		Hint  string `json:"login_hint"`
		Login string `json:"preferred_username"`
		Email string `json:"email"`
	}
	_ = tok.Claims(&said) // claims of another type are ignored
	return cmp.Or(said.Hint, said.Login, said.Email)
}
