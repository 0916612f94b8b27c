package auth

import (
	"context"
	"errors"
	"net/http"
)

// isAway reports whether the provider could not be asked. Nothing has ended by that.
func isAway(err error) bool {
	_, away := errors.AsType[*ProviderError](err)
	return away
}

// noAnswer answers a request whose session the provider must be asked about, while it does not answer. The session
// stays, open pages stay where they are, and go on by themselves.
func (b *Browser) noAnswer(w http.ResponseWriter, r *http.Request, cause error) {
	b.log.WarnContext(r.Context(), "the identity provider does not answer", "error", cause, "requestID", RequestID(r.Context()))
	switch {
	case isScript(r):
		w.Header().Set("Retry-After", awayRetry)
		http.Error(w, "The identity provider does not answer; try again.", http.StatusFailedDependency)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		b.away(w, r, withReturn(SignInPath, b.sentFrom(r)))
	default:
		b.away(w, r, r.URL.RequestURI())
	}
}

// awayRetry is after how many seconds a page tries again by itself.
const awayRetry = "10"

// away shows a page of ours in place of the provider's, which goes on at the address again as soon as the provider
// answers.
func (b *Browser) away(w http.ResponseWriter, r *http.Request, again string) {
	w.Header().Set("Retry-After", awayRetry)
	w.Header().Set("Refresh", awayRetry+"; url="+again)
	b.pages.Away(w, r, again)
}

// isScript reports whether a request is of the script of a page, which knows whether somebody is entering something
// there.
func isScript(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" || isStream(r) }

// askable returns an error if a session can go on by asking the provider, but that does not answer.
func (b *Browser) askable(ctx context.Context, why Ending) error {
	if why != Lapsed {
		return nil
	}
	return b.provider.answers(ctx)
}
