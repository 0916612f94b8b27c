package resource

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// appContainer is the container in which an application runs.
const appContainer = "app"

// podLook describes the state of a Pod: its worst problem.
func podLook(pod *corev1.Pod) views.Look {
	st := &pod.Status
	switch {
	case pod.DeletionTimestamp != nil:
		return views.Look{
			Word: "Terminating", Icon: "bin", Tone: "idle",
			Text: "It finishes what it does, then it goes.",
		}
	case st.Reason == "NodeLost" || st.Phase == corev1.PodUnknown:
		return views.Look{Word: "Not known", Icon: "wait", Tone: "warn", Text: "Its node does not answer."}
	case st.Phase == corev1.PodFailed:
		return views.Look{
			Word: "Failed", Icon: "alert", Tone: "bad",
			Text: humanize.Sentence(said(st.Reason, st.Message)),
		}
	case st.Phase == corev1.PodSucceeded:
		return views.Look{Word: "Ended", Icon: "check", Tone: "idle"}
	}
	if l, ok := unscheduled(pod); ok {
		return l
	}
	for _, s := range append(append([]corev1.ContainerStatus{}, st.InitContainerStatuses...), st.ContainerStatuses...) {
		if l := containerLook(&s); l.Tone == "bad" {
			return l
		}
	}
	return liveLook(pod)
}

// liveLook describes the state of a Pod without problems.
func liveLook(pod *corev1.Pod) views.Look {
	ready, known := podCondition(pod, corev1.PodReady)
	switch {
	case known && ready.Status == corev1.ConditionTrue:
		return views.Look{Word: "Running and ready", Icon: "check", Tone: "good"}
	case pod.Status.Phase == corev1.PodRunning:
		return views.Look{
			Word: "Running, not ready", Icon: "spin", Tone: "busy",
			Text: "It gets no requests until its readiness probe succeeds.",
		}
	}
	return views.Look{Word: "Starting", Icon: "spin", Tone: "busy"}
}

func unscheduled(pod *corev1.Pod) (views.Look, bool) {
	c, ok := podCondition(pod, corev1.PodScheduled)
	if !ok || c.Status != corev1.ConditionFalse {
		return views.Look{}, false
	}
	return views.Look{
		Word: "Unschedulable", Icon: "alert", Tone: "bad",
		Text: humanize.Sentence(cmp.Or(c.Message, "no node takes it")),
	}, true
}

func podCondition(pod *corev1.Pod, kind corev1.PodConditionType) (corev1.PodCondition, bool) {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c, true
		}
	}
	return corev1.PodCondition{}, false
}

// troubles are the reasons of waiting that do not resolve by themselves.
var troubles = map[string]string{
	"ImagePullBackOff": "Image cannot be pulled", "ErrImagePull": "Image cannot be pulled",
	"InvalidImageName":  "Image cannot be pulled",
	"ErrImageNeverPull": "Image cannot be pulled", "ImageInspectError": "Image cannot be read",
	"CreateContainerConfigError": "Configuration is missing", "CreateContainerError": "Cannot be started",
	"RunContainerError": "Cannot be started",
}

// containerLook describes the state of a container.
func containerLook(s *corev1.ContainerStatus) views.Look {
	switch st := s.State; {
	case st.Waiting != nil && st.Waiting.Reason == "CrashLoopBackOff":
		return views.Look{
			Word: "Keeps crashing", Icon: "alert", Tone: "bad",
			Text: humanize.Join(ending(s.LastTerminationState.Terminated), "Kubernetes keeps restarting it."),
		}
	case st.Waiting != nil && troubles[st.Waiting.Reason] != "":
		return views.Look{
			Word: troubles[st.Waiting.Reason], Icon: "alert", Tone: "bad",
			Text: humanize.Sentence(st.Waiting.Message),
		}
	case st.Terminated != nil && st.Terminated.ExitCode != 0:
		return views.Look{Word: "Crashed", Icon: "alert", Tone: "bad", Text: ending(st.Terminated)}
	case st.Terminated != nil:
		return views.Look{Word: "Ended", Icon: "check", Tone: "idle"}
	case st.Running != nil && s.Ready:
		return views.Look{Word: "Running and ready", Icon: "check", Tone: "good"}
	case st.Running != nil:
		return views.Look{Word: "Running, not ready", Icon: "spin", Tone: "busy"}
	}
	return views.Look{Word: "Starting", Icon: "spin", Tone: "busy"}
}

// ending describes how a container ended, briefly enough for a table; "" if unknown.
func ending(t *corev1.ContainerStateTerminated) string {
	switch {
	case t == nil:
		return ""
	case t.Reason == "OOMKilled":
		return fmt.Sprintf("Killed for using more memory than its limit (exit code %d, OOMKilled).", t.ExitCode)
	case t.Reason == "" || t.Reason == "Error":
		return fmt.Sprintf("Exit code %d.", t.ExitCode)
	}
	return fmt.Sprintf("Exit code %d (%s).", t.ExitCode, t.Reason)
}

// podLastWords returns the termination message of the container that ended last.
func podLastWords(pod *corev1.Pod) string {
	var last *corev1.ContainerStateTerminated
	for i := range pod.Status.ContainerStatuses {
		if t := lastEnd(&pod.Status.ContainerStatuses[i]); t != nil &&
			(last == nil || last.FinishedAt.Before(&t.FinishedAt)) {
			last = t
		}
	}
	if last == nil {
		return ""
	}
	return last.Message
}

// lastEnd returns how a container last ended; nil if it never has.
func lastEnd(s *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if s.State.Terminated != nil {
		return s.State.Terminated
	}
	return s.LastTerminationState.Terminated
}

// said joins a reason and its message, either of which can be missing.
func said(reason, message string) string {
	if reason == "" || message == "" {
		return humanize.Words(reason) + message
	}
	return humanize.Words(reason) + ": " + message
}
