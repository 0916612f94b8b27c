package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth"
)

const (
	// accessTTL is how long a lost or gained right may take to be noticed.
	accessTTL = 10 * time.Second
	// wideTTL is how long a right in the whole cluster may take to be noticed by whoever gained it: each page asks for
	// several of them, and nearly everybody has none.
	wideTTL = 30 * time.Second
	// accessEntries bounds the answers kept: 500 users × 200 namespaces would be 100,000 of about 150 bytes.
	accessEntries = 100_000
)

// refusalTTL returns how long a right may take to be noticed by whoever gained it.
func refusalTTL(act Right) time.Duration {
	if act.namespace == "" && act.object == "" {
		return wideTTL
	}
	return accessTTL
}

// question is a digest of who wants to do what, so that answers take little room whatever was asked.
type question [sha256.Size]byte

// questionOf returns the digest of whether id may do act. Each part goes in with its length: no two questions are spelled alike.
func questionOf(id auth.Identity, act Right) question {
	h := sha256.New()
	parts := []string{act.verb, act.group, act.resource, act.sub, act.namespace, act.object, id.Username}
	for _, part := range append(parts, slices.Sorted(slices.Values(reviewGroups(id)))...) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(part)))) // hashes never fail
		_, _ = h.Write([]byte(part))
	}
	return question(h.Sum(nil))
}

// accessCache remembers answers for wideTTL at most, in two generations: when the young one is old or full, the old one goes
// with all that has expired. There are never more than limit.
type accessCache struct {
	clock clock.PassiveClock
	limit int

	mu         sync.Mutex
	young, old map[question]verdict
	born       time.Time // of the young generation
}

// decision is whether somebody may do something.
type decision struct {
	ok      bool
	auditID string // of the access review that refused it, as the API server's audit log has it
}

type verdict struct {
	decision
	until time.Time
}

func newAccessCache(limit int, c clock.PassiveClock) *accessCache {
	return &accessCache{clock: c, limit: limit, young: map[question]verdict{}, born: c.Now()}
}

func (a *accessCache) get(q question) (is decision, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v, known := a.young[q]
	if !known {
		v, known = a.old[q]
	}
	return v.decision, known && a.clock.Now().Before(v.until)
}

// add remembers an answer for so long.
func (a *accessCache) add(q question, is decision, ttl time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now()
	if now.Sub(a.born) >= wideTTL || len(a.young) >= a.limit/2 {
		a.young, a.old, a.born = map[question]verdict{}, a.young, now
	}
	a.young[q] = verdict{decision: is, until: now.Add(ttl)}
}

func (a *accessCache) remove(q question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.young, q)
	delete(a.old, q)
}

// reviewGroups returns the groups that the API server would see: what authentication adds included.
func reviewGroups(id auth.Identity) []string {
	groups := slices.Clone(id.Groups)
	if ns, _, ok := auth.ServiceAccountName(id.Username); id.ServiceAccount && ok {
		groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + ns}
	}
	return append(groups, "system:authenticated")
}
