package sessions

import (
	"strconv"
	"strings"
	"time"

	"github.com/portico-platform/portico/portal/auth"
)

const (
	// maxOfUser bounds the revoked sessions of one user that are remembered one by one, and maxOfList those of one
	// list, which has an eighth of the users. Beyond it one moment replaces them: every session that began until then
	// is revoked.
	maxOfUser, maxOfList = 16, 4096
	// allOf begins the key of such a moment, after the user and a dot, or alone for the whole list. The moment is part
	// of the key: two replicas that have not seen each other's write add two keys, and the later moment counts.
	allOf = "all-"
)

// revocationList holds the sessions of some users that were revoked before their expiry. It is stored as the data of a
// Secret: Unix seconds as text, by key. A key is <user>.<session>, with the time at which the session expires anyway;
// or <user>.all-<moment> or all-<moment>, with the moment: the beginning of the latest session that it revokes. Keys
// without a dot are sessions written by older versions. It is not safe for concurrent use.
type revocationList struct {
	sessions map[string]int64            // the expiry, by key
	byUser   map[string]map[string]int64 // sessions with a user, by user and key
	all      map[string]int64            // by user, "" for everybody: the latest moment
	moments  map[string]int64            // all moments by key; the latest ones are in all
}

func newRevocationList() *revocationList {
	return &revocationList{
		sessions: map[string]int64{}, byUser: map[string]map[string]int64{}, all: map[string]int64{},
		moments: map[string]int64{},
	}
}

// began returns the beginning of a session whose entry expires at until.
func began(until int64) int64 { return until - int64(auth.LongestSession/time.Second) }

// has reports whether the session was revoked.
func (l *revocationList) has(s auth.SessionRef) bool {
	_, one := l.sessions[s.User+"."+s.ID]
	_, all := l.covers(s.User, s.Began.Unix())
	return one || all
}

// covers reports whether a moment revokes a session of the user that began at beginning, and whose moment it is: "" for
// everybody's, or the user's.
func (l *revocationList) covers(user string, beginning int64) (whose string, covered bool) {
	for _, whose := range []string{"", user} {
		if latest, some := l.all[whose]; some && beginning <= latest {
			return whose, true
		}
	}
	return "", false
}

// hasOld reports whether an older version revoked the session.
func (l *revocationList) hasOld(s auth.SessionRef) bool {
	_, has := l.sessions[s.ID]
	return has
}

// see takes in the data of the Secret, old or new: another replica may have written more meanwhile. Expired keys stay
// known until they are removed from the Secret, since only known keys are removed.
func (l *revocationList) see(data map[string][]byte, now time.Time) {
	for key, text := range data {
		l.learn(key, string(text))
	}
	for _, key := range l.spent(now) {
		if _, still := data[key]; !still {
			l.drop(key)
		}
	}
}

// learn takes in one key of the data. Keys that it does not understand are ignored.
func (l *revocationList) learn(key, text string) {
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return
	}
	user, _, ofUser := strings.Cut(key, ".")
	whose, moment := momentOf(key)
	switch {
	case moment:
		l.all[whose], l.moments[key] = max(l.all[whose], at), at
	case ofUser:
		if l.byUser[user] == nil {
			l.byUser[user] = map[string]int64{}
		}
		l.byUser[user][key], l.sessions[key] = at, at
	default:
		l.sessions[key] = at
	}
}

// add takes in a session, and returns the change of the data that records it: texts by key, nil for keys to remove. If
// a user or a list has too many sessions, one moment replaces them: this revokes too many sessions rather than too few.
// A moment that already covers the session is written again, in case the earlier write failed.
func (l *revocationList) add(s auth.SessionRef, now time.Time) map[string]*string {
	change := l.dropSpent(now)
	if whose, covered := l.covers(s.User, s.Began.Unix()); covered {
		change[momentKey(whose, l.all[whose])] = seconds(l.all[whose])
		return change
	}
	until := s.Forgettable().Unix()
	key := s.User + "." + s.ID
	l.learn(key, strconv.FormatInt(until, 10))
	switch {
	case len(l.byUser[s.User]) > maxOfUser:
		l.merge(s.User, l.byUser[s.User], change)
	case l.full():
		l.merge("", l.sessions, change)
	default:
		change[key] = seconds(until)
	}
	return change
}

// addAll takes in that every session of the user that began at or before until is revoked, and returns the change of
// the data that records it.
func (l *revocationList) addAll(user string, until, now time.Time) map[string]*string {
	change := l.dropSpent(now)
	l.all[user] = max(l.all[user], until.Unix())
	l.merge(user, l.byUser[user], change)
	if l.full() {
		l.merge("", l.sessions, change)
	}
	return change
}

func (l *revocationList) full() bool { return len(l.sessions)+len(l.moments) > maxOfList }

func (l *revocationList) dropSpent(now time.Time) map[string]*string {
	change := map[string]*string{}
	for _, key := range l.spent(now) {
		l.drop(key)
		change[key] = nil
	}
	return change
}

// merge replaces the sessions by one moment.
func (l *revocationList) merge(whose string, sessions map[string]int64, change map[string]*string) {
	latest := l.all[whose]
	if whose == "" {
		for _, moment := range l.all {
			latest = max(latest, moment)
		}
	}
	for key, moment := range l.moments { // a later moment makes earlier ones redundant
		if of, _ := momentOf(key); (of == whose || whose == "") && moment <= latest {
			delete(l.all, of)
			change[key] = nil
			delete(l.moments, key)
		}
	}
	for key, until := range sessions {
		latest = max(latest, began(until))
		change[key] = nil
		l.drop(key)
	}
	key := momentKey(whose, latest)
	l.all[whose], l.moments[key] = latest, latest
	change[key] = seconds(latest)
}

// momentKey returns the key of a moment of a user, or of everybody in the list.
func momentKey(whose string, at int64) string {
	key := allOf + strconv.FormatInt(at, 10)
	if whose == "" {
		return key
	}
	return whose + "." + key
}

// momentOf returns whose moment a key is; ok is false if it is the key of no moment.
func momentOf(key string) (whose string, ok bool) {
	user, rest, ofUser := strings.Cut(key, ".")
	if !ofUser {
		user, rest = "", key
	}
	return user, strings.HasPrefix(rest, allOf)
}

func seconds(at int64) *string {
	s := strconv.FormatInt(at, 10)
	return &s
}

// spent returns the keys that are no longer needed: those that have expired or that a moment covers.
func (l *revocationList) spent(now time.Time) (keys []string) {
	for key, until := range l.sessions {
		user, _, ofUser := strings.Cut(key, ".")
		if !ofUser {
			user = ""
		}
		if _, covered := l.covers(user, began(until)); covered || until < now.Unix() {
			keys = append(keys, key)
		}
	}
	for key, moment := range l.moments {
		if whose, _ := momentOf(key); moment < l.all[whose] || began(now.Unix()) > moment {
			keys = append(keys, key)
		}
	}
	return keys
}

func (l *revocationList) drop(key string) {
	if whose, moment := momentOf(key); moment {
		if l.moments[key] == l.all[whose] {
			delete(l.all, whose)
		}
		delete(l.moments, key)
		return
	}
	user, _, _ := strings.Cut(key, ".")
	delete(l.sessions, key)
	if delete(l.byUser[user], key); len(l.byUser[user]) == 0 {
		delete(l.byUser, user)
	}
}
