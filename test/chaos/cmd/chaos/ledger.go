package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// ledger knows what may be left of objects that are gone.
type ledger struct {
	mu    sync.Mutex
	marks map[string]map[string]bool // by UID: the deletion policies that counted when it was deleted
	freed map[string]bool            // resources that were orphaned, or are offered: they need no marks
}

func newLedger() *ledger {
	return &ledger{marks: map[string]map[string]bool{}, freed: map[string]bool{}}
}

// deleting notes under which policy an object is deleted, by somebody's act now, or by one before.
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

// free notes a resource that needs no marks.
func (l *ledger) free(r resource) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.freed[r.String()] = true
}

// leaves reports whether something with the marks of an object that is gone may be there.
func (l *ledger) leaves(uid string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range []v1alpha1.DeletionPolicy{v1alpha1.DeletionRetain, v1alpha1.DeletionStop, v1alpha1.DeletionOrphan} {
		if l.marks[uid][string(p)] {
			return true
		}
	}
	return false
}

// isFree reports whether a resource needs no marks.
func (l *ledger) isFree(r resource) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.freed[r.String()]
}

// counts are how often what was done, by sort and outcome.
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

// line lists a group, sorted, after their sum.
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
