//go:build integration

package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/tiers"
)

// F8: a resource that is deleted outside Portico is noticed by a sweep. A resource without data is created again; one
// with data waits for the owner's annotation, whose number is used once.
func TestDeletedOutsideIsNoticedByASweep(t *testing.T) {
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{sweep: 200 * time.Millisecond})
		l := s.born(t, c, team(t, c), "lost", true)
		ready(t, c, l.Object)
		l.settled()
		m := world.Proxy.Mark()
		if err := s.destroy(t, l.Object); err != nil {
			t.Fatal(err)
		}
		if s.stateful {
			reason(t, c, l.Object, "ExternallyDeleted")
			if n := s.writes(m); len(n) != 0 {
				t.Errorf("without the owner's word: %v", n)
			}
			edit(t, c, l.Object, func(o external.Object) {
				o.SetAnnotations(map[string]string{v1alpha1.AnnotationAcknowledgeRecreate: "1"})
			})
		} else {
			awaitEvent(t, c, l.Object, "Recreated", "deleted outside")
		}
		await(t, "the new resource", func() (bool, string) {
			n := len(s.owned(t, string(l.GetUID())))
			return n == 1 && l.isReady(), fmt.Sprint(n)
		})
		l.assertWhole("recreated")
		gone(t, c, l.Object)
	})
}

// F8: a setting that is changed outside Portico is repaired by an audit.
func TestEditedOutsideIsRepairedByAnAudit(t *testing.T) {
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{resync: 300 * time.Millisecond})
		l := s.born(t, c, team(t, c), "spoilt", true)
		ready(t, c, l.Object)
		l.settled()
		if err := s.spoil(t, l.Object); err != nil {
			t.Fatal(err)
		}
		await(t, "the repair", func() (bool, string) { return s.holds(t, l.Object), "spoilt" })
		awaitEvent(t, c, l.Object, "Repaired", "outside Portico")
		gone(t, c, l.Object)
	})
}

// F6: the second page of a listing fails, or a page misses an item. Nothing is created, changed or deleted; at most the
// object is read on its own.
func TestAnIncompleteListingProvesNothing(t *testing.T) {
	tiers.Long(t)
	each(t, func(t *testing.T, s specimen) {
		c := admin(t)
		startOperator(t, operatorOptions{sweep: 400 * time.Millisecond})
		ns := team(t, c)
		var lives []life
		for i := range max(3, s.page+1) { // two pages
			lives = append(lives, s.born(t, c, ns, fmt.Sprintf("listed-%d", i), false))
		}
		for _, l := range lives {
			ready(t, c, l.Object)
		}
		lives[0].settled()
		world.Proxy.SetPageSize(s.page)
		defer world.Proxy.SetPageSize(0)
		s.listed(t, lives, "the second page fails", awsproxy.Fault{Kind: awsproxy.ServerError, OnlyContinued: true})
		s.listed(t, lives, "the second page is denied", awsproxy.Fault{Kind: awsproxy.Denied, OnlyContinued: true})
		// last, because it triggers objects
		s.listed(t, lives, "pages miss an item", awsproxy.Fault{Kind: awsproxy.PartialPage})
	})
}

// listed makes listings fail according to rule, and checks that this has no consequences.
func (s specimen) listed(t *testing.T, lives []life, fault string, rule awsproxy.Fault) {
	t.Helper()
	rule.Service, rule.Operation = s.service, s.list
	rule.Match = func(call awsproxy.Call) bool { return call.Resource == "" } // not reads of single resources
	defer world.Proxy.Inject(rule)()
	m := world.Proxy.Mark()
	await(t, "faulty listings: "+fault, func() (bool, string) {
		n := len(s.calls(m, func(call awsproxy.Call) bool { return call.Operation == s.list && call.Fault != "" }))
		return n >= 5, fmt.Sprint(n)
	})
	if n := s.writes(m); len(n) != 0 {
		t.Errorf("%s: wrote %v", fault, n)
	}
	for _, l := range lives {
		if !l.isReady() {
			t.Errorf("%s: %s is not Ready any more", fault, l.GetName())
		}
		if got := s.owned(t, string(l.GetUID())); len(got) != 1 {
			t.Errorf("%s: %s owns %v", fault, l.GetName(), got)
		}
	}
	if rule.OnlyContinued && slices.Contains(s.calls(m), s.rest[0]) && s.rest[0] != s.list {
		t.Errorf("%s: a listing that failed woke objects", fault)
	}
}
