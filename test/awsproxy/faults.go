package awsproxy

import (
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"time"
)

// FaultKind is the effect of a fault on the calls it matches.
type FaultKind string

// The kinds of fault. Their error codes are those of the service called.
const (
	Throttle    FaultKind = "throttle"     // refused for exceeding the rate; nothing done
	ServerError FaultKind = "server-error" // 500; nothing done
	Denied      FaultKind = "denied"       // refused by IAM; nothing done
	// LostReply lets AWS commit, then cuts the connection. Note that net/http's transport replays a GET by itself on
	// a reused connection.
	LostReply FaultKind = "lost-reply"
	Hang      FaultKind = "hang"    // nothing done, no response until the client gives up
	Latency   FaultKind = "latency" // adds Delay; other faults still apply
	// PartialPage leaves the last item out of a listing's page. The page's token stays. A response that is not a
	// listing, or is an empty one, is unchanged.
	PartialPage FaultKind = "partial-page"
)

// Fault is what Inject injects into the operator's calls. Empty fields match any call.
type Fault struct {
	Service string
	// Operation may be a pattern of path.Match, such as "Describe*".
	Operation  string
	Resource   string
	Account    string
	OnlyWrites bool
	// OnlyContinued matches the second and further pages of listings only.
	OnlyContinued bool
	// Match, if set, must match too.
	Match func(Call) bool

	Kind FaultKind
	// Delay is for Latency.
	Delay time.Duration
	// Times is how often the fault occurs before it is removed; 0 means no limit.
	Times int
	// Probability is how likely the fault is on a matching call; 0 means always.
	Probability float64
}

func (f Fault) matches(c Call) bool {
	if f.Operation != "" {
		if ok, err := path.Match(f.Operation, c.Operation); err != nil || !ok {
			return false
		}
	}
	return (f.Service == "" || f.Service == c.Service) &&
		(f.Resource == "" || c.Names(f.Resource)) &&
		(f.Account == "" || f.Account == c.Account) &&
		(!f.OnlyWrites || c.Write) &&
		(!f.OnlyContinued || c.Continued) &&
		(f.Match == nil || f.Match(c))
}

type activeFault struct {
	Fault
	left int // meaningful if Times > 0
}

// faults holds the injected faults in the order of injection.
type faults struct {
	mu     sync.Mutex
	active []*activeFault
	random *rand.Rand
}

func (fs *faults) inject(f Fault) (remove func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	a := &activeFault{Fault: f, left: f.Times}
	fs.active = append(fs.active, a)
	return func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.active = slices.DeleteFunc(fs.active, func(b *activeFault) bool { return a == b })
	}
}

// pick returns the fault of the call: the first other fault that fires, and the sum of the delays of the Latency
// faults before it.
func (fs *faults) pick(c Call) (kind FaultKind, delay time.Duration) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, a := range slices.Clone(fs.active) {
		if !a.matches(c) || !fs.fires(a) {
			continue
		}
		if a.Kind != Latency {
			return a.Kind, delay
		}
		delay += a.Delay
	}
	return "", delay
}

// fires decides by the probability, counts, and removes a fault that is used up.
func (fs *faults) fires(a *activeFault) bool {
	if a.Probability > 0 && fs.random.Float64() >= a.Probability {
		return false
	}
	if a.Times > 0 {
		if a.left--; a.left == 0 {
			fs.active = slices.DeleteFunc(fs.active, func(b *activeFault) bool { return a == b })
		}
	}
	return true
}
