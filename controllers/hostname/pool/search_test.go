package pool

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// scene is a play and its expected result.
type scene struct {
	play
	history string                   // of closed hostnames, with - for none; empty: not checked
	share   float64                  // of the time for which the load balancer follows, at least
	longest map[string]time.Duration // maximum time for which a hostname is closed; others never are
	events  string                   // the hostnames that were found innocent
}

// eitherIsBad blocks the load balancer while one of two hostnames is open: they share a route.
func eitherIsBad(_ *play, open map[string]string) bool {
	return strings.HasPrefix(open["a1"], "bad") || strings.HasPrefix(open["a2"], "bad")
}

func scenes() map[string]scene {
	return map[string]scene{
		"one is to blame, and others changed after it": {
			play:    play{hosts: hostsOf("a1", "b1", "c1"), lasts: 15 * minute, stops: badDigests, act: acts(changes(minute, "bad", "a1"), changes(2*minute, "new", "b1"))},
			history: "- b1 a1+b1 a1", longest: map[string]time.Duration{"a1": 12 * minute, "b1": 5 * minute},
		},
		"who is to blame mends it": {
			play:    play{hosts: hostsOf("a1", "b1"), lasts: 24 * hour, stops: badDigests, act: acts(changes(minute, "bad", "a1"), changes(8*minute, "mended", "a1"))},
			history: "- a1 -", share: 0.99, longest: map[string]time.Duration{"a1": 5 * minute},
		},
		"who is to blame never mends it": {
			play:    play{hosts: hostsOf("a1", "b1"), lasts: 24 * hour, stops: badDigests, act: changes(minute, "bad", "a1")},
			history: "- a1 - a1 - a1 - a1 - a1", share: 0.98, longest: map[string]time.Duration{
				"a1": 8*hour + 2*minute,
			},
		},
		"one route at two hostnames": {
			play:    play{hosts: hostsOf("a1", "a2", "b1"), lasts: 14 * minute, stops: eitherIsBad, act: changes(minute, "bad", "a1", "a2")},
			history: "- a1+a2 a2 a1+a2", share: 0.3, longest: map[string]time.Duration{"a1": hour, "a2": hour},
		},
		"of many hostnames of a namespace the last is to blame": {
			play: play{
				hosts: hostsOf("a1", "a2", "a3", "b1"), lasts: 10 * minute, stops: badDigests,
				act: acts(changes(minute, "new", "a1", "a2"), changes(minute+30*time.Second, "bad", "a3")),
			},
			history: "- a1+a2+a3 a2+a3 a3", longest: map[string]time.Duration{
				"a1": minute, "a2": 2 * minute, "a3": hour,
			}, events: "a1 a2",
		},
		"two are to blame": {
			play:    play{hosts: hostsOf("a1", "b1", "c1"), lasts: 24 * hour, stops: badDigests, act: acts(changes(minute, "bad", "a1", "c1"), changes(2*minute, "new", "b1"))},
			longest: map[string]time.Duration{"a1": 9 * hour, "b1": 15 * minute, "c1": 9 * hour}, share: 0.95,
			events: "b1",
		},
		"ten change, and the first is to blame": {
			play: play{
				hosts: hostsOf("a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "i1", "j1"), lasts: hour,
				stops: badDigests,
				act: acts(changes(minute, "bad", "a1"),
					changes(minute+10*time.Second, "new", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "i1", "j1")),
			},
			share: 0.5, events: "b1 c1 d1 e1 f1 g1 h1 i1 j1", longest: map[string]time.Duration{
				"a1": hour, "b1": 15 * minute, "c1": 15 * minute, "d1": 15 * minute, "e1": 15 * minute,
				"f1": 15 * minute, "g1": 15 * minute,
				"h1": 15 * minute, "i1": 15 * minute, "j1": 15 * minute,
			},
		},
		"nobody changed": {play: play{hosts: hostsOf("a1", "b1"), lasts: 24 * hour, stops: outage(0, 24*hour, nil)}, history: "-"},
		"nobody is to blame, and it stays so": {
			play:    play{hosts: hostsOf("a1", "b1"), lasts: 24 * hour, stops: outage(2*minute, 24*hour, nil), act: changes(minute, "new", "a1")},
			longest: map[string]time.Duration{"a1": 4 * minute},
		},
		"AWS is in trouble for as long as a trial": {
			play:    play{hosts: hostsOf("a1", "b1"), lasts: 24 * hour, stops: outage(minute, 5*minute, nil), act: changes(2*minute, "new", "b1")},
			history: "- b1 -", share: 0.99, longest: map[string]time.Duration{"b1": 12 * minute}, events: "b1",
		},
		"AWS is in trouble every hour, when the same team changes": {
			play: play{hosts: hostsOf("a1", "b1"), lasts: 24 * hour, stops: func(p *play, _ map[string]string) bool {
				return p.at%hour > 50*minute && p.at%hour < 55*minute
			}, act: func(p *play) {
				if p.at%hour > 51*minute {
					p.set(fmt.Sprint("new", p.at/hour), "b1")
				}
			}},
			share: 0.85, longest: map[string]time.Duration{"b1": 12 * minute},
		},
		"one is to blame while AWS is in trouble for hours": {
			play:    play{hosts: hostsOf("a1", "b1", "c1"), lasts: 12 * hour, stops: outage(minute, 5*hour, badDigests), act: acts(changes(2*minute, "bad", "a1"), changes(3*minute, "new", "b1"))},
			longest: map[string]time.Duration{"a1": 8*hour + 2*minute, "b1": 10 * minute}, share: 0.45,
		},
		"one is to blame, and then something else stops the load balancer": {
			play:    play{hosts: hostsOf("a1", "b1"), lasts: 12 * hour, stops: outage(8*minute, 12*hour, badDigests), act: changes(minute, "bad", "a1")},
			longest: map[string]time.Duration{"a1": 25 * minute},
		},
		"a hostile team changes its route every minute": {
			play: play{
				hosts: hostsOf("a1", "b1", "c1"), lasts: 24 * hour, stops: badDigests,
				act: acts(changes(hour, "new", "b1"), func(p *play) {
					p.set(fmt.Sprint("bad", p.at/minute), "a1")
				}),
			},
			share: 0.95, longest: map[string]time.Duration{"a1": 9 * hour, "b1": 10 * minute},
		},
		"a hostile team changes its routes at every opening": {
			play: play{hosts: hostsOf("a1", "a2", "a3", "b1"), lasts: 24 * hour, stops: badDigests, act: func(p *play) {
				f := p.following
				closes := len(f.Blamed)+len(f.Suspects) > 0 && f.LostSince == nil
				if p.at < minute || f.Probe != nil || closes {
					p.set(fmt.Sprint("bad", p.at), "a1", "a2", "a3")
				}
			}},
			share: 0.95, longest: map[string]time.Duration{"a1": 24 * hour, "a2": 24 * hour, "a3": 24 * hour},
		},
		"a hostile team is good until it is open": {
			play: play{hosts: hostsOf("a1", "b1"), lasts: 24 * hour, stops: badDigests, act: func(p *play) {
				digest := "good" + fmt.Sprint(p.at/minute)
				if p.following.LostSince == nil && p.following.Probe == nil && len(p.following.Blamed) == 0 {
					digest = "bad" + fmt.Sprint(p.at/minute)
				} else if p.following.LostSince != nil && p.following.Probe == nil {
					digest = p.digest("a1")
				}
				p.set(digest, "a1")
			}},
			share: 0.9, longest: map[string]time.Duration{"a1": 9 * hour},
		},
		"one read in two minutes fails": {
			play: play{
				hosts: hostsOf("a1", "b1"), lasts: 14 * minute, stops: badDigests,
				act: changes(minute, "bad", "a1"), sees: func(p *play) (sight, bool) {
					return unseen, p.at%(2*minute) < 20*time.Second
				},
			},
			longest: map[string]time.Duration{"a1": hour}, history: "- a1",
		},
		"AWS does not answer for an hour": {
			play: play{
				hosts: hostsOf("a1", "b1"), lasts: 70 * minute, stops: badDigests,
				act: changes(minute, "bad", "a1"), sees: func(p *play) (sight, bool) {
					return unseen, p.at > 3*minute && p.at < 63*minute
				},
			},
			longest: map[string]time.Duration{"a1": 5 * minute}, history: "- a1",
		},
		"AWS does not answer in the middle of a trial": {
			play: play{
				hosts: hostsOf("a1", "b1"), lasts: 60 * minute, stops: outage(minute, 24*hour, nil),
				act: changes(2*minute, "new", "a1"), sees: func(p *play) (sight, bool) {
					return unseen, p.at > 6*minute
				},
			},
			longest: map[string]time.Duration{"a1": 6 * minute}, history: "- a1 -",
		},
		"the controller goes in the middle of a trial": {
			play: play{
				hosts: hostsOf("a1", "b1"), lasts: hour, stops: outage(minute, 24*hour, nil),
				act: changes(2*minute, "new", "a1"), sees: func(p *play) (sight, bool) {
					return deserted, p.at > 6*minute
				},
			},
			longest: map[string]time.Duration{"a1": 3 * minute}, history: "- a1 -",
		},
		"the controller is away": {
			play:    play{hosts: hostsOf("a1", "b1"), lasts: 24 * hour, stops: badDigests, act: changes(minute, "bad", "a1"), sees: func(p *play) (sight, bool) { return deserted, p.at > minute }},
			history: "-",
		},
		"the clock was ten hours ahead when it stopped": {
			play:    play{hosts: hostsOf("a1", "b1"), lasts: 10 * minute, stops: badDigests, ahead: 10 * hour, act: acts(changes(minute, "bad", "a1"), once(2*minute, func(p *play) { p.ahead = 0 }))},
			history: "- a1", longest: map[string]time.Duration{"a1": hour},
		},
		"the clock was ten hours ahead when somebody was blamed": {
			play: play{
				hosts: hostsOf("a1", "b1"), lasts: hour, stops: outage(minute, 5*minute, nil),
				ahead: 10 * hour, act: acts(
					changes(2*minute, "new", "a1"), once(6*minute, func(p *play) { p.ahead = 0 })),
			},
			history: "- a1 -", longest: map[string]time.Duration{"a1": 15 * minute}, share: 0.8, events: "a1",
		},
	}
}

func TestTheSearch(t *testing.T) {
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			s.run(t)
			t.Logf("follows %.1f %%, closed %v: %s", 100*s.play.share(), s.play.longest,
				strings.Join(s.play.history, " "))
			if got := strings.Join(s.play.history, " "); s.history != "" && got != s.history {
				t.Errorf("closed were %s, want %s", got, s.history)
			}
			for claim, longest := range s.play.longest {
				if longest > s.longest[claim] {
					t.Errorf("%s was closed for %s, in %s", claim, longest, strings.Join(s.play.history, " "))
				}
			}
			if s.play.share() < s.share {
				t.Errorf("it followed in %.1f %% of the time, in %s", 100*s.play.share(),
					strings.Join(s.play.history, " "))
			}
			slices.Sort(s.play.events)
			if got := strings.Join(slices.Compact(s.play.events), " "); s.events != "" && got != s.events {
				t.Errorf("innocent were %s, want %s", got, s.events)
			}
		})
	}
}

