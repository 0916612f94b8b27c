package podcause

import (
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// App is the name of the container in which an application runs.
const App = "app"

// The reasons of a container that waits and cannot go on by itself.
var (
	pullFails = []string{
		"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable",
		"SignatureValidationFailed", "ImageInspectError",
	}
	createFails = []string{
		"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PreCreateHookError",
		"PreStartHookError", "PostStartHookError",
	}
	// hookFails are those whose message has the output of a program, which can hold anything, as logs can.
	hookFails = []string{"PreStartHookError", "PostStartHookError"}
)

// neverStarted are the reasons of an end whose program the runtime could not start: the message is the runtime's own.
var neverStarted = []string{"StartError", "ContainerCannotRun"}

// oomKilled is the reason of an end after the kernel killed a process of the container for memory. The code is the
// program's own if that was another process than the first.
const oomKilled = "OOMKilled"

// killed is the exit code of a program that SIGKILL ended.
const killed = 137

// stopCodes are the exit codes of a program that was stopped: SIGKILL, SIGTERM.
var stopCodes = []int32{killed, 143}

const (
	// lastingRun is how long a container must run for the kubelet to forget its back-off: earlier ends are over.
	lastingRun = 10 * time.Minute
	// shortestTrust is the least time for which a container that ended twice must run before it counts as running: a
	// loop must not have another cause in each of its phases.
	shortestTrust = time.Minute
	// ClockSkew is how far the clock of a node may be ahead: a later time says nothing.
	ClockSkew = time.Minute
)

// OfContainer returns the cause of one container of a Pod; see Of.
func OfContainer(pod *corev1.Pod, c *corev1.ContainerStatus, init bool, now time.Time, kills Kills) Cause {
	out := Cause{Container: c.Name, Init: init, Image: c.Image, Node: pod.Spec.NodeName}
	if init && !Restartable(pod, c.Name) {
		kills = Kills{c.Name: ""} // it has no probes
	}
	end, waiting := causingEnd(pod, c, init), c.State.Waiting
	if c.Ready {
		return out.loop(c, end, now, kills)
	}
	if waiting != nil && slices.Contains(pullFails, waiting.Reason) {
		out.Kind, out.Stalled, out.Detail = NoImage, true, pullDetail(waiting.Message)
		if out.Reason = waiting.Reason; out.Reason == "ErrImagePull" { // they take turns
			out.Reason = "ImagePullBackOff"
		}
		return out
	}
	switch {
	case c.State.Running != nil:
		return out.running(pod, c, end, now, kills)
	case end != nil && slices.Contains(neverStarted, end.Reason):
		out.Kind, out.Stalled, out.Reason, out.Code, out.End = NeverStarts, true, end.Reason, end.ExitCode, end
		out.Detail = detail(lastLine(end.Message))
		return out
	case waiting != nil && slices.Contains(createFails, waiting.Reason):
		out.Kind, out.Stalled, out.Reason = NotCreated, true, waiting.Reason
		if !slices.Contains(hookFails, waiting.Reason) {
			out.Detail = detail(perPod.ReplaceAllString(waiting.Message, ""))
		}
		return out
	case end == nil:
		return Cause{}
	}
	return out.ended(c, end, 1+c.RestartCount, kills)
}

// LastEnd returns how a container ended last; nil if it never has.
func LastEnd(c *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if c.State.Terminated != nil {
		return c.State.Terminated
	}
	return c.LastTerminationState.Terminated
}

// causingEnd returns the last end of a container if it may be a cause: an init container has done its work when it ends
// well, also where a new sandbox of the Pod makes it run again.
func causingEnd(pod *corev1.Pod, c *corev1.ContainerStatus, init bool) *corev1.ContainerStateTerminated {
	end := LastEnd(c)
	if end != nil && end.ExitCode == 0 && init && !Restartable(pod, c.Name) {
		return nil
	}
	return end
}

// ended returns the cause of a container that ended so many times.
func (out Cause) ended(c *corev1.ContainerStatus, end *corev1.ContainerStateTerminated, times int32,
	kills Kills,
) Cause {
	backOff := c.State.Waiting != nil && c.State.Waiting.Reason == "CrashLoopBackOff"
	out.Kind, out.Reason, out.Code, out.End = Ended, end.Reason, end.ExitCode, end
	run, timed := runOf(end)
	out.Again = times > 1 && (backOff || timed && run < lastingRun)
	out.Stalled = out.Again
	probe, known := kills.of(c.Name)
	out.Unread = !known
	switch {
	case end.Reason == oomKilled:
		out.Kind = OutOfMemory
	case probe != "":
		out.Kind, out.Probe = ProbeKilled, probe
	default:
		out.Perhaps = slices.Contains(stopCodes, end.ExitCode) || end.ExitCode == 0 && !known
	}
	return out
}

// loop returns the cause of a container that runs, ready or not, and ended twice: it is still in its loop until this
// run has lasted longer than the one before. Otherwise a program that serves for some seconds at a time would be well
// in between.
func (out Cause) loop(c *corev1.ContainerStatus, end *corev1.ContainerStateTerminated, now time.Time,
	kills Kills,
) Cause {
	run := c.State.Running
	if end == nil || run == nil || c.RestartCount < 2 {
		return Cause{}
	}
	before, timed := runOf(end)
	trusted := run.StartedAt.Add(min(max(2*before, shortestTrust), lastingRun))
	if !timed || before >= lastingRun || !now.Before(trusted) || run.StartedAt.After(now.Add(ClockSkew)) {
		return Cause{}
	}
	found := out.ended(c, end, c.RestartCount, kills)
	found.Until = trusted
	return found
}

// running returns the cause of a container that runs and is not ready.
func (out Cause) running(pod *corev1.Pod, c *corev1.ContainerStatus, end *corev1.ContainerStateTerminated,
	now time.Time, kills Kills,
) Cause {
	if found := out.loop(c, end, now, kills); found.Kind != "" {
		return found
	}
	switch {
	case out.Init && !Restartable(pod, c.Name):
		out.Kind, out.Starting = NotFinished, true
	case c.Started != nil && !*c.Started:
		out.Kind, out.Starting, out.Probe = NotStarted, true, Startup
	default:
		out.Kind, out.Starting, out.Probe = NotReady, !wasReady(pod), Readiness
	}
	if end != nil && c.RestartCount > 0 {
		earlier := Cause{Container: out.Container, Init: out.Init, Image: out.Image, Node: out.Node}.ended(
			c, end, c.RestartCount, kills)
		earlier.Again = c.RestartCount > 1
		out.Earlier, out.End, out.Starting = &earlier, end, false
	}
	return out
}

// Restartable reports whether an init container of the Pod runs beside the others, as a sidecar.
func Restartable(pod *corev1.Pod, name string) bool {
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if c.Name == name {
			return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		}
	}
	return false
}

// runOf returns how long the run was that ended, and whether that is known: of a container that its node has lost, it
// is not.
func runOf(end *corev1.ContainerStateTerminated) (run time.Duration, known bool) {
	if end.StartedAt.IsZero() || end.FinishedAt.IsZero() {
		return 0, false
	}
	return end.FinishedAt.Sub(end.StartedAt.Time), true
}

// pullDetail returns the cause of a failed pull without the back-off around it.
func pullDetail(message string) string {
	if _, why, ok := strings.Cut(message, "ErrImagePull: "); ok {
		message = why
	}
	if strings.HasPrefix(message, "Back-off pulling image") {
		return ""
	}
	return detail(message)
}

// perPod matches the part that the kubelet adds to identify the Pod.
var perPod = regexp.MustCompile(` \(pod: "[^"]*", container: [^)]*\)`)

// lastLine returns the last line of text that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}
