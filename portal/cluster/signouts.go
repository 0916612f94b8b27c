package cluster

import (
	"strconv"
	"strings"
	"time"

	"github.com/portico-platform/portico/portal/auth"
)

const (
	// maxOfUser is how many sign-outs of one user are remembered one by one, and maxOfList how many of one list, which is
	// an eighth of the users. Beyond it one moment takes their place: whatever session began until then has ended.
	maxOfUser, maxOfList = 16, 4096
	// allOf is the key of that moment, after the user and a dot, or by itself for the whole list.
	allOf = "all"
)

// signouts are the sessions of some users that were signed out before their end. They are kept as the data of a Secret:
// by key, Unix seconds as text. A key is <user>.<session>, with the time from which on nobody would take the session anyway;
// or <user>.all or all, with the beginning of the latest session that it ends. Keys without a dot are of sessions, as older
// versions wrote them. It is not safe for concurrent use.
type signouts struct {
	sessions map[string]int64            // by key, until when
	byUser   map[string]map[string]int64 // of those with a user, by user and key
	all      map[string]int64            // by user, "" for everybody: the latest beginning
}

func newSignouts() *signouts {
	return &signouts{sessions: map[string]int64{}, byUser: map[string]map[string]int64{}, all: map[string]int64{}}
}

// began is the beginning of a session that is forgotten at until.
func began(until int64) int64 { return until - int64(auth.LongestSession/time.Second) }

// has reports whether the session was signed out.
func (l *signouts) has(s auth.SessionRef) bool {
	if _, one := l.sessions[s.User+"."+s.ID]; one {
		return true
	}
	for _, whose := range []string{"", s.User} {
		if latest, some := l.all[whose]; some && s.Began.Unix() <= latest {
			return true
		}
	}
	return false
}

// hasOld reports whether an older version signed the session out.
func (l *signouts) hasOld(s auth.SessionRef) bool {
	_, has := l.sessions[s.ID]
	return has
}

// learn takes in what stands under a key. What is not understood was not written by us.
func (l *signouts) learn(key, text string) {
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return
	}
	user, session, ofUser := strings.Cut(key, ".")
	switch {
	case key == allOf:
		l.end("", at, l.sessions)
	case ofUser && session == allOf:
		l.end(user, at, l.byUser[user])
	case ofUser:
		if l.byUser[user] == nil {
			l.byUser[user] = map[string]int64{}
		}
		l.byUser[user][key], l.sessions[key] = at, at
	default:
		l.sessions[key] = at
	}
}

// end ends what began until latest, and forgets those of the sessions that this tells of.
func (l *signouts) end(whose string, latest int64, sessions map[string]int64) {
	l.all[whose] = max(l.all[whose], latest)
	for key, until := range sessions {
		if began(until) <= latest {
			l.drop(key)
		}
	}
}

// add takes in a session, and is the change of the data that tells of it: texts by key, nil for what goes. Of a user, or a
// list, of which there are too many, one moment is told in place of all: too many sessions end rather than one too few.
func (l *signouts) add(s auth.SessionRef, now time.Time) map[string]*string {
	change := map[string]*string{}
	for _, key := range l.ended(now) {
		l.drop(key)
		change[key] = nil
	}
	until := s.Forgettable().Unix()
	key := s.User + "." + s.ID
	l.learn(key, strconv.FormatInt(until, 10))
	switch {
	case len(l.byUser[s.User]) > maxOfUser:
		l.merge(s.User, l.byUser[s.User], change)
	case len(l.sessions) > maxOfList:
		l.merge("", l.sessions, change)
	default:
		change[key] = seconds(until)
	}
	return change
}

// merge puts one moment in the place of the sessions.
func (l *signouts) merge(whose string, sessions map[string]int64, change map[string]*string) {
	latest := l.all[whose]
	for key, until := range sessions {
		latest = max(latest, began(until))
		change[key] = nil
	}
	l.end(whose, latest, sessions)
	change[momentOf(whose)] = seconds(latest)
}

// momentOf is the key of the moment of a user, or of everybody in the list.
func momentOf(whose string) string {
	if whose == "" {
		return allOf
	}
	return whose + "." + allOf
}

func seconds(at int64) *string {
	s := strconv.FormatInt(at, 10)
	return &s
}

// ended are the keys of what nobody needs to know any more.
func (l *signouts) ended(now time.Time) (keys []string) {
	for key, until := range l.sessions {
		if until < now.Unix() {
			keys = append(keys, key)
		}
	}
	for whose, latest := range l.all {
		if began(now.Unix()) > latest {
			keys = append(keys, momentOf(whose))
		}
	}
	return keys
}

func (l *signouts) drop(key string) {
	user, session, ofUser := strings.Cut(key, ".")
	switch {
	case key == allOf:
		delete(l.all, "")
	case ofUser && session == allOf:
		delete(l.all, user)
	default:
		delete(l.sessions, key)
		if delete(l.byUser[user], key); len(l.byUser[user]) == 0 {
			delete(l.byUser, user)
		}
	}
}
