package awsproxy

import (
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"time"
)

// FaultKind is what a fault does to the calls it matches.
type FaultKind string

// The kinds of fault. Their error codes are those of the service called.
const (
	Throttle    FaultKind = "throttle"     // refused for the rate; nothing done
	ServerError FaultKind = "server-error" // 500; nothing done
	Denied      FaultKind = "denied"       // refused by IAM; nothing done
	// LostReply: AWS commits, then the connection is cut. Note that
	// net/http's transport replays a GET by itself on a reused connection.
	LostReply FaultKind = "lost-reply"
	Hang      FaultKind = "hang"    // nothing done, no answer until the client gives up
	Latency   FaultKind = "latency" // Delay more; other faults still apply
	// PartialPage leaves the last item out of a listing's page. The page's
	// token stays. A response that is no listing, or an empty one, is untouched.
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
	// Match, if set, must agree too.
	Match func(Call) bool

	Kind FaultKind
	// Delay is for Latency.
	Delay time.Duration
	// Times the fault occurs before it is spent; 0 means until removed.
	Times int
	// Probability with which it fires on a matching call; 0 means always.
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

// faults keeps what is injected in the order of injection.
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

// pick returns what befalls the call: the first other fault that fires, and the
// sum of the delays of the Latency faults before it.
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

// fires draws the lot and counts; a spent fault is dropped.
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
