package webapp

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// problem says why a rollout makes no progress, from the most specific object. Its text is stable: counters, back-offs
// and other parts that differ between tries are omitted, or every try would change the status. The application's output
// is omitted too: it may contain anything, and a reader of the status may have no access to the log.
type problem struct {
	reason  string
	text    string // empty: nothing is known
	stalled bool   // somebody must act
}

// problem checks the Deployment and the wanted version for objects they could not create, then each Pod; it returns the
// worst problem.
func (s runtimeState) problem(spec *v1alpha1.WebAppSpec) problem {
	if p := s.deploymentProblem(); p.text != "" {
		return p
	}
	set := s.currentReplicaSet()
	if set == nil {
		return problem{}
	}
	if p := replicaSetProblem(set); p.text != "" {
		return p
	}
	var found problem
	for _, pod := range s.podsOf(set) {
		p := podProblem(&pod, spec)
		if p.text != "" && (found.text == "" || p.stalled && !found.stalled) {
			found = p
		}
	}
	return found
}

// deploymentProblem returns why the Deployment creates no version.
func (s runtimeState) deploymentProblem() problem {
	d := &s.deployment
	if d.Spec.Paused && d.Status.UpdatedReplicas < s.wantedReplicas() {
		return problem{
			reason: v1alpha1.ReasonDeploymentPaused, stalled: true,
			text: "the Deployment is paused: kubectl rollout resume deployment/" + d.Name + " lets it go on",
		}
	}
	if c := s.stuckCondition(); c != nil && c.Reason != v1alpha1.ReasonProgressDeadlineExceeded {
		return refusalProblem(c.Reason, c.Message, "the cluster refuses the new version: ")
	}
	return problem{}
}

// replicaSetProblem returns why the API server rejects the version's Pods.
func replicaSetProblem(set *appsv1.ReplicaSet) problem {
	for _, c := range set.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return refusalProblem(c.Reason, c.Message, "the cluster refuses the Pods: ")
		}
	}
	return problem{}
}

func refusalProblem(reason, message, what string) problem {
	// This text follows the name of an object that was never created.
	_, why, ok := strings.Cut(message, " is forbidden: ")
	if !ok {
		why = message
	}
	if quota, ok := strings.CutPrefix(why, "exceeded quota: "); ok {
		return problem{
			reason: v1alpha1.ReasonQuotaExceeded, stalled: true,
			text: "the quota of the namespace is used up: " + quota,
		}
	}
	return problem{reason: reason, stalled: true, text: what + why}
}

// unscheduled returns why a Pod has no node.
func unscheduled(c corev1.PodCondition) problem {
	p := problem{
		reason: v1alpha1.ReasonUnschedulable, stalled: c.Reason == corev1.PodReasonUnschedulable,
		text: "no node takes a Pod: " + c.Message,
	}
	if c.Reason == corev1.PodReasonSchedulingGated {
		p.text = "a Pod is held back: " + c.Message
	}
	return p
}

// podProblem returns why one Pod is not ready.
func podProblem(pod *corev1.Pod, spec *v1alpha1.WebAppSpec) problem {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return unscheduled(c)
		}
	}
	for i := range pod.Status.InitContainerStatuses {
		if p := containerProblem(pod, &pod.Status.InitContainerStatuses[i]); p.text != "" {
			return p
		}
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if p := containerProblem(pod, status); p.text != "" {
			return p
		}
		if p := probeProblem(pod, status, spec); p.text != "" {
			return p
		}
	}
	return problem{}
}

