package rights

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth"
)

const (
	// accessTTL is how long a decision is cached: a lost or gained right can go unnoticed for that long.
	accessTTL = 10 * time.Second
	// wideTTL is how long the denial of a cluster-wide right is cached. It is longer because each page checks several
	// such rights and few users have any.
	wideTTL = 30 * time.Second
	// emptyTTL is how long pages still show the empty list of a kind to a caller who lost the right to list it.
	emptyTTL = time.Minute
	// offerTTL is how long a right to change objects is cached while no RoleBinding or ClusterRoleBinding changes.
	// Pages can offer the action for that long after the right is lost; the API server still refuses it.
	offerTTL = 2 * time.Minute
	// settling is how long after a change of a binding the API server can still decide by the earlier one.
	settling = 2 * time.Second
	// accessEntries bounds the cached decisions: 500 users × 200 namespaces are 100,000 entries of about 150 bytes.
	accessEntries = 100_000
)

// refusalTTL returns how long a denial is cached, and so how long a gained right can go unnoticed.
func refusalTTL(act Right) time.Duration {
	if act.Namespace == "" && act.Object == "" {
		return wideTTL
	}
	return accessTTL
}

// Question is a digest of a caller and a right, so that cache keys have a fixed size.
type Question [sha256.Size]byte

// QuestionOf returns the digest of id and act. Each part is preceded by its length, so that different questions never
// have the same encoding.
func QuestionOf(id auth.Identity, act Right) Question {
	h := sha256.New()
	parts := []string{act.Verb, act.Group, act.Resource, act.Sub, act.Namespace, act.Object, id.Username}
	for _, part := range append(parts, slices.Sorted(slices.Values(reviewGroups(id)))...) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(part)))) // hashes never fail
		_, _ = h.Write([]byte(part))
	}
	return Question(h.Sum(nil))
}

// changing are the verbs that change objects. The portal sends such requests as the caller.
var changing = sets.New("create", "update", "patch", "delete")

// grantTTL returns how long a grant is cached, and so how long a lost right can go unnoticed.
func grantTTL(act Right) time.Duration {
	if act.kind != "" && changing.Has(act.Verb) {
		return offerTTL
	}
	return accessTTL
}

// accessCache caches decisions for offerTTL at most, in two generations: when the young one is old or full, it becomes
// the old one, and the previous old one is dropped. It never holds more than limit decisions.
type accessCache struct {
	clock clock.PassiveClock
	limit int

	mu         sync.Mutex
	young, old map[Question]verdict
	born       time.Time // of the young generation
	// changed is when a binding last changed, by namespace, "" for ClusterRoleBindings. Decisions requested until
	// settling after that do not get offerTTL.
	changed map[string]time.Time
}

// decision is whether a caller has a right.
type decision struct {
	ok      bool
	auditID string // of the access review that denied it, as in the API server's audit log
}

type verdict struct {
	decision
	asked, until time.Time
}

// isOffer reports whether the decision is cached for offerTTL, which a change of a binding shortens.
func (v verdict) isOffer() bool { return v.ok && v.until.Sub(v.asked) == offerTTL }

func newAccessCache(limit int, c clock.PassiveClock) *accessCache {
	return &accessCache{
		clock: c, limit: limit, young: map[Question]verdict{}, born: c.Now(),
		changed: map[string]time.Time{},
	}
}

// get returns the cached decision about a right in the namespace, "" for all of them.
func (a *accessCache) get(q Question, namespace string) (is decision, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	v, known := a.find(q)
	now := a.clock.Now()
	if known && v.isOffer() && (a.changedSince(v.asked, namespace) || a.changedSince(v.asked, "")) {
		v.until = v.asked.Add(accessTTL)
	}
	return v.decision, known && now.Before(v.until)
}

// changedSince reports whether the decision requested at asked may be older than the last change of a binding.
func (a *accessCache) changedSince(asked time.Time, namespace string) bool {
	at, changed := a.changed[namespace]
	return changed && !asked.After(at.Add(settling))
}

// granted reports whether the right was granted within emptyTTL.
func (a *accessCache) granted(q Question) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	v, known := a.find(q)
	return known && v.ok && a.clock.Now().Before(v.until.Add(emptyTTL-accessTTL))
}

func (a *accessCache) find(q Question) (v verdict, known bool) {
	v, known = a.young[q]
	if !known {
		v, known = a.old[q]
	}
	return v, known
}

// noteChange shortens to accessTTL the decisions about the namespace, or with "" about all of them, that would last for
// offerTTL and were requested before now or within settling from now.
func (a *accessCache) noteChange(namespace string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed[namespace] = a.clock.Now()
}

// add caches the decision that was requested at asked, for ttl.
func (a *accessCache) add(q Question, is decision, asked time.Time, ttl time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.clock.Now()
	if now.Sub(a.born) >= offerTTL || len(a.young) >= a.limit/2 {
		a.young, a.old, a.born = map[Question]verdict{}, a.young, now
		maps.DeleteFunc(a.changed, func(_ string, at time.Time) bool { return now.Sub(at) > settling+offerTTL })
	}
	a.young[q] = verdict{decision: is, asked: asked, until: asked.Add(ttl)}
}

func (a *accessCache) remove(q Question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.young, q)
	delete(a.old, q)
}

// reviewGroups returns the groups that the API server would see, including those that authentication adds.
func reviewGroups(id auth.Identity) []string {
	groups := slices.Clone(id.Groups)
	if ns, _, ok := auth.ServiceAccountName(id.Username); id.ServiceAccount && ok {
		groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + ns}
	}
	return append(groups, "system:authenticated")
}
