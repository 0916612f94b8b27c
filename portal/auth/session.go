package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"time"
)

const (
	sessionCookie = "__Host-portico"
	// checkEvery is how often groups are asked for again; checkGrace how long the old ones last while the provider
	// does not answer.
	checkEvery = 5 * time.Minute
	checkGrace = 15 * time.Minute
	// streamRetry is how often a stream asks again while the provider does not answer; streamSpread is over how long
	// the streams that are due at once connect again.
	streamRetry  = time.Minute
	streamSpread = 20 * time.Second
	// maxCookie leaves room for name and attributes below the 4,096 bytes that browsers keep.
	maxCookie = 3500
)

// session is what the cookie holds.
type session struct {
	ID       string   `json:"i"`
	Subject  string   `json:"s"`
	Username string   `json:"u"`
	Groups   []string `json:"g,omitempty"`
	Name     string   `json:"n,omitempty"`
	Email    string   `json:"e,omitempty"`
	Start    int64    `json:"b"` // signed in
	Seen     int64    `json:"l"` // last used
	Checked  int64    `json:"c"` // claims last verified
	TokenEnd int64    `json:"x"` // the ID token's end; counts when there is no refresh token
	Refresh  string   `json:"r,omitempty"`
}

func (s session) identity() Identity {
	return Identity{Username: s.Username, Groups: s.Groups, Name: s.Name, Email: s.Email}
}

// key names the session in the list of revoked ones; the list must not let anybody forge one.
func (s session) key() string {
	h := sha256.Sum256([]byte(s.ID))
	return hex.EncodeToString(h[:16])
}

// askAgain is when a stream that begins now must connect again, so that the provider is asked who the user is. When it
// is due already, the provider did not answer a moment ago: the stream goes on for a while, within the grace.
func (b *Browser) askAgain(s session, now time.Time) time.Time {
	checked := time.Unix(s.Checked, 0)
	due := checked.Add(checkEvery)
	switch grace := checked.Add(checkGrace); {
	case s.Refresh == "":
		return b.life.end(s)
	case now.Before(due):
		return due.Add(mathrand.N(streamSpread)) //nolint:gosec // nobody gains by guessing it
	case now.Add(streamRetry).Before(grace):
		return now.Add(streamRetry)
	default:
		return grace
	}
}

// alive says whether the session may go on, apart from the provider's opinion.
func (b *Browser) alive(s session, now time.Time) error {
	switch {
	case b.revoked.Revoked(s.ref()):
		return errSignedOut
	case !now.Before(b.life.end(s)):
		return errOver
	case b.life.rested(s, now):
		return errRested
	case s.Refresh == "" && !now.Before(time.Unix(s.TokenEnd, 0)):
		return errTokenOver
	}
	return s.identity().Check()
}

func newSessionID() string { return rand.Text() }

// Revocations is the list of sessions that were signed out, shared by all replicas.
type Revocations interface {
	// Loaded is false until the list is complete: then it cannot be told which sessions may go on.
	Loaded() bool
	Revoked(s SessionRef) bool
	Revoke(ctx context.Context, s SessionRef) error
}

// readSession opens the cookie; errNoSession without one that we sealed.
func (b *Browser) readSession(r *http.Request) (session, error) {
	cookies := r.CookiesNamed(sessionCookie)
	if len(cookies) != 1 {
		return session{}, errNoSession
	}
	plain, err := b.keys.open(sessionCookie, cookies[0].Value)
	if err != nil {
		return session{}, errNoSession
	}
	var s session
	if err := json.Unmarshal(plain, &s); err != nil {
		return session{}, errNoSession
	}
	return s, b.alive(s, b.now())
}

// writeSession refuses a session that browsers would silently drop.
func (b *Browser) writeSession(w http.ResponseWriter, s session) error {
	plain, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("writing the session: %w", err)
	}
	sealed := b.keys.seal(sessionCookie, plain)
	if len(sealed) > maxCookie {
		return &RefusedError{Reason: fmt.Sprintf("Your account is in too many groups (%d) for a session. "+
			"Ask whoever runs the identity provider to send only the groups that matter here.", len(s.Groups))}
	}
	setCookie(w, sessionCookie, sealed, b.life.end(s).Sub(b.now()))
	return nil
}

func setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: max(int(life.Seconds()), 1), Secure: true,
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func clearCookie(w http.ResponseWriter, name string) {
	http.SetCookie(w, &http.Cookie{Name: name, Path: "/", MaxAge: -1, Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
}
