package auth

import (
	"context"
	"errors"
	"net/http"
)

// isAway reports whether the provider could not be reached. That ends no session.
func isAway(err error) bool {
	_, away := errors.AsType[*ProviderError](err)
	return away
}

// noAnswer responds to a request whose session must be verified while the provider does not answer. The session stays;
// open pages stay open and resume when the provider answers.
func (b *Browser) noAnswer(w http.ResponseWriter, r *http.Request, cause error) {
	b.log.WarnContext(r.Context(), "the identity provider does not answer", "error", cause, "requestID",
		RequestID(r.Context()))
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

// awayRetry is the number of seconds after which a page retries.
const awayRetry = "10"

// away shows the portal's own page instead of the provider's. The page retries the address again until the provider
// answers.
func (b *Browser) away(w http.ResponseWriter, r *http.Request, again string) {
	w.Header().Set("Retry-After", awayRetry)
	w.Header().Set("Refresh", awayRetry+"; url="+again)
	b.pages.Away(w, r, again)
}

// isScript reports whether a page's script sent the request. The script knows whether the user is entering something.
func isScript(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" || isStream(r) }

// askable returns an error if a session could continue by asking the provider, but the provider does not answer.
func (b *Browser) askable(ctx context.Context, why Ending) error {
	if why != Lapsed {
		return nil
	}
	return b.provider.answers(ctx)
}
