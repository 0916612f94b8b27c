package pods

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

// cached returns the Pod of the query, or nil if the cache does not have it. It is shared.
func (p *Pods) cached(ctx context.Context, q LogQuery) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := p.feed.Cache.Get(ctx, types.NamespacedName{Namespace: q.Namespace, Name: q.Pod}, pod)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // the API server answers for a Pod that is not cached
	case err != nil:
		return nil, &failure.UnavailableError{Doing: "reading the cache of pods", Cause: err}
	}
	return pod, nil
}

// unplaced returns a *failure.NoLogError for a Pod without a node. The API server's answer for it is an empty log.
func unplaced(pod *corev1.Pod) error {
	switch {
	case pod == nil || pod.Spec.NodeName != "":
		return nil
	case podcause.Over(pod):
		return lost(pod)
	}
	why := []string{"Pod " + pod.Name + " has no node yet"}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue {
			why = append(why, c.Message)
		}
	}
	return &failure.NoLogError{Why: said(why...)}
}

// withoutLog returns a *failure.NoLogError if err says that the container has no log, or else err: a kubelet refuses
// the logs of containers that have not started, and of Pods whose containers are removed, as after an eviction.
// Without a previous run, a Pod that has ended may have the log of its only run.
func withoutLog(pod *corev1.Pod, q LogQuery, err error) error {
	switch none := apierrors.IsBadRequest(err); {
	case none && q.Previous:
		return &failure.NoLogError{Why: err.Error(), Never: pod != nil && podcause.Over(pod)}
	case pod != nil && podcause.Over(pod) && (none || apierrors.IsNotFound(err)):
		return lost(pod)
	case none:
		return &failure.NoLogError{Why: err.Error()}
	}
	return err
}

// lost returns the error for a Pod that has ended, with the reason of its status, such as Evicted.
func lost(pod *corev1.Pod) error {
	why := said("Pod "+pod.Name+" has ended and has no log", pod.Status.Reason, pod.Status.Message)
	return &failure.NoLogError{Why: why, Never: true}
}

// said joins words, any of which can be missing.
func said(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), ": ")
}
