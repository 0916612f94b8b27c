package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	lru "k8s.io/apimachinery/pkg/util/cache"
)

const (
	// loginCookie begins the names of cookies of sign-ins under way, one for each: several pages may be at it at once.
	loginCookie = "__Host-portico-login-"
	// loginLife is how long a user may take at the identity provider.
	loginLife = 10 * time.Minute
	// maxLogins is how many sign-ins a browser may have under way: their cookies come with each request.
	maxLogins = 8
)

// login is what the cookie of a sign-in under way holds; it binds the answer to this browser.
type login struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	ReturnTo string `json:"r"`
	Expires  int64  `json:"x"`
	Renews   string `json:"o,omitempty"` // key of the session that it renews, if the provider does not ask the user anything
}

// cookie is the name of the cookie of the sign-in with this state; in one that comes back may be anything.
func (l login) cookie() string {
	h := sha256.Sum256([]byte(l.State))
	return loginCookie + hex.EncodeToString(h[:8])
}

// usedStates refuses a state that has come back once.
type usedStates struct {
	mu   sync.Mutex
	seen *lru.LRUExpireCache
}

func newUsedStates(clock lru.Clock) *usedStates {
	return &usedStates{seen: lru.NewLRUExpireCacheWithClock(refreshes, clock)}
}

// use is true for one caller only, however many ask at once.
func (u *usedStates) use(state string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, again := u.seen.Get(state); again {
		return false
	}
	u.seen.Add(state, true, loginLife)
	return true
}

// Login sends the browser to the identity provider. It changes nothing but a short-lived cookie.
func (b *Browser) Login(w http.ResponseWriter, r *http.Request) {
	b.toProvider(w, r, login{ReturnTo: localPath(r.URL.Query().Get("return_to"))})
}

// toProvider sends the browser to the identity provider, which may ask the user nothing if l renews a session.
func (b *Browser) toProvider(w http.ResponseWriter, r *http.Request, l login) {
	found, err := b.provider.discover(r.Context())
	if err != nil {
		b.problem(w, r, err)
		return
	}
	l.State, l.Nonce, l.Verifier, l.Expires = rand.Text(), rand.Text(), oauth2.GenerateVerifier(), b.now().Add(loginLife).Unix()
	plain, err := json.Marshal(l)
	if err != nil {
		b.problem(w, r, err)
		return
	}
	b.clearLogins(w, r)
	setCookie(w, l.cookie(), b.keys.seal(loginCookie, plain), loginLife)
	opts := []oauth2.AuthCodeOption{oidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier)}
	if l.Renews != "" {
		opts = append(opts, oauth2.SetAuthURLParam("prompt", "none"))
	}
	http.Redirect(w, r, b.provider.oauth(found).AuthCodeURL(l.State, opts...), http.StatusSeeOther)
}

// clearLogins forgets the sign-ins under way once there are too many.
func (b *Browser) clearLogins(w http.ResponseWriter, r *http.Request) {
	var names []string
	for _, c := range r.Cookies() {
		if strings.HasPrefix(c.Name, loginCookie) {
			names = append(names, c.Name)
		}
	}
	if len(names) < maxLogins {
		return
	}
	for _, name := range names {
		clearCookie(w, name)
	}
}

// errNotStarted means that this browser did not begin this sign-in, or too long ago.
var errNotStarted = errors.New("no sign-in of this browser under way")

