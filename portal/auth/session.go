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
	// checkEvery is how often groups are asked for again; checkGrace how long the old ones last while the provider
	// does not answer.
	checkEvery = 5 * time.Minute
	checkGrace = 15 * time.Minute
	// streamRetry is how often a stream asks again while the provider does not answer; streamSpread is over how long
	// the streams that are due at once connect again.
	streamRetry  = time.Minute
	streamSpread = 20 * time.Second
)

// session is what the cookie holds, and the groups, which may have cookies of their own.
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
	TokenEnd int64    `json:"x"` // the ID token's end; counts when there is no refresh token
	Refresh  string   `json:"r,omitempty"`
	// SID is the provider's own name of the session (sid), by which it may end it.
	SID string `json:"p,omitempty"`
	// Hint tells the provider, when the session is renewed, which of the users that are signed in there it is about.
	Hint string `json:"t,omitempty"`
	// IDToken is that of the sign-in, where the provider is asked to come back after a sign-out, by which the
	// provider knows at a sign-out which of its sessions is meant; "" if there was no room.
	IDToken string `json:"h,omitempty"`
}

func (s session) identity() Identity {
	return Identity{Username: s.Username, Groups: s.Groups, Name: s.Name, Email: s.Email}
}

// key names the session in the list of revoked ones; the list must not let anybody forge one.
func (s session) key() string {
	h := sha256.Sum256([]byte(s.ID))
	return hex.EncodeToString(h[:16])
}

// askAgain returns when a stream that begins now must reconnect, so that the provider is asked who the user is. When
// that is due already, the provider did not answer a moment ago: the stream goes on for a while, within the grace.
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

// alive returns why the session has ended, apart from what the provider says of it; nil if it has not.
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

// endedAtProvider reports whether the provider said that the session has ended there, by any of its names.
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
	// Loaded is false until the list is complete: then it cannot be told which sessions may go on.
	Loaded() bool
	Revoked(s SessionRef) bool
	Revoke(ctx context.Context, s SessionRef) error
	// RevokeUser ends all sessions of the user that began until then.
	RevokeUser(ctx context.Context, until SessionRef) error
}