// The status of an earlier version is continued: its suspect is on trial, and the hostnames it blamed are opened after
// a time.
func TestAnEarlierVersionIsUnderstood(t *testing.T) {
	routes := func(claim string) v1alpha1.HostnameRoutes {
		return v1alpha1.HostnameRoutes{Claim: claim, Digest: "good"}
	}
	f := &v1alpha1.PoolFollowing{
		LostSince: new(metav1.NewTime(midnight.Add(-time.Hour))), Suspect: &v1alpha1.SuspectHostname{
			HostnameRoutes: routes("a1"),
		}, Blamed: []v1alpha1.HostnameRoutes{routes("b1"), routes("gone")},
		Cleared: []v1alpha1.HostnameRoutes{routes("c1")},
	}
	s := newSearch(f, midnight, 3*time.Minute, hostsOf("a1", "b1", "c1"))
	s.begin()
	if !s.isSuspect("a1") || !s.isBlamed("b1") || s.closes("c1") {
		t.Errorf("a1 suspect: %v, b1 blamed: %v, c1 closed: %v; want the first two",
			s.isSuspect("a1"), s.isBlamed("b1"), s.closes("c1"))
	}
	if f.Suspect != nil || len(f.Blamed) != 1 || len(f.Namespaces) != 1 {
		t.Errorf("Suspect = %v, Blamed = %v, Namespaces = %v; want none, one, one", f.Suspect, f.Blamed, f.Namespaces)
	}
	s.end(follows)
	s = newSearch(f, midnight.Add(11*time.Minute), 3*time.Minute, hostsOf("a1", "b1", "c1"))
	if s.begin(); !s.isBlamed("a1") && !s.isBlamed("b1") || s.Probe == nil {
		t.Errorf("%+v", f)
	}
}

// Namespaces come and go: blamed ones are remembered for a day, up to a limit.
func TestThereIsAnEndToNamespacesThatAreRemembered(t *testing.T) {
	f := &v1alpha1.PoolFollowing{}
	for i := range 100 {
		f.Namespaces = append(f.Namespaces, v1alpha1.BlamedNamespace{
			Namespace: fmt.Sprint("team-", i), Times: 1,
			Last: metav1.NewTime(midnight.Add(-time.Duration(i) * time.Minute)),
		})
	}
	newSearch(f, midnight, 3*time.Minute, nil)
	if len(f.Namespaces) != mostRecords-1 || f.Namespaces[0].Namespace != "team-0" {
		t.Errorf("%d: %+v", len(f.Namespaces), f.Namespaces[0])
	}
	if newSearch(f, midnight.Add(25*time.Hour), 3*time.Minute, nil); len(f.Namespaces) != 0 {
		t.Errorf("%+v", f.Namespaces)
	}
}
