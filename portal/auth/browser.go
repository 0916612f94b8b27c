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
	SignInPath    = "/auth/sign-in" // our own page, with a link to LoginPath
	LoginPath     = "/auth/login"
	CallbackPath  = "/auth/callback"
	LogoutPath    = "/auth/logout"
	SignedOutPath = "/auth/signed-out"
	ConfirmPath   = "/auth/confirm" // where users sign in again for what needs a fresh sign-in
)

// Browser signs users in and out, and authenticates requests with a session cookie.
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

// Pages renders the pages of signing in and out.
type Pages interface {
	// SignIn is the page for visitors; href is the link to sign in, and why is how their session ended, if they had
	// one.
	SignIn(w http.ResponseWriter, r *http.Request, href string, why Ending)
	// SignedOut is the page after signing out; endSession is the identity provider's own sign-out URL, or "".
	SignedOut(w http.ResponseWriter, r *http.Request, endSession string)
	// Ended is the response to a write that was sent after the session had ended; href is the link to sign in and
	// return to the page that sent it.
	Ended(w http.ResponseWriter, r *http.Request, href string)
	// Away says that the identity provider does not answer, and retries at the address again.
	Away(w http.ResponseWriter, r *http.Request, again string)
	// Unconfirmed says why a sign-in did not confirm who the user of a session is.
	Unconfirmed(w http.ResponseWriter, r *http.Request, u Unconfirmed)
	// Problem shows an error; title and detail are for the user.
	Problem(w http.ResponseWriter, r *http.Request, status int, title, detail string)
}

// BrowserOptions are the parts of a Browser. All are required except Turns, which can be nil with a single replica
// only.
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

// NewBrowser returns a Browser with these parts.
func NewBrowser(o BrowserOptions) *Browser {
	return &Browser{
		provider: o.Provider, keys: o.Keys, revoked: o.Revoked, pages: o.Pages, life: o.Life, now: o.Clock.Now,
		log:       o.Log,
		refresher: newRefresher(o), states: newUsedStates(o.Clock),
	}
}

// Require passes on requests of signed-in users, with their identity in the context, and redirects others to sign in.
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

// starting asks the client to retry, until the list of revoked sessions is loaded.
func (b *Browser) starting(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Retry-After", "2")
	b.pages.Problem(w, r, http.StatusServiceUnavailable, "The portal is starting",
		"Try again in a few seconds; you stay signed in.")
}

// lasting checks the session of a long request. It returns an error when the session must be verified with the provider
// again, because a response that has begun cannot set a new cookie: the browser reconnects, and current verifies it.
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

// errNotLoaded means that the list of revoked sessions is not loaded yet.
var errNotLoaded = errors.New("the list of revoked sessions is not loaded yet")

// current returns the request's session with groups verified lately, and renews the cookie when that is due. With an
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

// keepRefresh writes a session with only its refresh token changed: the earlier token may no longer be valid.
func (b *Browser) keepRefresh(w http.ResponseWriter, r *http.Request, s, fresh session) {
	if fresh.ID == "" || fresh.Refresh == s.Refresh {
		return
	}
	if err := b.writeSession(w, r, fresh); err != nil {
		b.log.ErrorContext(r.Context(), "keeping a refresh token", "error", err, "requestID", RequestID(r.Context()))
	}
}

// renewPause is the minimum age of a renewal before another redirect of a page to the provider renews the session.
const renewPause = 10 * time.Second

// toSignIn redirects pages to sign in, and responds 401 to requests whose redirect nobody would see: those of htmx,
// streams, and writes, whose body a redirect would lose. It renews a lapsed session by a redirect to the provider,
// without asking the user if the provider still knows them. The cookie of an ended session stays, so that each open
// page can say why it ended.
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
			b.noAnswer(w, r, err) // a page redirected to sign in would be lost
			return
		}
		http.Error(w, "Your session has ended; sign in again.", http.StatusUnauthorized)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		b.pages.Ended(w, r, withReturn(LoginPath, b.sentFrom(r)))
	case renewedNow: // it would redirect for ever
		b.pages.Problem(w, r, http.StatusBadRequest, "Your session does not last",
			"It lapsed as soon as the identity provider had confirmed it. Let your browser keep all cookies of this "+
				"address, and load the page again in some seconds. "+
				"If that does not help, the identity provider's tokens may end at once: tell the people who run the "+
				"portal.")
	case why == Lapsed:
		back := localPath(r.URL.RequestURI())
		b.toProvider(w, r, login{ReturnTo: back, Renews: s.key(), Since: s.Checked, Hint: s.Hint})
	default:
		http.Redirect(w, r, signInAgain(r.URL.RequestURI(), why), http.StatusSeeOther) //nolint:gosec // a path of ours
	}
}

// sentFrom returns the path of the portal's page that sent a form, or / if the request does not say.
func (b *Browser) sentFrom(r *http.Request) string {
	return localPath(strings.TrimPrefix(r.Referer(), b.provider.cfg.origin()))
}

func isStream(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// isUse reports whether the request shows that the user is active. A stream does not, and neither does a page that its
// own script reloads: browsers mark navigations by the user.
func isUse(r *http.Request) bool {
	return !isStream(r) && (r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-User") == "?1")
}

// SignIn shows the page for visitors. Users with a session are redirected.
func (b *Browser) SignIn(w http.ResponseWriter, r *http.Request) {
	back := localPath(r.URL.Query().Get("return_to"))
	if _, err := b.readSession(r); err == nil {
		http.Redirect(w, r, back, http.StatusSeeOther) //nolint:gosec // localPath leaves paths of ours only
		return
	}
	b.pages.SignIn(w, r, withReturn(LoginPath, back), ending(r.URL.Query().Get("why")))
}

// signInAgain returns the address of the sign-in page for a user whose session ended: it shows why, and returns the
// browser to back.
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

// Alive returns nil while the session or the token of the request is valid. Long handlers, such as streams, must call
// it regularly and end when it returns an error.
func Alive(ctx context.Context) error {
	check, ok := ctx.Value(sessionKey).(func() error)
	if !ok {
		return errNoSession
	}
	return check()
}

// localPath returns s if it is a path of the portal to which a browser can be redirected, else /.
func localPath(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "", u.Host != "", u.User != nil:
		return "/"
	case !strings.HasPrefix(s, "/"), strings.HasPrefix(s, "//"), strings.Contains(s, `\`),
		strings.HasPrefix(u.Path, "//"):
		return "/"
	case strings.Contains(u.Path, `\`), strings.ContainsFunc(s, identity.Unprintable),
		strings.HasPrefix(u.Path, "/auth/"):
		return "/"
	case len(s) > 2000:
		return "/"
	}
	return s
}
