package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/identity"
)

// The paths of signing in and out.
const (
	SignInPath    = "/auth/sign-in" // our own page, which leads to LoginPath
	LoginPath     = "/auth/login"
	CallbackPath  = "/auth/callback"
	LogoutPath    = "/auth/logout"
	SignedOutPath = "/auth/signed-out"
	ConfirmPath   = "/auth/confirm" // where users sign in again for what takes a fresh sign-in
)

// Browser signs users in and out, and says who a request with a cookie is from.
type Browser struct {
	provider  *Provider
	keys      *SessionKeys
	revoked   Revocations
	refresher *refresher
	states    *usedStates
	pages     Pages
	life      Life
	now       func() time.Time
	log       *slog.Logger
}

// Pages are what signing in and out shows.
type Pages interface {
	// SignIn is the page for visitors; href is where signing in begins, and why the ending of their session, if they
	// had one.
	SignIn(w http.ResponseWriter, r *http.Request, href string, why Ending)
	// SignedOut is the page after signing out; endSession is where the identity provider ends its own session, or "".
	SignedOut(w http.ResponseWriter, r *http.Request, endSession string)
	// Ended is the page for what was sent after the session had ended; href is where signing in begins, to come back to
	// the page that sent it.
	Ended(w http.ResponseWriter, r *http.Request, href string)
	// Away says that the identity provider does not answer, and tries again by itself at the address again.
	Away(w http.ResponseWriter, r *http.Request, again string)
	// Unconfirmed says why a sign-in did not confirm who the user of a session is.
	Unconfirmed(w http.ResponseWriter, r *http.Request, u Unconfirmed)
	// Problem says what went wrong; title and detail are for the user.
	Problem(w http.ResponseWriter, r *http.Request, status int, title, detail string)
}

// BrowserOptions are the parts of a Browser; all are needed but Turns, without which there must be one replica only.
type BrowserOptions struct {
	Provider *Provider
	Keys     *SessionKeys
	Revoked  Revocations
	Turns    Turns
	Pages    Pages
	Life     Life
	Clock    clock.PassiveClock
	Log      *slog.Logger
}

// NewBrowser puts the parts together.
func NewBrowser(o BrowserOptions) *Browser {
	return &Browser{
		provider: o.Provider, keys: o.Keys, revoked: o.Revoked, pages: o.Pages, life: o.Life, now: o.Clock.Now, log: o.Log,
		refresher: newRefresher(o), states: newUsedStates(o.Clock),
	}
}

// Require lets signed-in users through, with their identity in the context, and sends others to sign in.
func (b *Browser) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := b.current(w, r)
		var refused *RefusedError
		switch {
		case err == nil:
			note(r.Context(), s.identity())
			ctx := b.withConfirmation(WithIdentity(r.Context(), s.identity()), r, s)
			next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, sessionKey, b.lasting(s))))
		case errors.As(err, &refused):
			note(r.Context(), s.identity())
			noteSession(r.Context(), renewal, "", Forbidden, "notAllowed")
			b.log.WarnContext(r.Context(), "session refused", "error", err, "requestID", RequestID(r.Context()))
			clearSession(w, r)
			b.pages.Problem(w, r, http.StatusForbidden, "You cannot sign in here", refused.Reason)
		case errors.Is(err, errNotLoaded):
			b.starting(w, r)
		case isAway(err):
			b.noAnswer(w, r, err)
		default:
			b.toSignIn(w, r, s, err)
		}
	})
}

// starting asks to come back when it is known which sessions were revoked.
func (b *Browser) starting(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "2")
	b.pages.Problem(w, r, http.StatusServiceUnavailable, "The portal is starting", "Try again in a few seconds; you stay signed in.")
}

// lasting checks the session of a request that lasts. It says no when the provider is to be asked again, for nobody can
// hand a new cookie to an answer that has begun: the browser connects again, and current asks.
func (b *Browser) lasting(s session) func() error {
	again := b.askAgain(s, b.now())
	return func() error {
		now := b.now()
		if !now.Before(again) {
			return errAskAgain
		}
		return b.alive(s, now)
	}
}

// errNotLoaded means that nobody knows yet which sessions were revoked.
var errNotLoaded = errors.New("the list of revoked sessions is not loaded yet")

// current returns the request's session, its groups verified lately, and renews the cookie when that is due. Beside an
// error it returns the session as it was, if there was one.
func (b *Browser) current(w http.ResponseWriter, r *http.Request) (session, error) {
	s, err := b.readSession(r)
	if (err == nil || endingOf(err) == Lapsed) && !b.revoked.Loaded() {
		return session{}, errNotLoaded
	}
	if err != nil {
		return s, err
	}
	now := b.now()
	fresh, outrun, err := b.refresher.due(r.Context(), s, now)
	if err != nil || outrun {
		b.keepRefresh(w, r, s, fresh)
		return s, err
	}
	touched := isUse(r) && b.life.toTouch(s, now)
	if touched {
		fresh.Seen = now.Unix()
	}
	if touched || fresh.Checked != s.Checked || fresh.Refresh != s.Refresh {
		if err := b.writeSession(w, r, fresh); err != nil {
			return session{}, err
		}
	}
	return fresh, nil
}

