package sessions

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/portico-platform/portico/portal/auth"
)

var noon = time.Unix(1_800_000_000, 0)

func sessionOf(user string, n int, began time.Time) auth.SessionRef {
	return auth.SessionRef{ID: fmt.Sprintf("%s-%d", user, n), User: user, Began: began}
}

// replica holds the list of another replica, updated from the Secret's data.
type replica struct {
	*revocationList
	data map[string][]byte // of the Secret
}

func (o *replica) change(t *testing.T, change map[string]*string) {
	t.Helper()
	o.data = patched(o.data, change)
	o.see(o.data, noon)
}

// patched returns data after a change.
func patched(data map[string][]byte, change map[string]*string) map[string][]byte {
	after := maps.Clone(data)
	if after == nil {
		after = map[string][]byte{}
	}
	for key, text := range change {
		if delete(after, key); text != nil {
			after[key] = []byte(*text)
		}
	}
	return after
}

// TestAUserIsSignedOutOfAll sessions that have begun, on the other replica too, and of none that begins later.
func TestAUserIsSignedOutOfAll(t *testing.T) {
	here, there := newRevocationList(), replica{revocationList: newRevocationList()}
	there.change(t, here.add(sessionOf("a1", 0, noon.Add(-time.Hour)), noon))
	there.change(t, here.addAll("a1", noon, noon))
	if len(there.data) != 1 {
		t.Errorf("%d keys tell of it", len(there.data))
	}
	for _, l := range []*revocationList{here, there.revocationList} {
		for _, c := range []struct {
			user  string
			began time.Time
			ended bool
		}{
			{"a1", noon.Add(-time.Hour), true},
			{"a1", noon, true},
			{"a1", noon.Add(time.Second), false},
			{"b1", noon, false},
		} {
			if l.has(sessionOf(c.user, 1, c.began)) != c.ended {
				t.Errorf("a session of %s that began %s: want ended %v", c.user, c.began.Sub(noon), c.ended)
			}
		}
	}
	there.change(t, here.addAll("a1", noon.Add(-time.Minute), noon)) // a late change does not undo it
	if len(there.data) != 1 || !there.has(sessionOf("a1", 1, noon)) {
		t.Errorf("%v", there.data)
	}
}

// TestReplicasThatLagFillNoList: two replicas write to one Secret and see it late; it still stays small, and in the end
// both have every sign-out.
func TestReplicasThatLagFillNoList(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		replicas, seen := []*revocationList{newRevocationList(), newRevocationList()}, []int{0, 0}
		states := []map[string][]byte{{}} // of the Secret, one after the other
		var all []auth.SessionRef
		for n := range rapid.IntRange(1, 150).Draw(r, "sign-outs") {
			who := rapid.IntRange(0, 1).Draw(r, "replica")
			s := sessionOf("a1", n, noon.Add(time.Duration(rapid.IntRange(0, 5).Draw(r, "began"))*time.Second))
			all = append(all, s)
			last := patched(states[len(states)-1], replicas[who].add(s, noon))
			states = append(states, last)
			if len(last) > 2*(maxOfUser+1) {
				r.Fatalf("%d keys after %d sign-outs of one user", len(last), n+1)
			}
			for i := range replicas {
				if late := rapid.IntRange(seen[i], len(states)-1).Draw(r, "sees"); late > seen[i] {
					seen[i] = late
					replicas[i].see(states[late], noon)
				}
			}
		}
		for _, l := range replicas {
			l.see(states[len(states)-1], noon)
			for _, s := range all {
				if !l.has(s) {
					r.Fatalf("%s goes on", s.ID)
				}
			}
		}
	})
}

// TestAFloodOfSignOutsEndsTooMuchRatherThanTooLittle: a user who signs in and out all day does not fill the list, and
// loses other sessions of that day; other users lose none.
func TestAFloodOfSignOutsEndsTooMuchRatherThanTooLittle(t *testing.T) {
	l, other := newRevocationList(), &replica{revocationList: newRevocationList()}
	neighbour, before, after := sessionOf("b1", 1, noon), sessionOf("a1", -1, noon.Add(-time.Minute)),
		sessionOf("a1", -2, noon.Add(time.Hour))
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
	l, other := newRevocationList(), &replica{revocationList: newRevocationList()}
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
		t.Errorf("got %d keys; %d and %d sessions are known", len(other.data), len(l.sessions),
			len(other.sessions))
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
	l, other := newRevocationList(), &replica{revocationList: newRevocationList()}
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
	if len(other.data) != 3 { // c1, d1, and the key in an unknown format
		t.Errorf("told are %v", other.data)
	}
}

// TestMomentsOfUsersFillNoList: after sign-outs of all users at once there is still space for the next one.
func TestMomentsOfUsersFillNoList(t *testing.T) {
	l, other := newRevocationList(), &replica{revocationList: newRevocationList()}
	for n := range maxOfList + 1 {
		other.change(t, l.addAll(fmt.Sprintf("%08x", n), noon.Add(time.Duration(n)*time.Second), noon))
		if len(other.data) > maxOfList {
			t.Fatalf("%d keys", len(other.data))
		}
	}
	if len(other.data) != 1 || len(l.moments) != 1 || len(l.all) != 1 {
		t.Errorf("got %d keys; %d moments of %d are known", len(other.data), len(l.moments), len(l.all))
	}
	for n := range maxOfList + 1 {
		if s := sessionOf(fmt.Sprintf("%08x", n), 0, noon.Add(time.Duration(n)*time.Second)); !l.has(s) ||
			!other.has(s) {
			t.Fatalf("a session of user %d goes on", n)
		}
	}
	if late := sessionOf("anybody", 1, noon.Add(2*time.Hour)); l.has(late) || other.has(late) {
		t.Error("a session that began later ended, too")
	}
}
