package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// ledger records which resources deleted objects may leave in AWS.
type ledger struct {
	mu    sync.Mutex
	marks map[string]map[string]bool // by UID: the deletion policies that could apply when the object was deleted
	freed map[string]bool            // resources that were orphaned or offered: they need no ownership tag
}

func newLedger() *ledger {
	return &ledger{marks: map[string]map[string]bool{}, freed: map[string]bool{}}
}

// deleting records the policy of a deletion: now resets the policies of an earlier deletion, otherwise it adds one.
func (l *ledger) deleting(k kind, o *unstructured.Unstructured, now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	uid, policy := string(o.GetUID()), field(o, "spec", "deletionPolicy")
	if l.marks[uid] == nil || now {
		l.marks[uid] = map[string]bool{}
	}
	l.marks[uid][policy] = true
	if id := field(o, "status", k.id); id != "" && policy == string(v1alpha1.DeletionOrphan) {
		l.freed[resource{kind: k.name, id: id}.String()] = true
	}
}

// free records a resource that needs no ownership tag.
func (l *ledger) free(r resource) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.freed[r.String()] = true
}

// leaves reports whether the deleted object with this UID may have left a resource that has its tag.
func (l *ledger) leaves(uid string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range []v1alpha1.DeletionPolicy{
		v1alpha1.DeletionRetain, v1alpha1.DeletionStop, v1alpha1.DeletionOrphan,
	} {
		if l.marks[uid][string(p)] {
			return true
		}
	}
	return false
}

// isFree reports whether a resource needs no ownership tag.
func (l *ledger) isFree(r resource) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.freed[r.String()]
}

// counts count events by group and outcome.
type counts struct {
	mu  sync.Mutex
	all map[string]map[string]int
}

func newCounts() *counts { return &counts{all: map[string]map[string]int{}} }

func (c *counts) add(group, what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[group] == nil {
		c.all[group] = map[string]int{}
	}
	c.all[group][what]++
}

// line formats a group's total, followed by its counts sorted by name.
func (c *counts) line(group string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, parts := 0, []string(nil)
	for _, what := range slices.Sorted(maps.Keys(c.all[group])) {
		sum += c.all[group][what]
		parts = append(parts, fmt.Sprintf("%s %d", what, c.all[group][what]))
	}
	return fmt.Sprintf("%d: %s", sum, strings.Join(parts, ", "))
}