// keepRefresh writes a session of which nothing is new but the refresh token: the one before is of no use any more.
func (b *Browser) keepRefresh(w http.ResponseWriter, r *http.Request, s, fresh session) {
	if fresh.ID == "" || fresh.Refresh == s.Refresh {
		return
	}
	if err := b.writeSession(w, r, fresh); err != nil {
		b.log.ErrorContext(r.Context(), "keeping a refresh token", "error", err, "requestID", RequestID(r.Context()))
	}
}

// renewPause is how long after a renewal a session must have lasted before it is renewed on the way of a page.
const renewPause = 10 * time.Second

// toSignIn sends pages to sign in, and answers 401 to requests whose redirect nobody would see: those of htmx, streams,
// and writes, whose body a redirect would lose. A session that lapsed is renewed on the way of a page, without a word
// if the identity provider still knows the user. The cookie of one that ended stays, for each open page to say why.
func (b *Browser) toSignIn(w http.ResponseWriter, r *http.Request, s session, cause error) {
	why := endingOf(cause)
	if !errors.Is(cause, errNoSession) {
		b.log.InfoContext(r.Context(), "session not accepted", "cause", cause, "requestID", RequestID(r.Context()))
	}
	if !errors.Is(cause, errNoSession) && (why == NoSession || why == Another) {
		clearSession(w, r)
	}
	renewedNow := why == Lapsed && b.now().Sub(time.Unix(s.Checked, 0)) < renewPause
	switch {
	case isScript(r):
		if err := b.askable(r.Context(), why); err != nil {
			b.noAnswer(w, r, err) // the page would be gone if it went to sign in
			return
		}
		http.Error(w, "Your session has ended; sign in again.", http.StatusUnauthorized)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		b.pages.Ended(w, r, withReturn(LoginPath, b.sentFrom(r)))
	case renewedNow: // it would go round for ever
		b.pages.Problem(w, r, http.StatusBadRequest, "Your session does not last",
			"It lapsed as soon as the identity provider had confirmed it. Let your browser keep all cookies of this address, and load the page again in some seconds. "+
				"If that does not help, the identity provider's tokens may end at once: tell the people who run the portal.")
	case why == Lapsed:
		back := localPath(r.URL.RequestURI())
		b.toProvider(w, r, login{ReturnTo: back, Renews: s.key(), Since: s.Checked, Hint: s.Hint})
	default:
		http.Redirect(w, r, signInAgain(r.URL.RequestURI(), why), http.StatusSeeOther) //nolint:gosec // a path of ours
	}
}

// sentFrom returns the path of the portal's page that sent a form, or / if the request does not tell.
func (b *Browser) sentFrom(r *http.Request) string {
	return localPath(strings.TrimPrefix(r.Referer(), b.provider.cfg.origin()))
}

func isStream(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// isUse reports whether the request shows that somebody is there. A stream does not, and neither does a page that its
// own script reloads: browsers mark the pages that a user asked for.
func isUse(r *http.Request) bool {
	return !isStream(r) && (r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-User") == "?1")
}

// SignIn shows the page for visitors. Whoever has a session goes on.
func (b *Browser) SignIn(w http.ResponseWriter, r *http.Request) {
	back := localPath(r.URL.Query().Get("return_to"))
	if _, err := b.readSession(r); err == nil {
		http.Redirect(w, r, back, http.StatusSeeOther) //nolint:gosec // localPath leaves paths of ours only
		return
	}
	b.pages.SignIn(w, r, withReturn(LoginPath, back), ending(r.URL.Query().Get("why")))
}

// signInAgain returns the address of the sign-in page for somebody whose session ended: why is shown there, and back is
// where the browser goes afterwards.
func signInAgain(back string, why Ending) string {
	to := withReturn(SignInPath, back)
	if why != NoSession {
		to += "&" + url.Values{"why": {string(why)}}.Encode()
	}
	return to
}

func withReturn(path, back string) string {
	return path + "?" + url.Values{"return_to": {localPath(back)}}.Encode()
}

// Alive returns nil while the session or the token of the request is valid. Handlers that last, such as streams, must
// call it now and then, and end when it returns an error.
func Alive(ctx context.Context) error {
	check, ok := ctx.Value(sessionKey).(func() error)
	if !ok {
		return errNoSession
	}
	return check()
}

// localPath returns s if it is a path of the portal that a browser may be sent back to, else /.
func localPath(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "", u.Host != "", u.User != nil:
		return "/"
	case !strings.HasPrefix(s, "/"), strings.HasPrefix(s, "//"), strings.Contains(s, `\`), strings.HasPrefix(u.Path, "//"):
		return "/"
	case strings.Contains(u.Path, `\`), strings.ContainsFunc(s, identity.Unprintable), strings.HasPrefix(u.Path, "/auth/"):
		return "/"
	case len(s) > 2000:
		return "/"
	}
	return s
}
