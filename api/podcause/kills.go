package podcause

import (
	"regexp"
	"slices"
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
// run no probe ended. What it does not hold is not known.
type Kills map[string]Probe

func (k Kills) of(container string) (probe Probe, known bool) {
	probe, known = k[container]
	return probe, known
}

// Killing is the reason of the events with which the kubelet says why it stops a container.
const Killing = "Killing"

// killing matches the message of a probe that failed too often.
var killing = regexp.MustCompile(`^(?:Container|Init container) (\S+) failed (liveness|startup) probe\b`)

const (
	// fewRestarts is up to how many restarts events that name no probe say that none failed. The kubelet drops events
	// about a Pod that has had many.
	fewRestarts = 3
	// eventAfter is how long after an end the event about its cause may be written.
	eventAfter = 2 * time.Second
)

// KillsIn returns which containers of the Pod a probe ended in their last run, from the events about the Pod. The
// container's status does not say it, and its exit code is the program's own.
func KillsIn(events []*corev1.Event, pod *corev1.Pod) Kills {
	out := Kills{}
	for name, end := range Ends(pod) {
		probe := killOf(events, pod, name, end.ContainerStateTerminated)
		if probe != "" || end.Restarts <= fewRestarts {
			out[name] = probe
		}
	}
	return out
}

// End is how a container ended last, and how often it was restarted.
type End struct {
	*corev1.ContainerStateTerminated
	Restarts int32
}

// Run returns how long the run was; 0 if that is not known.
func (e End) Run() time.Duration {
	run, _ := runOf(e.ContainerStateTerminated)
	return run
}

// Ends returns how the containers of a Pod ended last, by name, where a probe may have been the cause.
func Ends(pod *corev1.Pod) map[string]End {
	out := map[string]End{}
	add := func(init bool, all []corev1.ContainerStatus) {
		for i := range all {
			end := LastEnd(&all[i])
			if end == nil || end.Reason == oomKilled || slices.Contains(neverStarted, end.Reason) ||
				init && !Restartable(pod, all[i].Name) {
				continue
			}
			out[all[i].Name] = End{end, all[i].RestartCount}
		}
	}
	add(true, pod.Status.InitContainerStatuses)
	add(false, pod.Status.ContainerStatuses)
	return out
}

// killOf returns the probe that ended a run, "" if the events name none. An event that is newer than the end is of the
// run that followed.
func killOf(events []*corev1.Event, pod *corev1.Pod, container string, end *corev1.ContainerStateTerminated) Probe {
	var found Probe
	var latest time.Time
	over := end.FinishedAt.Add(eventAfter)
	for _, e := range events {
		m := killing.FindStringSubmatch(e.Message)
		if e.Reason != Killing || e.InvolvedObject.UID != pod.UID || m == nil || m[1] != container {
			continue
		}
		at := lastSeen(e)
		if at.After(over) && !end.FinishedAt.IsZero() {
			continue
		}
		if !at.Before(end.StartedAt.Time) && !at.Before(latest) {
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
