package pool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// play is a load balancer and its search over simulated time. The status is converted to JSON and back between two
// passes, as after a restart of the operator.
type play struct {
	hosts []host
	// stops reports whether these routes block the load balancer: the digests of the open hostnames.
	stops func(p *play, open map[string]string) bool
	// act runs before a pass.
	act func(*play)
	// sees replaces what a pass observes; nil for the real state.
	sees  func(*play) (sight, bool)
	ahead time.Duration // of the clock
	lasts time.Duration

	at        time.Duration
	following v1alpha1.PoolFollowing
	last      string        // the last requested configuration
	asked     time.Duration // when it was requested
	history   []string      // sets of closed hostnames
	longest   map[string]time.Duration
	since     map[string]time.Duration
	followed  time.Duration
	events    []string
}

// delay is how long the controller takes to apply a change.
const delay = 20 * time.Second

var midnight = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

// hostsOf returns hostnames: "a1" belongs to namespace a.
func hostsOf(claims ...string) []host {
	var all []host
	for _, c := range claims {
		all = append(all, host{claim: c, namespace: c[:1], digest: "good"})
	}
	return all
}

func (p *play) set(digest string, claims ...string) {
	for i := range p.hosts {
		if slices.Contains(claims, p.hosts[i].claim) {
			p.hosts[i].digest = digest
		}
	}
}

func (p *play) digest(claim string) string {
	return p.hosts[slices.IndexFunc(p.hosts, func(h host) bool { return h.claim == claim })].digest
}

// pass makes one pass, and returns the time until the next.
func (p *play) pass(t *testing.T) time.Duration {
	t.Helper()
	if p.act != nil {
		p.act(p)
	}
	var f v1alpha1.PoolFollowing
	text, err := json.Marshal(p.following)
	if err != nil || json.Unmarshal(text, &f) != nil {
		t.Fatal(err)
	}
	s := newSearch(&f, midnight.Add(p.at+p.ahead), 3*time.Minute, p.hosts)
	s.begin()
	open := map[string]string{}
	var closed []string
	for _, h := range p.hosts {
		if s.closes(h.claim) {
			closed = append(closed, h.claim)
			continue
		}
		open[h.claim] = h.digest
	}
	p.note(closed)
	seen := p.sight(open)
	next := s.end(seen)
	p.events, p.following = append(p.events, s.innocent...), f
	for _, list := range [][]v1alpha1.HostnameRoutes{f.Seen, f.Followed, f.Suspects, f.Cleared, f.Blamed} {
		if len(list) > len(p.hosts) {
			t.Fatalf("a list is longer than there are hostnames: %+v", f)
		}
	}
	if next != 0 && next < time.Second {
		t.Fatalf("it looks again after %s", next)
	}
	next = min(cmp.Or(next, hour), 30*time.Second) // other events cause passes too
	if seen == follows {
		p.followed += next
	}
	return next
}

// sight returns what the pass observes of a load balancer with these hostnames open.
func (p *play) sight(open map[string]string) sight {
	if asked := fmt.Sprint(open); asked != p.last {
		p.last, p.asked = asked, p.at
	}
	if p.sees != nil {
		if other, ok := p.sees(p); ok {
			return other
		}
	}
	if p.at-p.asked < delay || p.stops(p, open) {
		return standsStill
	}
	return follows
}

// note records which hostnames were closed, and for how long.
func (p *play) note(closed []string) {
	now := strings.Join(closed, "+")
	if now == "" {
		now = "-"
	}
	if len(p.history) == 0 || p.history[len(p.history)-1] != now {
		p.history = append(p.history, now)
	}
	for _, h := range p.hosts {
		if !slices.Contains(closed, h.claim) {
			p.since[h.claim] = p.at
		}
		p.longest[h.claim] = max(p.longest[h.claim], p.at-p.since[h.claim])
	}
}

func (p *play) run(t *testing.T) {
	t.Helper()
	p.longest, p.since = map[string]time.Duration{}, map[string]time.Duration{}
	for _, h := range p.hosts { // it followed with all that there was
		p.following.Followed = append(p.following.Followed, v1alpha1.HostnameRoutes{Claim: h.claim, Digest: h.digest})
	}
	for p.at < p.lasts {
		p.at += p.pass(t)
	}
}

// share returns the part of the time for which the load balancer followed.
func (p *play) share() float64 { return float64(p.followed) / float64(p.lasts) }

// badDigests blocks the load balancer while a hostname is open whose digest begins with "bad".
func badDigests(_ *play, open map[string]string) bool {
	for _, d := range open {
		if strings.HasPrefix(d, "bad") {
			return true
		}
	}
	return false
}

// outage blocks the load balancer from one time to another, whatever is open.
func outage(from, to time.Duration, beside func(*play, map[string]string) bool) func(*play, map[string]string) bool {
	return func(p *play, open map[string]string) bool {
		return p.at >= from && p.at < to || beside != nil && beside(p, open)
	}
}

// once returns an act that runs at one time.
func once(at time.Duration, do func(*play)) func(*play) {
	done := false
	return func(p *play) {
		if !done && p.at >= at {
			done = true
			do(p)
		}
	}
}

func acts(all ...func(*play)) func(*play) {
	return func(p *play) {
		for _, a := range all {
			a(p)
		}
	}
}

func changes(at time.Duration, digest string, claims ...string) func(*play) {
	return once(at, func(p *play) { p.set(digest, claims...) })
}

const minute, hour = time.Minute, time.Hour