// Callback takes the identity provider's answer and begins a session, or renews one.
func (b *Browser) Callback(w http.ResponseWriter, r *http.Request) {
	l, err := b.takeLogin(w, r)
	if err != nil {
		b.problem(w, r, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*providerTimeout)
	defer cancel()
	if l.Renews != "" {
		b.renew(w, r.WithContext(ctx), l)
		return
	}
	s, err := b.begin(ctx, l, r.URL.Query())
	if err == nil {
		err = b.writeSession(w, s)
	}
	if err != nil {
		b.problem(w, r, err)
		return
	}
	note(r.Context(), s.identity())
	b.replace(ctx, r)
	http.Redirect(w, r, l.ReturnTo, http.StatusSeeOther)
}

// replace ends the session that the request brought, for a new one takes its place: nobody could sign out of it.
func (b *Browser) replace(ctx context.Context, r *http.Request) {
	old, err := b.readSession(r)
	if err != nil && !errors.Is(err, errEnded) {
		return
	}
	if err := b.revoked.Revoke(ctx, old.ref()); err != nil {
		b.log.ErrorContext(ctx, "revoking the session before this one", "error", err, "requestID", RequestID(ctx))
	}
}

// takeLogin finds the sign-in that the answer belongs to, once.
func (b *Browser) takeLogin(w http.ResponseWriter, r *http.Request) (login, error) {
	state := r.URL.Query().Get("state")
	name := login{State: state}.cookie()
	cookies := r.CookiesNamed(name)
	if len(cookies) != 1 {
		return login{}, errNotStarted
	}
	clearCookie(w, name)
	plain, err := b.keys.open(loginCookie, cookies[0].Value)
	if err != nil {
		return login{}, errNotStarted
	}
	var l login
	if err := json.Unmarshal(plain, &l); err != nil {
		return login{}, errNotStarted
	}
	if b.now().Unix() >= l.Expires || subtle.ConstantTimeCompare([]byte(state), []byte(l.State)) != 1 || !b.states.use(state) {
		return login{}, errNotStarted
	}
	return l, nil
}

// begin trades the code of the answer for tokens, and the ID token for a session.
func (b *Browser) begin(ctx context.Context, l login, answer url.Values) (session, error) {
	if code := answer.Get("error"); code != "" {
		return session{}, &RefusedError{
			Reason: "The identity provider did not sign you in. Try again, or ask whoever runs it.",
			Cause:  fmt.Errorf("it answered %q", code),
		}
	}
	found, err := b.provider.discover(ctx)
	if err != nil {
		return session{}, err
	}
	tok, err := b.provider.oauth(found).Exchange(b.provider.with(ctx), answer.Get("code"), oauth2.VerifierOption(l.Verifier))
	if err != nil {
		return session{}, &ProviderError{Doing: "trading the code for tokens", Cause: err}
	}
	raw, ok := tok.Extra("id_token").(string)
	if !ok {
		return session{}, &ProviderError{Doing: "signing in", Cause: errors.New("the answer has no ID token")}
	}
	idToken, err := b.provider.verify(ctx, raw, []string{b.provider.cfg.ClientID})
	if err != nil {
		return session{}, err
	}
	// go-oidc leaves the nonce to us.
	if subtle.ConstantTimeCompare([]byte(idToken.Nonce), []byte(l.Nonce)) != 1 {
		return session{}, fmt.Errorf("%w: its nonce is not the one of this sign-in", ErrBadToken)
	}
	id, err := b.provider.identity(idToken)
	if err != nil {
		return session{}, err
	}
	now := b.now().Unix()
	return session{
		ID: newSessionID(), Subject: idToken.Subject, Username: id.Username, Groups: id.Groups, Name: id.Name,
		Email: id.Email, Start: now, Seen: now, Checked: now, TokenEnd: idToken.Expiry.Unix(), Refresh: tok.RefreshToken,
	}, nil
}

// Logout ends the session here and on all replicas, also one that has ended here: where sessions last longer it has not.
// POST only.
func (b *Browser) Logout(w http.ResponseWriter, r *http.Request) {
	s, err := b.readSession(r)
	clearCookie(w, sessionCookie)
	if err == nil || errors.Is(err, errEnded) {
		note(r.Context(), s.identity())
		if err := b.revoked.Revoke(r.Context(), s.ref()); err != nil {
			b.log.ErrorContext(r.Context(), "revoking a session", "error", err, "requestID", RequestID(r.Context()))
			b.pages.Problem(w, r, http.StatusServiceUnavailable, "You are signed out in this browser only",
				"The session could not be ended everywhere: a copy of its cookie, if there is one, works until it expires.")
			return
		}
	}
	http.Redirect(w, r, SignedOutPath, http.StatusSeeOther)
}

// SignedOut is our own page after signing out, with a link to the provider's: form-action 'self' stops a redirect there.
func (b *Browser) SignedOut(w http.ResponseWriter, r *http.Request) {
	b.pages.SignedOut(w, r, b.provider.endSessionURL(r.Context()))
}

// endSessionURL is "" when the provider has no such page, or does not answer.
func (p *Provider) endSessionURL(ctx context.Context) string {
	found, err := p.discover(ctx)
	if err != nil {
		return ""
	}
	u, err := url.Parse(found.endSession)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.cfg.ClientID)
	u.RawQuery = q.Encode()
	return u.String()
}

// problem shows what a failed sign-in means for the user; the log gets the cause.
func (b *Browser) problem(w http.ResponseWriter, r *http.Request, err error) {
	b.log.WarnContext(r.Context(), "sign-in failed", "error", err, "requestID", RequestID(r.Context()))
	var refused *RefusedError
	var provider *ProviderError
	switch {
	case errors.As(err, &refused):
		b.pages.Problem(w, r, http.StatusForbidden, "You cannot come in", refused.Reason)
	case errors.As(err, &provider):
		b.pages.Problem(w, r, http.StatusBadGateway, "The identity provider does not answer", "Try again in a minute.")
	case errors.Is(err, errNotStarted):
		b.pages.Problem(w, r, http.StatusBadRequest, "This sign-in is no longer valid",
			"It was begun in another window, took too long, or was used already. Sign in again.")
	case errors.Is(err, ErrBadToken):
		b.pages.Problem(w, r, http.StatusForbidden, "You cannot come in", "The identity provider's answer was not meant for this portal.")
	default:
		b.pages.Problem(w, r, http.StatusInternalServerError, "Something went wrong", "The error has been logged.")
	}
}
