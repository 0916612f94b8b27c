// Package podcause finds why a Pod does not serve, from what the kubelet and the scheduler write. Operator and portal
// describe the same cause in their own words.
package podcause

import (
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/api/spoken"
)

// Kind is the kind of a cause; empty if there is none.
type Kind string

// Kinds of causes.
const (
	Unschedulable Kind = "Unschedulable" // no node takes the Pod
	Held          Kind = "Held"          // a scheduling gate holds it back
	NodeSilent    Kind = "NodeSilent"    // its node does not answer
	GateClosed    Kind = "GateClosed"    // its containers are ready, a readiness gate of the Pod is not
	Hangs         Kind = "Hangs"         // it has not started for LongestStart, and its status does not say why

	NoImage     Kind = "NoImage"     // the image cannot be pulled
	NotCreated  Kind = "NotCreated"  // the container cannot be created, or not with this configuration
	NeverStarts Kind = "NeverStarts" // the runtime cannot start the program
	Ended       Kind = "Ended"       // the program ended, though it should run
	OutOfMemory Kind = "OutOfMemory" // it was killed for its memory
	ProbeKilled Kind = "ProbeKilled" // the kubelet stopped it, because a probe failed
	NotStarted  Kind = "NotStarted"  // it runs, and its startup probe has not succeeded
	NotReady    Kind = "NotReady"    // it runs, and its readiness probe does not succeed
	NotFinished Kind = "NotFinished" // an init container still runs

	Evicted  Kind = "Evicted"  // the node removed the Pod, for what it used or to make room
	Rejected Kind = "Rejected" // the node did not take the Pod
	Shutdown Kind = "Shutdown" // the node shut down
	Failed   Kind = "Failed"   // the Pod ended for another reason
)

// Cause is why a Pod does not serve now. It holds nothing that differs between two tries of the same thing, such as
// counters and back-offs.
type Cause struct {
	Kind Kind
	// Stalled is true if somebody must act.
	Stalled bool
	// Starting is true if a healthy Pod has this cause too, before it is ready for the first time; no longer than
	// LongestStart after its creation.
	Starting bool
	// Container is what it is about, empty if the whole Pod. Init is true for an init container.
	Container string
	Init      bool
	Image     string // of the container
	Node      string
	// Reason and Detail are Kubernetes's: the reason, and the stable part of its message.
	Reason, Detail string
	// Code is the exit code; of Ended, OutOfMemory and ProbeKilled.
	Code int32
	// Again is true if this happened more than once, in short runs.
	Again bool
	// Probe is the one that failed; of ProbeKilled. Perhaps is true if the exit code is one of a program that was
	// stopped, and whether a probe failed is not known. Unread is true if no events say whether one did: it could have,
	// whatever the exit code.
	Probe           Probe
	Perhaps, Unread bool
	// Earlier is how the run before this one ended; of NotStarted and NotReady.
	Earlier *Cause
	// Until is when the cause is another one although nothing changed; zero if never.
	Until time.Time
	// End is the end that the cause goes by; nil if none.
	End *corev1.ContainerStateTerminated
}

// OfChild reports whether the kernel killed another process of the container than the first, which then ended with a
// code of its own; of OutOfMemory.
func (c Cause) OfChild() bool { return c.Kind == OutOfMemory && c.Code != killed }

// LongestStart is how long a Pod may take until it is ready for the first time.
const LongestStart = 5 * time.Minute

// Of returns the cause that holds now: a container that crashed and runs again has the cause that it has now. kills
// says which probes ended containers. Pods that are being deleted, and those that succeeded, have none.
func Of(pod *corev1.Pod, now time.Time, kills Kills) Cause {
	if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded {
		return Cause{}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return failure(pod)
	}
	if c := condition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return unscheduled(c, now)
	}
	found := worst(pod, now, kills)
	if c := unready(pod); c.Kind != "" && !found.Stalled {
		found = c
	}
	return found.bounded(pod, now)
}

// bounded ends what counts as a start when it takes too long: the Pod then has a cause, even if only the reason for
// which a container waits.
func (c Cause) bounded(pod *corev1.Pod, now time.Time) Cause {
	ready := condition(pod, corev1.PodReady)
	begins := c.Starting || c.Kind == "" && (ready == nil || ready.Status != corev1.ConditionTrue)
	if !begins || pod.CreationTimestamp.IsZero() {
		return c
	}
	if end := pod.CreationTimestamp.Add(LongestStart); now.Before(end) {
		c.Until = end
		return c
	}
	if c.Starting = false; c.Kind == "" {
		c = Cause{Kind: Hangs, Node: pod.Spec.NodeName, Reason: waitsFor(pod)}
	}
	return c
}

// waitsFor returns the reason for which the first container waits, such as ContainerCreating; empty if none does.
func waitsFor(pod *corev1.Pod) string {
	for _, all := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range all {
			if w := all[i].State.Waiting; w != nil && w.Reason != "" {
				return w.Reason
			}
		}
	}
	return ""
}

