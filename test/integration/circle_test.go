//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// deadLetters returns a queue whose undeliverable messages go to another queue of its namespace.
func deadLetters(ns, name, to string) *v1alpha1.SQSQueue {
	q := queueOf(ns, name)
	q.Spec.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{TargetRef: &v1alpha1.LocalRef{Name: to}, MaxReceiveCount: 3}
	return q
}

// Queues that wait for each other report it, and can be deleted individually, without waiting forever.
func TestQueuesInACircleAreToldAndCanBeDeleted(t *testing.T) {
	c := withOperator(t)
	for _, size := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			ns := team(t, c)
			var all []*v1alpha1.SQSQueue
			for n := range size {
				q := deadLetters(ns, fmt.Sprint("q", n), fmt.Sprint("q", (n+1)%size))
				create(t, c, q)
				all = append(all, q)
			}
			for _, q := range all {
				got := reason(t, c, q, v1alpha1.ReasonDeadLetterQueueMismatch)
				if size > 1 && !strings.Contains(got.Message, "in a circle: "+q.Name+" → ") {
					t.Errorf("%s: %s", q.Name, got.Message)
				}
			}
			for _, q := range all {
				await(t, "the deletion to be let through", func() (bool, string) {
					err := c.Delete(t.Context(), q)
					return client.IgnoreNotFound(err) == nil, fmt.Sprint(err)
				})
			}
			for _, q := range all {
				awaitGone(t, c, q)
			}
		})
	}
}

// When a cycle is broken, queues that are used by another are protected again, and what waited continues.
func TestACircleThatIsOpened(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	one, other := deadLetters(ns, "one", "other"), deadLetters(ns, "other", "one")
	create(t, c, one)
	create(t, c, other)
	reason(t, c, one, v1alpha1.ReasonDeadLetterQueueMismatch)
	reason(t, c, other, v1alpha1.ReasonDeadLetterQueueMismatch)
	awaitMark(t, c, one, 0)
	awaitMark(t, c, other, 0)
	edit(t, c, other, func(q *v1alpha1.SQSQueue) { q.Spec.DeadLetterQueue = nil })
	ready(t, c, other)
	wakeNow(t, c, one)
	ready(t, c, one)
	awaitMark(t, c, other, 1)
	if err := c.Delete(t.Context(), other); err == nil || !strings.Contains(err.Error(), "SQSQueue one") {
		t.Errorf("what is in use is deleted: %v", err)
	}
	gone(t, c, one)
	gone(t, c, other)
}

// Of all references of all kinds, only those of queues can form a cycle: another kind that can needs tests of its own
// here.
func TestOnlyQueuesCanNameEachOtherInACircle(t *testing.T) {
	names := map[string][]string{}
	for _, r := range references(t) {
		names[r.from] = append(names[r.from], r.to)
	}
	for kind := range names {
		led, open := map[string]bool{}, names[kind]
		for len(open) > 0 {
			next := open[0]
			if open = open[1:]; !led[next] {
				led[next] = true
				open = append(open, names[next]...)
			}
		}
		if led[kind] != (kind == v1alpha1.KindSQSQueue) {
			t.Errorf("a chain of references leads from %s back to %s: %v", kind, kind, led[kind])
		}
	}
}
