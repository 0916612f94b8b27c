package webapp

import (
	"cmp"
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/podcause"
)

// failureWindow is for how long Pods that failed count: each is replaced at once, and the replacement may be available
// until it fails too.
const failureWindow = 10 * time.Minute

// clocksDiffer is by how much the clocks of nodes and of the API server may differ, for the order of a failure and the
// creation of the replacement.
const clocksDiffer = 2 * time.Second

// mostLookups bounds the Pods whose events a pass reads.
const mostLookups = 3

// failureProblem returns why Pods of a version failed lately, from the last one. One that failed is replaced; once the
// replacement exists, it is what counts. If that fails as well, somebody must act, also while another replacement is
// available; then no Pod is named, because each is another one. Pods that failed at the same time, as on one node, are
// no such sequence.
func (r *reconciliation) failureProblem(ctx context.Context, pods []*corev1.Pod, replaced bool) problem {
	var found problem
	var last podcause.Cause // that somebody may have to act on
	var created time.Time   // of the newest Pod with such a cause
	now, left := r.Now(), mostLookups
	for _, pod := range pods {
		known, again := r.resolve(ctx, pod, &left)
		found = worse(found, problem{until: again})
		c := podcause.Of(known, now, nil)
		end := podcause.FailedAt(pod, now).Add(failureWindow)
		if c.Kind != "" && !found.known {
			found = worse(found, problem{
				known: true, reason: reasonOf(c), text: describeFailure(known, c), starting: replaced, until: end,
			})
		}
		if c.Kind == "" || c.Kind == podcause.Shutdown { // the next Pod gets another node
			continue
		}
		if last.Kind != "" && !created.Add(clocksDiffer).Before(podcause.FailedAt(pod, now)) {
			return problem{
				known: true, reason: reasonOf(last), stalled: true, text: describeFailures(last), until: end,
			}
		}
		last = firstOf(last, c)
		if at := pod.CreationTimestamp.Time; at.After(created) {
			created = at
		}
	}
	return found
}

func firstOf(first, c podcause.Cause) podcause.Cause {
	if first.Kind != "" {
		return first
	}
	return c
}

// resolve returns a Pod that is over with the status of an evicted one, if an event says that it was; and if that is
// not known yet, when another pass may know it.
func (r *reconciliation) resolve(ctx context.Context, pod *corev1.Pod, left *int) (known *corev1.Pod, again time.Time) {
	if r.Kills.unsure(pod) && *left > 0 {
		*left--
		r.Kills.lookUp(ctx, pod, r.Now())
	}
	if r.Kills.unsure(pod) {
		again = r.Kills.again(podcause.FailedAt(pod, r.Now()), r.Now())
	}
	return r.Kills.evicted(pod), again
}

// failuresOf returns the Pods of a version that were over within failureWindow, the last one first.
func (s runtimeState) failuresOf(set *appsv1.ReplicaSet, now time.Time) []*corev1.Pod {
	var all []*corev1.Pod
	for i := range s.pods {
		pod := &s.pods[i]
		if podcause.Over(pod) && pod.DeletionTimestamp == nil && metav1.IsControlledBy(pod, set) &&
			now.Before(podcause.FailedAt(pod, now).Add(failureWindow)) {
			all = append(all, pod)
		}
	}
	slices.SortFunc(all, func(a, b *corev1.Pod) int {
		return cmp.Or(podcause.FailedAt(b, now).Compare(podcause.FailedAt(a, now)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// describeFailures says why one Pod after the other fails.
func describeFailures(c podcause.Cause) string {
	if c.Kind == podcause.Evicted {
		return "its Pods are evicted again and again" + after(c.Detail)
	}
	if c.Kind == podcause.Rejected {
		return "nodes reject its Pods again and again" + after(cmp.Or(c.Detail, c.Reason))
	}
	return "its Pods fail again and again" + after(cmp.Or(c.Detail, c.Reason))
}
