package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

const (
	// shortestIdle keeps a session from ending while somebody reads a page.
	shortestIdle = time.Minute
	// LongestSession is how long a revocation is remembered, whatever replicas are told now or after a restart: a copy
	// of a cookie must not come to life again. No bearer token of a person counts for longer after it was issued,
	// either.
	LongestSession = 24 * time.Hour
	// touchEvery is how often use is noted at most, for it means a new cookie.
	touchEvery = time.Minute
)

// Life is how long sessions last.
type Life struct {
	Idle time.Duration // without use
	Max  time.Duration // from signing in, used or not
}

// DefaultLife returns the usual limits: a session rests for a lunch break at most and ends with the working day.
func DefaultLife() Life { return Life{Idle: time.Hour, Max: 12 * time.Hour} }

// Check refuses lives that nobody could work with, or sign out of. It names the portal's flags.
func (l Life) Check() error {
	switch {
	case l.Idle < shortestIdle:
		return fmt.Errorf("--session-idle %s: want at least %s, or sessions would end while somebody reads a page", l.Idle, shortestIdle)
	case l.Max > LongestSession:
		return fmt.Errorf("--session-max %s: want at most %s, for a sign-out is not remembered longer", l.Max, LongestSession)
	case l.Idle > l.Max:
		return fmt.Errorf("--session-idle %s with --session-max %s: a session cannot be left alone for longer than it lasts; "+
			"lower the first, or raise the second", l.Idle, l.Max)
	}
	return nil
}

// end returns when s ends at the latest.
func (l Life) end(s session) time.Time { return time.Unix(s.Start, 0).Add(l.Max) }

// rested reports whether s was left alone for too long.
func (l Life) rested(s session, now time.Time) bool {
	return !now.Before(time.Unix(s.Seen, 0).Add(l.Idle))
}

// toTouch reports whether use of s is to be noted: often enough that what is left of Idle is about Idle.
func (l Life) toTouch(s session, now time.Time) bool {
	return now.Sub(time.Unix(s.Seen, 0)) >= min(touchEvery, l.Idle/10)
}

// SessionRef names a session in the list of revoked ones. The list must not let anybody forge one, so that it
// and its user go by hashes.
type SessionRef struct {
	ID, User string
	Began    time.Time
}

// Forgettable returns the time from which no portal accepts the session, so that its revocation need not be remembered.
func (s SessionRef) Forgettable() time.Time { return s.Began.Add(LongestSession) }

func (s session) ref() SessionRef {
	return SessionRef{ID: s.key(), User: userHash(s.Subject), Began: time.Unix(s.Start, 0)}
}

// UserRef names all sessions and tokens of a user, by the name that Kubernetes knows, that began until then.
func UserRef(username string, until time.Time) SessionRef {
	return SessionRef{User: hashOf("username", username, 8), Began: until}
}

func userHash(subject string) string { return hashOf("user", subject, 8) }

// unnamedHash stands for those sessions of a user of which the provider never told a name.
func unnamedHash(subject string) string { return hashOf("unnamed", subject, 8) }

// sidRef names a session by the provider's name for it. Each is filed with its user, so that many sign-outs of one end
// nobody else's session; or by itself, if the logout token does not say whose it is.
func sidRef(sid, subject string, began time.Time) SessionRef {
	ref := SessionRef{ID: hashOf("sid", sid, 16), User: userHash(subject), Began: began}
	if subject == "" {
		ref.User = hashOf("whose", sid, 8)
	}
	return ref
}

func hashOf(what, name string, bytes int) string {
	h := sha256.Sum256([]byte(what + "\x00" + name))
	return hex.EncodeToString(h[:bytes])
}
