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

// mostLookups bounds the Pods whose events a pass reads.
const mostLookups = 3

// failureProblem returns why Pods of a version failed lately. One that failed is replaced. Several need somebody, also
// while their replacements are available; then no Pod is named, because each is another one.
func (r *reconciliation) failureProblem(ctx context.Context, pods []*corev1.Pod) problem {
	now := r.Now()
	left := mostLookups
	for i := range pods {
		if left > 0 && r.Kills.unsure(pods[i]) {
			left--
			r.Kills.lookUp(ctx, pods[i], now)
		}
		pods[i] = r.Kills.evicted(pods[i])
	}
	pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodSucceeded })
	if len(pods) == 0 {
		return problem{}
	}
	c := podcause.Of(pods[0], now, nil)
	lasting := slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool {
		return podcause.Of(pod, now, nil).Kind == podcause.Shutdown // the next Pod gets another node
	})
	if len(lasting) < 2 {
		return problem{
			reason: reasonOf(c), text: describeFailure(pods[0], c),
			until: podcause.FailedAt(pods[0]).Add(failureWindow),
		}
	}
	c = podcause.Of(lasting[0], now, nil)
	return problem{
		reason: reasonOf(c), stalled: true, text: describeFailures(c),
		until: podcause.FailedAt(lasting[1]).Add(failureWindow),
	}
}

// failuresOf returns the Pods of a version that were over within failureWindow, the last one first.
func (s runtimeState) failuresOf(set *appsv1.ReplicaSet, now time.Time) []*corev1.Pod {
	var all []*corev1.Pod
	for i := range s.pods {
		pod := &s.pods[i]
		if podcause.Over(pod) && pod.DeletionTimestamp == nil && metav1.IsControlledBy(pod, set) &&
			now.Before(podcause.FailedAt(pod).Add(failureWindow)) {
			all = append(all, pod)
		}
	}
	slices.SortFunc(all, func(a, b *corev1.Pod) int {
		return cmp.Or(podcause.FailedAt(b).Compare(podcause.FailedAt(a)), cmp.Compare(a.Name, b.Name))
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
