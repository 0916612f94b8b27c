package podcause

import (
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Over reports whether a Pod that should run for ever has ended: it failed, or a kubelet removed it. When a kubelet
// evicts a Pod whose program then ends with code 0, the phase is Succeeded, with no reason: only an event says why.
func Over(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// Eviction is the reason of a Pod that was evicted, and of the event about it.
const Eviction = "Evicted"

// AsEvicted returns the Pod with the status of an evicted one if an event says that it was; else the Pod as it is.
func AsEvicted(pod *corev1.Pod, events []*corev1.Event) *corev1.Pod {
	for _, e := range events {
		if e.Reason == Eviction && e.InvolvedObject.UID == pod.UID && pod.Status.Reason == "" && Over(pod) {
			out := pod.DeepCopy()
			out.Status.Phase, out.Status.Reason, out.Status.Message = corev1.PodFailed, Eviction, e.Message
			return out
		}
	}
	return pod
}

// failure returns why a Pod failed. Kubernetes replaces it, and it stays in the cluster until somebody deletes it.
func failure(pod *corev1.Pod) Cause {
	out := Cause{
		Kind: Failed, Node: pod.Spec.NodeName, Reason: pod.Status.Reason, Detail: failureDetail(pod.Status.Message),
	}
	switch reason := pod.Status.Reason; {
	case reason == Eviction || reason == "Preempting":
		out.Kind = Evicted
	case reason == "Terminated" || reason == "NodeShutdown" || reason == "Shutdown":
		out.Kind = Shutdown
	case strings.HasPrefix(pod.Status.Message, rejected), strings.HasPrefix(reason, "OutOf"):
		out.Kind = Rejected
	}
	return out
}

// rejected begins the messages of a kubelet that does not take a Pod, whatever the reason.
const rejected = "Pod was rejected"

// amounts matches what differs from Pod to Pod in the messages of failed ones.
var amounts = []*regexp.Regexp{
	regexp.MustCompile(`Threshold quantity: \S+, available: \S+\.\s*`),
	regexp.MustCompile(` was using \S+, request is \S+, has larger consumption of [\w.\-/]+`),
	regexp.MustCompile(`, requested: \d+, used: \d+, capacity: \d+`),
}

func failureDetail(message string) string {
	message = strings.TrimPrefix(message, rejected+": ")
	for i, pattern := range amounts {
		by := ""
		if i == 1 {
			by = " used more than it requests"
		}
		message = pattern.ReplaceAllString(message, by)
	}
	return detail(podName.ReplaceAllString(message, "$1"))
}

// podName matches the name of the Pod in the message of an eviction.
var podName = regexp.MustCompile(`\b(Pod) \S+( used more than)`)

// FailedAt returns when a Pod failed: the last time that its status has, but not later than now. Clocks of nodes can be
// ahead.
func FailedAt(pod *corev1.Pod, now time.Time) time.Time {
	at := pod.CreationTimestamp.Time
	later := func(t time.Time) {
		if t.After(at) {
			at = t
		}
	}
	for _, c := range pod.Status.Conditions {
		later(c.LastTransitionTime.Time)
	}
	for i := range pod.Status.ContainerStatuses {
		if end := pod.Status.ContainerStatuses[i].State.Terminated; end != nil {
			later(end.FinishedAt.Time)
		}
	}
	if at.After(now) {
		return now
	}
	return at
}
