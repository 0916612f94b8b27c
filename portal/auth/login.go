package auth

import (
	"cmp"
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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	lru "k8s.io/apimachinery/pkg/util/cache"

	"github.com/portico-platform/portico/api/identity"
)

const (
	// loginCookie is the prefix of the cookies of sign-ins in progress, one each: several pages can sign in at once.
	loginCookie = "__Host-portico-login-"
	// loginLife is how long a user can take at the identity provider.
	loginLife = 10 * time.Minute
	// maxLogins bounds a browser's sign-ins in progress: each request carries their cookies.
	maxLogins = 8
	// maxLogin is the maximum size of each, in bytes.
	maxLogin = 1500
)

// login is the content of the cookie of a sign-in in progress; it binds the response to this browser.
type login struct {
	State    string `json:"s"`
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	ReturnTo string `json:"r"`
	Expires  int64  `json:"x"`
	Hint     string `json:"-"`           // identifies the user to the provider in a silent sign-in
	Renews   string `json:"o,omitempty"` // key of the session that a silent sign-in renews
	Since    int64  `json:"c,omitempty"` // when the claims of that session were verified
	Confirms string `json:"f,omitempty"` // key of the session whose user a fresh sign-in confirms
}

// cookie returns the name of the cookie that holds the sign-in with this state. The state is hashed because one that a
// browser sends back can contain any characters.
func (l login) cookie() string {
	h := sha256.Sum256([]byte(l.State))
	return loginCookie + hex.EncodeToString(h[:8])
}

// usedStates refuses a state that was used before.
type usedStates struct {
	mu   sync.Mutex
	seen *lru.LRUExpireCache
}

func newUsedStates(clock lru.Clock) *usedStates {
	return &usedStates{seen: lru.NewLRUExpireCacheWithClock(refreshes, clock)}
}

// use reports whether the state was unused, and marks it as used. Of concurrent callers one gets true.
func (u *usedStates) use(state string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, again := u.seen.Get(state); again {
		return false
	}
	u.seen.Add(state, true, loginLife)
	return true
}

// Login redirects the browser to the identity provider. It changes nothing except a short-lived cookie. From pages of
// other sites it redirects to the portal's own page first: otherwise they could sign users in again and again.
func (b *Browser) Login(w http.ResponseWriter, r *http.Request) {
	back := localPath(r.URL.Query().Get("return_to"))
	if from := r.Header.Get("Sec-Fetch-Site"); from == "cross-site" || from == "same-site" {
		http.Redirect(w, r, withReturn(SignInPath, back), http.StatusSeeOther)
		return
	}
	b.toProvider(w, r, login{ReturnTo: back})
}

// toProvider redirects the browser to the identity provider, which must not ask the user anything if l renews a
// session, and must ask if l confirms the user.
func (b *Browser) toProvider(w http.ResponseWriter, r *http.Request, l login) {
	oauth, err := b.provider.client(r.Context())
	if err == nil {
		err = b.provider.answers(r.Context())
	}
	if err != nil {
		b.problem(w, r, err, r.URL.RequestURI())
		return
	}
	l.State, l.Nonce, l.Verifier, l.Expires = rand.Text(), rand.Text(), oauth2.GenerateVerifier(),
		b.now().Add(loginLife).Unix()
	sealed, err := b.sealLogin(l)
	if err != nil {
		b.problem(w, r, err, "")
		return
	}
	if l.Confirms != "" {
		oauth.Scopes = withoutRefresh(oauth.Scopes)
	}
	opts := append(l.wishes(b.provider.cfg.ConfirmPrompt), oidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier))
	to, err := b.provider.authURL(r.Context(), oauth, l.State, opts...)
	if err != nil {
		b.problem(w, r, err, r.URL.RequestURI())
		return
	}
	b.clearLogins(w, r)
	setCookie(w, l.cookie(), sealed, loginLife)
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// wishes returns the extra parameters of the authorization request; confirm is the prompt of a fresh sign-in.
func (l login) wishes(confirm string) (all []oauth2.AuthCodeOption) {
	wish := func(name, value string) {
		if value != "" {
			all = append(all, oauth2.SetAuthURLParam(name, value))
		}
	}
	switch {
	case l.Renews != "":
		wish("prompt", "none")
	case l.Confirms != "":
		wish("prompt", confirm)
		wish("max_age", strconv.Itoa(int(identity.Fresh.Seconds()))) // makes the provider report the time of sign-in
	}
	wish("login_hint", l.Hint)
	return all
}

// sealLogin seals l for its cookie. The return address is left out if it is very long.
func (b *Browser) sealLogin(l login) (string, error) {
	plain, err := json.Marshal(l)
	if err == nil && sealedLen(plain) > maxLogin {
		l.ReturnTo = "/"
		plain, err = json.Marshal(l)
	}
	if err != nil {
		return "", fmt.Errorf("writing a sign-in: %w", err)
	}
	return b.keys.seal(loginCookie, plain), nil
}

