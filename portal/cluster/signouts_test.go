package cluster

import (
	"fmt"
	"testing"
	"time"

	"github.com/portico-platform/portico/portal/auth"
)

var noon = time.Unix(1_800_000_000, 0)

func sessionOf(user string, n int, began time.Time) auth.SessionRef {
	return auth.SessionRef{ID: fmt.Sprintf("%s-%d", user, n), User: user, Began: began}
}

// replica is a list that another replica keeps by what it is told.
type replica struct {
	*signouts
	data map[string]string // of the Secret
}

func (o *replica) change(t *testing.T, change map[string]*string) {
	t.Helper()
	if o.data == nil {
		o.data = map[string]string{}
	}
	for key, text := range change {
		if delete(o.data, key); text != nil {
			o.data[key] = *text
		}
	}
	for key, text := range o.data {
		o.learn(key, text)
	}
}

// TestAFloodOfSignOutsEndsTooMuchRatherThanTooLittle: whoever signs in and out all day fills no list, loses other sessions of
// that day, and nobody else does.
func TestAFloodOfSignOutsEndsTooMuchRatherThanTooLittle(t *testing.T) {
	l, other := newSignouts(), &replica{signouts: newSignouts()}
	neighbour, before, after := sessionOf("b1", 1, noon), sessionOf("a1", -1, noon.Add(-time.Minute)), sessionOf("a1", -2, noon.Add(time.Hour))
	for n := range 3000 {
		s := sessionOf("a1", n, noon.Add(time.Duration(n)*time.Second))
		other.change(t, l.add(s, noon))
		if !l.has(s) || !other.has(s) {
			t.Fatalf("session %d goes on", n)
		}
		if flooded := n >= maxOfUser; l.has(before) != flooded || other.has(before) != flooded {
			t.Fatalf("after %d sign-outs the session that began before them all: %v", n+1, l.has(before))
		}
		if len(other.data) > maxOfUser+1 {
			t.Fatalf("%d keys after %d sign-outs of one user", len(other.data), n+1)
		}
	}
	for _, s := range []auth.SessionRef{neighbour, after} {
		if l.has(s) || other.has(s) {
			t.Errorf("%s ended, too", s.ID)
		}
	}
}

func TestAFullListEndsAllThatBeganBefore(t *testing.T) {
	l, other := newSignouts(), &replica{signouts: newSignouts()}
	var all []auth.SessionRef
	for n := range maxOfList + 1 {
		s := sessionOf(fmt.Sprintf("%08x", n), 0, noon.Add(time.Duration(n)*time.Second))
		all = append(all, s)
		other.change(t, l.add(s, noon))
		if len(other.data) > maxOfList {
			t.Fatalf("%d keys", len(other.data))
		}
	}
	if len(other.data) != 1 || len(other.sessions) != 0 || len(l.byUser) != 0 {
		t.Errorf("%d keys are told, %d and %d sessions are known", len(other.data), len(l.sessions), len(other.sessions))
	}
	for _, s := range append(all, sessionOf("anybody", 0, noon)) {
		if !l.has(s) || !other.has(s) {
			t.Fatalf("%s goes on", s.ID)
		}
	}
	if late := sessionOf("anybody", 1, noon.Add(2*time.Hour)); l.has(late) || other.has(late) {
		t.Error("a session that began later ended, too")
	}
}

func TestSignOutsAreForgottenWithTheirSessions(t *testing.T) {
	l, other := newSignouts(), &replica{signouts: newSignouts()}
	for n := range maxOfUser + 1 {
		other.change(t, l.add(sessionOf("a1", n, noon), noon))
	}
	other.change(t, l.add(sessionOf("b1", 0, noon), noon))
	other.change(t, map[string]*string{"0123abcd": seconds(noon.Add(time.Hour).Unix()), "junk.x": new(string)})
	l.learn("0123abcd", "no number")
	later := noon.Add(auth.LongestSession + time.Second)
	other.change(t, other.add(sessionOf("c1", 0, later), later))
	if len(other.sessions) != 1 || len(other.all) != 0 || len(other.byUser) != 1 {
		t.Errorf("known are %v of %v, and %v", other.sessions, other.byUser, other.all)
	}
	other.change(t, l.add(sessionOf("d1", 0, later), later))
	if len(other.data) != 3 { // c1, d1, and what nobody understands
		t.Errorf("told are %v", other.data)
	}
}