// containerProblem follows the kubelet: waiting says why a container does not start, and the last state why it ended.
func containerProblem(pod *corev1.Pod, c *corev1.ContainerStatus) problem {
	if c.Ready {
		return problem{}
	}
	if end := lastEnd(c); end != nil {
		return crashProblem(pod, c, end)
	}
	waiting := c.State.Waiting
	if waiting == nil {
		return problem{}
	}
	switch waiting.Reason {
	case "ImagePullBackOff", "ErrImagePull": // in turns
		return problem{
			reason: v1alpha1.ReasonImagePullBackOff, stalled: true,
			text: fmt.Sprintf("the image %s cannot be pulled%s", c.Image, pullError(waiting.Message)),
		}
	case "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable", "SignatureValidationFailed":
		return problem{
			reason: waiting.Reason, stalled: true,
			text: fmt.Sprintf("the image %s cannot be pulled%s", c.Image, pullError(waiting.Message)),
		}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return problem{
			reason: waiting.Reason, stalled: true,
			text: fmt.Sprintf("the container %s of Pod %s cannot start: %s", c.Name, pod.Name,
				configError(waiting.Message)),
		}
	}
	return problem{}
}

// lastEnd returns how the container ended last, if that was a failure.
func lastEnd(c *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	for _, end := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
		if end != nil && (end.ExitCode != 0 || c.RestartCount > 0) {
			return end
		}
	}
	return nil
}

// kubeletExitCodes are the exit codes of a process that the kubelet stops: 0, SIGKILL or SIGTERM. The status does not
// say why the kubelet stopped it.
var kubeletExitCodes = []int32{0, 137, 143}

// neverStarted are the reasons of a container that the runtime could not start: its message is the runtime's own.
var neverStarted = []string{"StartError", "ContainerCannotRun"}

func crashProblem(pod *corev1.Pod, c *corev1.ContainerStatus, end *corev1.ContainerStateTerminated) problem {
	out := problem{reason: v1alpha1.ReasonCrashLoopBackOff, stalled: true}
	who := fmt.Sprintf("the container %s of Pod %s ", c.Name, pod.Name)
	switch {
	case end.Reason == "OOMKilled":
		out.reason, out.text = end.Reason, who+"needs more memory than its limit and is killed, again and again"
		return out
	case slices.Contains(neverStarted, end.Reason):
		out.text = who + "cannot start: " + cmp.Or(lastLine(end.Message), end.Reason)
		return out
	}
	out.text = fmt.Sprintf("%sexits with code %d", who, end.ExitCode)
	if end.Reason != "" && end.Reason != "Error" && end.Reason != "Completed" {
		out.text += " (" + end.Reason + ")"
	}
	out.text += ", again and again"
	if slices.Contains(kubeletExitCodes, end.ExitCode) {
		out.text += ", as if something asked it to stop: that is done when a liveness or startup probe fails"
	}
	out.text += fmt.Sprintf("; read its log: kubectl logs -n %s %s -c %s --previous", pod.Namespace, pod.Name, c.Name)
	return out
}

// probeProblem returns the problem of a running container whose probe fails. That alone is not stalled: it may need
// time, and the Deployment's deadline decides when that is too long.
func probeProblem(pod *corev1.Pod, c *corev1.ContainerStatus, spec *v1alpha1.WebAppSpec) problem {
	if c.Name != containerName || c.Ready || c.State.Running == nil {
		return problem{}
	}
	readiness, _, startup := probesOf(spec)
	which, p := "readiness", readiness
	if c.Started != nil && !*c.Started {
		which, p = "startup", startup
	}
	return problem{
		reason: v1alpha1.ReasonProbeFailing,
		text:   fmt.Sprintf("Pod %s runs, but its %s probe has not succeeded: %s", pod.Name, which, asks(p)),
	}
}

// pullError returns the cause without the back-off around it.
func pullError(message string) string {
	if _, why, ok := strings.Cut(message, "ErrImagePull: "); ok {
		message = why
	}
	if message == "" || strings.HasPrefix(message, "Back-off pulling image") {
		return ""
	}
	return ": " + message
}

// perPod matches the part that the kubelet adds to identify the Pod.
var perPod = regexp.MustCompile(` \(pod: "[^"]*", container: [^)]*\)`)

func configError(message string) string {
	message = perPod.ReplaceAllString(message, "")
	if strings.Contains(message, "runAsNonRoot") {
		message += "; build the image with a USER that is a number other than 0"
	}
	return message
}

// lastLine returns the last line of text that is not blank.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return printable(lines[len(lines)-1])
}

// printable returns a line without control characters.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return -1
		}
		return r
	}, strings.TrimSpace(line))
}