// clearLogins removes invalid sign-ins in progress, and the oldest ones when there are too many.
func (b *Browser) clearLogins(w http.ResponseWriter, r *http.Request) {
	type pending struct {
		name string
		ends int64
	}
	var all []pending
	for _, c := range r.Cookies() {
		if strings.HasPrefix(c.Name, loginCookie) {
			l, _ := b.openLogin(c.Value) // invalid ones sort first
			all = append(all, pending{c.Name, l.Expires})
		}
	}
	slices.SortFunc(all, func(a, b pending) int { return cmp.Compare(a.ends, b.ends) })
	for _, one := range all[:max(0, len(all)-maxLogins+1)] {
		clearCookie(w, one.name)
	}
}

func (b *Browser) openLogin(sealed string) (l login, err error) {
	plain, err := b.keys.open(loginCookie, sealed)
	if err != nil {
		return login{}, err
	}
	err = json.Unmarshal(plain, &l)
	return l, err
}

// errNotStarted means that this browser did not start this sign-in, or did so too long ago.
var errNotStarted = errors.New("no sign-in of this browser under way")

// Callback handles the identity provider's response: it begins a session, renews one, or confirms its user.
func (b *Browser) Callback(w http.ResponseWriter, r *http.Request) {
	l, err := b.takeLogin(w, r)
	if err != nil {
		b.problem(w, r, err, "")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*providerTimeout)
	defer cancel()
	switch {
	case l.Renews != "":
		b.renew(w, r.WithContext(ctx), l)
		return
	case l.Confirms != "":
		b.confirm(w, r.WithContext(ctx), l)
		return
	}
	s, err := b.begin(ctx, l, r.URL.Query())
	if err == nil {
		err = b.writeSession(w, r, s)
	}
	if err != nil {
		b.problem(w, r, err, withReturn(LoginPath, l.ReturnTo))
		return
	}
	note(r.Context(), s.identity())
	noteSession(r.Context(), signIn, "", Done, "")
	b.replace(ctx, r)
	http.Redirect(w, r, l.ReturnTo, http.StatusSeeOther)
}

// replace ends the session of the request, because a new one replaces it and nobody could sign out of the old one.
func (b *Browser) replace(ctx context.Context, r *http.Request) {
	old, err := b.readSession(r)
	if err != nil && !errors.Is(err, errEnded) {
		return
	}
	if err := b.revoked.Revoke(ctx, old.ref()); err != nil {
		b.log.ErrorContext(ctx, "revoking the session before this one", "error", err, "requestID", RequestID(ctx))
	}
}

// takeLogin returns the sign-in to which the response belongs, once.
func (b *Browser) takeLogin(w http.ResponseWriter, r *http.Request) (login, error) {
	state := r.URL.Query().Get("state")
	name := login{State: state}.cookie()
	cookies := r.CookiesNamed(name)
	if len(cookies) != 1 {
		return login{}, errNotStarted
	}
	clearCookie(w, name)
	l, err := b.openLogin(cookies[0].Value)
	if err != nil {
		return login{}, errNotStarted
	}
	if b.now().Unix() >= l.Expires || subtle.ConstantTimeCompare([]byte(state), []byte(l.State)) != 1 ||
		!b.states.use(state) {
		return login{}, errNotStarted
	}
	return l, nil
}

// begin exchanges the code of the response for tokens, and returns a session from the ID token.
func (b *Browser) begin(ctx context.Context, l login, answer url.Values) (session, error) {
	got, err := b.redeem(ctx, l, answer)
	if err != nil {
		return session{}, err
	}
	at := b.now()
	now := at.Unix()
	s := session{
		ID: newSessionID(), Subject: got.token.Subject, Username: got.id.Username, Groups: got.id.Groups,
		Name:  got.id.Name,
		Email: got.id.Email, Start: now, Seen: now, Checked: now, TokenEnd: endOf(got.token, at).Unix(),
		Refresh: got.refresh,
		SID:     sidOf(got.token), Hint: loginHint(got.token),
	}
	if b.provider.cfg.PostLogoutRedirect {
		s.IDToken = got.raw
	}
	return s, nil
}

// problem shows the user why a sign-in failed, and logs the cause. again is where it can be retried without the user,
// if the provider did not answer.
func (b *Browser) problem(w http.ResponseWriter, r *http.Request, err error, again string) {
	outcome, reason := refusalOf(err)
	noteSession(r.Context(), signIn, "", outcome, reason)
	b.log.WarnContext(r.Context(), "sign-in failed", "error", err, "requestID", RequestID(r.Context()))
	var refused *RefusedError
	var answer *AnswerError
	var provider *ProviderError
	switch {
	case errors.As(err, &refused):
		b.pages.Problem(w, r, http.StatusForbidden, "You cannot sign in here", refused.Reason)
	case errors.As(err, &answer):
		b.pages.Problem(w, r, answer.status(), "The identity provider did not sign you in", answer.detail())
	case errors.As(err, &provider):
		b.away(w, r, again)
	case errors.Is(err, errNotStarted):
		b.pages.Problem(w, r, http.StatusBadRequest, "This sign-in is no longer valid",
			"It was begun in another window, took too long, or was used already. Sign in again.")
	case errors.Is(err, ErrBadToken):
		b.pages.Problem(w, r, http.StatusForbidden, "You cannot sign in here", faultWords(err))
	default:
		b.pages.Problem(w, r, http.StatusInternalServerError, "Something went wrong", "The error has been logged.")
	}
}
