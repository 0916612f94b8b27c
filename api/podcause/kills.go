package podcause

import (
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Probe is a probe of a container.
type Probe string

// The probes.
const (
	Readiness Probe = "readiness"
	Liveness  Probe = "liveness"
	Startup   Probe = "startup"
)

// Kills are the probes for which the kubelet stopped the last run of containers, by container; "" for a container whose
// run no probe is known to have ended. What it does not hold is not known.
type Kills map[string]Probe

func (k Kills) of(container string) (probe Probe, known bool) {
	probe, known = k[container]
	return probe, known
}

// Killing is the reason of the events with which the kubelet says why it stops a container.
const Killing = "Killing"

// killing matches the message of a probe that failed too often.
var killing = regexp.MustCompile(`^(?:Container|Init container) (\S+) failed (liveness|startup) probe\b`)

// KillsIn returns which containers of the Pod a probe ended in their last run, from the events about the Pod. The
// container's status does not say it, and its exit code is the program's own.
func KillsIn(events []*corev1.Event, pod *corev1.Pod) Kills {
	out := Kills{}
	for name, end := range Ends(pod) {
		out[name] = killOf(events, pod, name, end)
	}
	return out
}

// Ends returns how the containers of a Pod ended last, by name; those that never ended are not in it.
func Ends(pod *corev1.Pod) map[string]*corev1.ContainerStateTerminated {
	out := map[string]*corev1.ContainerStateTerminated{}
	for _, all := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range all {
			if end := LastEnd(&all[i]); end != nil {
				out[all[i].Name] = end
			}
		}
	}
	return out
}

// killOf returns the probe that ended a run, "" if the events name none. An event that is newer than the end is of the
// run that followed.
func killOf(events []*corev1.Event, pod *corev1.Pod, container string, end *corev1.ContainerStateTerminated) Probe {
	var found Probe
	var latest time.Time
	for _, e := range events {
		m := killing.FindStringSubmatch(e.Message)
		if e.Reason != Killing || e.InvolvedObject.UID != pod.UID || m == nil || m[1] != container {
			continue
		}
		if at := lastSeen(e); !at.Before(end.StartedAt.Time) && !at.Before(latest) {
			found, latest = Probe(m[2]), at
		}
	}
	return found
}

// lastSeen returns when an event happened last.
func lastSeen(e *corev1.Event) time.Time {
	at := e.LastTimestamp.Time
	if e.Series != nil && e.Series.LastObservedTime.After(at) {
		at = e.Series.LastObservedTime.Time
	}
	if e.EventTime.After(at) {
		at = e.EventTime.Time
	}
	return at
}
