package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	mathrand "math/rand/v2"
	"time"
)

const (
	// checkEvery is how often groups are refreshed; checkGrace is how long the old ones are used while the provider
	// does not answer.
	checkEvery = 5 * time.Minute
	checkGrace = 15 * time.Minute
	// streamRetry is how often a stream is verified again while the provider does not answer; streamSpread is the
	// interval over which streams that are due at once reconnect.
	streamRetry  = time.Minute
	streamSpread = 20 * time.Second
)

// session is the content of the cookie, and the groups, which can be in separate cookies.
type session struct {
	ID       string   `json:"i"`
	Subject  string   `json:"s"`
	Username string   `json:"u"`
	Groups   []string `json:"g,omitempty"`
	Apart    *apart   `json:"a,omitempty"` // nil while the groups are in here
	Name     string   `json:"n,omitempty"`
	Email    string   `json:"e,omitempty"`
	Start    int64    `json:"b"` // signed in
	Seen     int64    `json:"l"` // last used
	Checked  int64    `json:"c"` // claims last verified
	TokenEnd int64    `json:"x"` // the ID token's expiry; used if there is no refresh token
	Refresh  string   `json:"r,omitempty"`
	// SID is the provider's name of the session (sid), by which the provider can end it.
	SID string `json:"p,omitempty"`
	// Hint identifies the user at a silent renewal, if several are signed in at the provider.
	Hint string `json:"t,omitempty"`
	// IDToken is the ID token of the sign-in, kept if PostLogoutRedirect is set: it tells the provider at a sign-out
	// which of its sessions to end; "" if it did not fit.
	IDToken string `json:"h,omitempty"`
}

func (s session) identity() Identity {
	return Identity{Username: s.Username, Groups: s.Groups, Name: s.Name, Email: s.Email}
}

// key identifies the session in the list of revoked ones; it is a hash, so that nobody can forge a session from the
// list.
func (s session) key() string {
	h := sha256.Sum256([]byte(s.ID))
	return hex.EncodeToString(h[:16])
}

// askAgain returns when a stream that begins now must reconnect, so that the session is verified with the provider. If
// that is already overdue, the provider did not answer lately: the stream then continues for a while, within the grace.
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

// alive returns why the session has ended, without asking the provider; nil if it has not.
func (b *Browser) alive(s session, now time.Time) error {
	switch {
	case b.revoked.Revoked(s.ref()), b.endedAtProvider(s):
		return errSignedOut
	case b.revoked.Revoked(UserRef(s.Username, time.Unix(s.Start, 0))):
		return errByAdmin
	case !now.Before(b.life.end(s)):
		return errOver
	case b.life.rested(s, now):
		return errRested
	case s.Refresh == "" && !now.Before(time.Unix(s.TokenEnd, 0)):
		return errTokenOver
	}
	return s.identity().Check()
}

// endedAtProvider reports whether the provider has ended the session, by its sid or by its user.
func (b *Browser) endedAtProvider(s session) bool {
	began := time.Unix(s.Start, 0)
	if s.SID == "" {
		return b.revoked.Revoked(SessionRef{User: unnamedHash(s.Subject), Began: began})
	}
	return b.revoked.Revoked(sidRef(s.SID, "", began)) || b.revoked.Revoked(sidRef(s.SID, s.Subject, began))
}

func newSessionID() string { return rand.Text() }

// Revocations is the list of revoked sessions, shared by all replicas.
type Revocations interface {
	// Loaded is false until the list is complete: until then it is not known which sessions are valid.
	Loaded() bool
	Revoked(s SessionRef) bool
	Revoke(ctx context.Context, s SessionRef) error
	// RevokeUser ends all sessions of the user that began at or before until.
	RevokeUser(ctx context.Context, until SessionRef) error
}
