package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

const (
	// shortestIdle keeps a session from ending while its user reads a page.
	shortestIdle = time.Minute
	// LongestSession is how long a revocation is remembered, regardless of the replicas' settings now or after a
	// restart: a copy of a cookie must not become valid again. A user's bearer token is not accepted for longer after
	// it was issued, either.
	LongestSession = 24 * time.Hour
	// touchEvery is the minimum interval between recorded uses, because each sets a new cookie.
	touchEvery = time.Minute
)

// Life is the maximum duration of sessions.
type Life struct {
	Idle time.Duration // without use
	Max  time.Duration // from signing in, used or not
}

// DefaultLife returns the default limits: a session survives a lunch break and ends with the working day.
func DefaultLife() Life { return Life{Idle: time.Hour, Max: 12 * time.Hour} }

// Check refuses durations that are too short to work with or too long to revoke. Its errors name the portal's flags.
func (l Life) Check() error {
	switch {
	case l.Idle < shortestIdle:
		return fmt.Errorf("--session-idle %s: want at least %s, or sessions would end while somebody reads a page",
			l.Idle, shortestIdle)
	case l.Max > LongestSession:
		return fmt.Errorf("--session-max %s: want at most %s, for a sign-out is not remembered longer", l.Max,
			LongestSession)
	case l.Idle > l.Max:
		return fmt.Errorf("--session-idle %s with --session-max %s: a session cannot be left alone for longer than "+
			"it lasts; lower the first, or raise the second", l.Idle, l.Max)
	}
	return nil
}

// end returns when s ends at the latest.
func (l Life) end(s session) time.Time { return time.Unix(s.Start, 0).Add(l.Max) }

// rested reports whether s was idle for too long.
func (l Life) rested(s session, now time.Time) bool {
	return !now.Before(time.Unix(s.Seen, 0).Add(l.Idle))
}

// toTouch reports whether use of s must be recorded: often enough that the recorded use is never much older than the
// real one.
func (l Life) toTouch(s session, now time.Time) bool {
	return now.Sub(time.Unix(s.Seen, 0)) >= min(touchEvery, l.Idle/10)
}

// SessionRef identifies a session in the list of revoked ones. It contains only hashes of the session and its user, so
// that nobody can forge a session from the list.
type SessionRef struct {
	ID, User string
	Began    time.Time
}

// Forgettable returns the time from which no portal accepts the session, so that its revocation can be removed.
func (s SessionRef) Forgettable() time.Time { return s.Began.Add(LongestSession) }

func (s session) ref() SessionRef {
	return SessionRef{ID: s.key(), User: userHash(s.Subject), Began: time.Unix(s.Start, 0)}
}

// UserRef identifies all sessions and tokens of a user that began at or before until, by the username in Kubernetes.
func UserRef(username string, until time.Time) SessionRef {
	return SessionRef{User: hashOf("username", username, 8), Began: until}
}

func userHash(subject string) string { return hashOf("user", subject, 8) }

// unnamedHash returns the hash for a user's sessions to which the provider gave no sid.
func unnamedHash(subject string) string { return hashOf("unnamed", subject, 8) }

// sidRef identifies a session by the provider's sid. It is stored under its user, so that many sign-outs of one user
// end no other user's session; or on its own, if the logout token does not name the user.
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
