package auth

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/coreos/go-oidc/v3/oidc"
)

// renew goes on with a session that lapsed, if the identity provider still knows its user without asking. It stays the
// same session: signing out of a copy ends it, and it lasts no longer, and rests as long, as if nothing had been.
func (b *Browser) renew(w http.ResponseWriter, r *http.Request, l login) {
	old, err := b.readSession(r)
	switch {
	// Another tab signed somebody in meanwhile, or another request renewed it: the answer says nothing of that.
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
	case errors.As(err, &unreachable): // the session has lapsed still: whoever asks again tries again
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

// goOn writes old with what the provider says of its user now.
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

// loginHint returns what the provider knows the user by on its sign-in page: as it says itself (Entra ID has a claim
// for that), else the login name, else the e-mail address. "" if the token has none of them.
func loginHint(tok *oidc.IDToken) string {
	var said struct {
		Hint  string `json:"login_hint"`
		Login string `json:"preferred_username"`
		Email string `json:"email"`
	}
	_ = tok.Claims(&said) // claims of another form are no hints
	return cmp.Or(said.Hint, said.Login, said.Email)
}
