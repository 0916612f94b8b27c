package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
)

const (
	// accessTTL is how long a lost or gained right may take to be noticed.
	accessTTL = 10 * time.Second
	// wideTTL is how long a right in the whole cluster may take to be noticed by whoever gained it: each page asks for
	// several of them, and nearly everybody has none.
	wideTTL = 30 * time.Second
	// emptyTTL is how long a caller who lost the right to list a kind may go on seeing its
	// list on pages, as long as the namespace has no objects of the kind.
	emptyTTL = time.Minute
	// offerTTL is how long a right to change objects that was taken away may still be offered, where no RoleBinding or
	// ClusterRoleBinding changed: the API server decides it itself.
	offerTTL = 2 * time.Minute
	// settling is how long after a change of a RoleBinding the API server may still answer by the one before.
	settling = 2 * time.Second
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

// questionOf returns the digest of whether id may do act. Each part goes in with its length: no two questions are
// spelled alike.
func questionOf(id auth.Identity, act Right) question {
	h := sha256.New()
	parts := []string{act.verb, act.group, act.resource, act.sub, act.namespace, act.object, id.Username}
	for _, part := range append(parts, slices.Sorted(slices.Values(reviewGroups(id)))...) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(part)))) // hashes never fail
		_, _ = h.Write([]byte(part))
	}
	return question(h.Sum(nil))
}

// changing are the verbs that change objects. The portal sends such requests in the caller's name.
var changing = sets.New("create", "update", "patch", "delete")

// grantTTL returns how long a right may take to be noticed by whoever lost it.
func grantTTL(act Right) time.Duration {
	if act.group == v1alpha1.GroupVersion.Group && act.ofKind && changing.Has(act.verb) {
		return offerTTL
	}
	return accessTTL
}

// accessCache remembers answers for offerTTL at most, in two generations: when the young one is old or full, the old
// one goes with all that has expired. There are never more than limit.
type accessCache struct {
	clock clock.PassiveClock
	limit int

	mu         sync.Mutex
	young, old map[question]verdict
	born       time.Time // of the young generation
	// changed says by namespace, "" for the whole cluster, when a binding changed. What was asked for until settling
	// after that is no offer any more.
	changed map[string]time.Time
}

// decision is whether somebody may do something.
type decision struct {
	ok      bool
	auditID string // of the access review that refused it, as the API server's audit log has it
}

type verdict struct {
	decision
	asked, until time.Time
}

// isOffer reports whether the answer holds longer than others, as long as no binding changes.
func (v verdict) isOffer() bool { return v.ok && v.until.Sub(v.asked) == offerTTL }

func newAccessCache(limit int, c clock.PassiveClock) *accessCache {
	return &accessCache{clock: c, limit: limit, young: map[question]verdict{}, born: c.Now(), changed: map[string]time.Time{}}
}

// get returns the answer about a right in the namespace, "" for all of them.
func (a *accessCache) get(q question, namespace string) (is decision, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v, known := a.find(q)
	now := a.clock.Now()
	if known && v.isOffer() && (a.changedSince(v.asked, namespace) || a.changedSince(v.asked, "")) {
		v.until = v.asked.Add(accessTTL)
	}
	return v.decision, known && now.Before(v.until)
}

// changedSince reports whether a binding changed so late that the answer to what was asked then may be one of before.
func (a *accessCache) changedSince(asked time.Time, namespace string) bool {
	at, changed := a.changed[namespace]
	return changed && !asked.After(at.Add(settling))
}

// granted reports whether the answer was yes within emptyTTL.
func (a *accessCache) granted(q question) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	v, known := a.find(q)
	return known && v.ok && a.clock.Now().Before(v.until.Add(emptyTTL-accessTTL))
}

func (a *accessCache) find(q question) (v verdict, known bool) {
	v, known = a.young[q]
	if !known {
		v, known = a.old[q]
	}
	return v, known
}

// noteChange has offers in the namespace, or in all of them, last no longer than other answers, and so those of the
// next moments.
func (a *accessCache) noteChange(namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed[namespace] = a.clock.Now()
}

// add remembers the answer to what was asked then, for so long.
func (a *accessCache) add(q question, is decision, asked time.Time, ttl time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now()
	if now.Sub(a.born) >= offerTTL || len(a.young) >= a.limit/2 {
		a.young, a.old, a.born = map[question]verdict{}, a.young, now
		maps.DeleteFunc(a.changed, func(_ string, at time.Time) bool { return now.Sub(at) > settling+offerTTL })
	}
	a.young[q] = verdict{decision: is, asked: asked, until: asked.Add(ttl)}
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
