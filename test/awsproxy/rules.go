package awsproxy

import (
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"time"
)

// Kind is what a rule does to the calls it matches.
type Kind string

// The kinds of fault. Their error codes are those of the service called.
const (
	Throttle    Kind = "throttle"     // refused for the rate; nothing done
	ServerError Kind = "server-error" // 500; nothing done
	Denied      Kind = "denied"       // refused by IAM; nothing done
	// LostReply: AWS commits, then the connection is cut. Note that
	// net/http's transport replays a GET by itself on a reused connection.
	LostReply Kind = "lost-reply"
	Hang      Kind = "hang"    // nothing done, no answer until the client gives up
	Latency   Kind = "latency" // Delay more; other rules still apply
	// PartialPage leaves the last item out of a listing's page. The page's
	// token stays. A response that is no listing, or an empty one, is untouched.
	PartialPage Kind = "partial-page"
)

// Rule is a fault to inject into the operator's calls. Empty fields match any call.
type Rule struct {
	Service string
	// Operation may be a pattern of path.Match, such as "Describe*".
	Operation  string
	Resource   string
	Account    string
	OnlyWrites bool
	// OnlyContinued matches the second and further pages of listings only.
	OnlyContinued bool
	// Match, if set, must agree too.
	Match func(Call) bool

	Kind Kind
	// Delay is for Latency.
	Delay time.Duration
	// Times the rule fires before it is spent; 0 means until removed.
	Times int
	// Probability with which it fires on a matching call; 0 means always.
	Probability float64
}

func (r Rule) matches(c Call) bool {
	if r.Operation != "" {
		if ok, err := path.Match(r.Operation, c.Operation); err != nil || !ok {
			return false
		}
	}
	return (r.Service == "" || r.Service == c.Service) &&
		(r.Resource == "" || c.Names(r.Resource)) &&
		(r.Account == "" || r.Account == c.Account) &&
		(!r.OnlyWrites || c.Write) &&
		(!r.OnlyContinued || c.Continued) &&
		(r.Match == nil || r.Match(c))
}

type activeRule struct {
	Rule
	left int // meaningful if Times > 0
}

// rules keeps the injected rules in the order of injection.
type rules struct {
	mu     sync.Mutex
	active []*activeRule
	random *rand.Rand
}

func (rs *rules) inject(r Rule) (remove func()) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	a := &activeRule{Rule: r, left: r.Times}
	rs.active = append(rs.active, a)
	return func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		rs.active = slices.DeleteFunc(rs.active, func(b *activeRule) bool { return a == b })
	}
}

// pick returns what befalls the call: the first other rule that fires, and the
// sum of the delays of the Latency rules before it.
func (rs *rules) pick(c Call) (kind Kind, delay time.Duration) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, a := range slices.Clone(rs.active) {
		if !a.matches(c) || !rs.fires(a) {
			continue
		}
		if a.Kind != Latency {
			return a.Kind, delay
		}
		delay += a.Delay
	}
	return "", delay
}

// fires draws the lot and counts; a spent rule is dropped.
func (rs *rules) fires(a *activeRule) bool {
	if a.Probability > 0 && rs.random.Float64() >= a.Probability {
		return false
	}
	if a.Times > 0 {
		if a.left--; a.left == 0 {
			rs.active = slices.DeleteFunc(rs.active, func(b *activeRule) bool { return a == b })
		}
	}
	return true
}