// worst returns the worst cause of the containers: one that needs somebody before one that does not, and that before
// one of a Pod that starts; else the first.
func worst(pod *corev1.Pod, now time.Time, kills Kills) Cause {
	var found Cause
	all := func(init bool, statuses []corev1.ContainerStatus) {
		for i := range statuses {
			c := OfContainer(pod, &statuses[i], init, now, kills)
			if c.rank() > found.rank() {
				found = c
			}
		}
	}
	all(true, pod.Status.InitContainerStatuses)
	if found.Kind == NotFinished { // the others wait for it
		return found
	}
	all(false, pod.Status.ContainerStatuses)
	return found
}

// rank orders causes by how much they matter.
func (c Cause) rank() int {
	switch {
	case c.Kind == "":
		return 0
	case c.Stalled:
		return 3
	case c.Starting:
		return 1
	}
	return 2
}

// unscheduled returns why a Pod has no node.
func unscheduled(c *corev1.PodCondition, now time.Time) Cause {
	if c.Reason == corev1.PodReasonSchedulingGated {
		return Cause{Kind: Held, Reason: c.Reason, Detail: detail(c.Message)}
	}
	out := Cause{Kind: Unschedulable, Reason: c.Reason, Detail: detail(withoutCounts(c.Message))}
	if c.Reason != corev1.PodReasonUnschedulable { // the scheduler has not failed yet
		return out
	}
	if end := c.LastTransitionTime.Add(moreNodes); now.Before(end) {
		out.Starting, out.Until = true, end
		return out
	}
	out.Stalled = true
	return out
}

// moreNodes is how long an autoscaler may take to add a node, before somebody must make room.
const moreNodes = 2 * time.Minute

// nodesSay matches the number of nodes before each reason for which the scheduler finds none.
var nodesSay = regexp.MustCompile(`(?:^|, )\d+ `)

// withoutCounts returns the scheduler's reasons without the numbers of nodes, which change with the cluster: "0/3
// nodes are available: 1 Too many pods, 2 Insufficient cpu. preemption: …" is "Insufficient cpu, Too many pods".
func withoutCounts(message string) string {
	_, why, ok := strings.Cut(message, " nodes are available: ")
	if !ok {
		return message
	}
	why, _, _ = strings.Cut(why, " preemption: ")
	why = strings.TrimSuffix(why, " no new claims to deallocate,") // of dynamic resources, also where there are none
	all := nodesSay.Split(strings.TrimRight(why, ". "), -1)
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// unready returns why a Pod is not ready whose containers all are. The kubelet writes both conditions together, and
// says which readiness gates are closed. Ready alone becomes False, with no reason, when the node lifecycle controller
// finds that the node does not answer.
func unready(pod *corev1.Pod) Cause {
	ready, containers := condition(pod, corev1.PodReady), condition(pod, corev1.ContainersReady)
	switch {
	case ready == nil || ready.Status != corev1.ConditionFalse:
	case containers == nil || containers.Status != corev1.ConditionTrue:
	case ready.Reason == "":
		return Cause{Kind: NodeSilent, Node: pod.Spec.NodeName}
	case ready.Reason == "ReadinessGatesNotReady":
		return Cause{
			Kind: GateClosed, Starting: !wasReady(pod), Reason: ready.Reason, Detail: gates(pod, ready.Message),
		}
	}
	return Cause{}
}

// gateNames matches the names of readiness gates in the kubelet's message.
var gateNames = regexp.MustCompile(`readiness gate "([^"]+)"`)

// gates describes the closed readiness gates, by the conditions that others set for them.
func gates(pod *corev1.Pod, message string) string {
	var all []string
	for _, m := range gateNames.FindAllStringSubmatch(message, -1) {
		text := m[1]
		if c := condition(pod, corev1.PodConditionType(m[1])); c != nil && c.Message != "" {
			text += " (" + detail(c.Message) + ")"
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return detail(message)
	}
	return spoken.And(all)
}

// wasReady reports whether the Pod became unready after a container had started: the kubelet writes the condition first
// before it starts any. Another container may have been restarted since.
func wasReady(pod *corev1.Pod) bool {
	ready := condition(pod, corev1.PodReady)
	if ready == nil {
		return false
	}
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		for _, state := range []corev1.ContainerState{c.State, c.LastTerminationState} {
			if at := startOf(state); !at.IsZero() && ready.LastTransitionTime.After(at) {
				return true
			}
		}
	}
	return false
}

// startOf returns when the run of a state began; zero if there is none.
func startOf(state corev1.ContainerState) time.Time {
	if state.Running != nil {
		return state.Running.StartedAt.Time
	}
	if state.Terminated != nil {
		return state.Terminated.StartedAt.Time
	}
	return time.Time{}
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// longestDetail bounds a message of Kubernetes, in bytes: it may quote a registry or an image.
const longestDetail = 1024

// detail returns the stable part of a message, as one line.
func detail(message string) string {
	line := strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r == 0x7f || r == '\uFFFD':
			return -1
		}
		return r
	}, message)
	return spoken.Cut(spoken.Stable(strings.TrimRight(strings.TrimSpace(line), ". ")), longestDetail)
}
