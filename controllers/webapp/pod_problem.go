package webapp

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// podsProblem returns the worst problem of the Pods. It asks for the events of at most one of them: the one whose
// problem it returns.
func (r *reconciliation) podsProblem(ctx context.Context, pods []corev1.Pod) problem {
	var found problem
	var of *corev1.Pod
	for i := range pods {
		p := problemOf(r.cause(&pods[i], r.Kills.known(&pods[i])))
		if p.rank() > found.rank() {
			of = &pods[i]
		}
		found = worse(found, p)
	}
	if of == nil {
		return found
	}
	kills, until := r.Kills.known(of), found.until
	if r.Kills.wants(of, r.cause(of, nil)) {
		kills = r.Kills.read(ctx, of, r.Now())
	}
	found = worse(r.podProblem(of, kills), problem{until: until})
	if c := r.cause(of, nil); r.Kills.wants(of, c) { // nothing is known yet
		found = worse(found, problem{until: r.Kills.again(c.End.FinishedAt.Time, r.Now())})
	}
	return found
}

func (r *reconciliation) cause(pod *corev1.Pod, kills podcause.Kills) podcause.Cause {
	return podcause.Of(pod, r.Now(), kills)
}

// podProblem returns why one Pod is not ready.
func (r *reconciliation) podProblem(pod *corev1.Pod, kills podcause.Kills) problem {
	c := r.cause(pod, kills)
	p := problemOf(c)
	p.text = describe(pod, c, &r.app.Spec)
	return p
}

// problemOf returns the problem of a cause, without its text.
func problemOf(c podcause.Cause) problem {
	return problem{
		known: c.Kind != "", reason: reasonOf(c), stalled: c.Stalled, starting: c.Starting, until: c.Until,
	}
}

// reasonOf returns the reason of a condition for a cause; empty if it has none.
func reasonOf(c podcause.Cause) string {
	switch c.Kind {
	case podcause.Unschedulable, podcause.Held:
		return v1alpha1.ReasonUnschedulable
	case podcause.NodeSilent:
		return v1alpha1.ReasonNodeNotReady
	case podcause.GateClosed:
		return v1alpha1.ReasonReadinessGatesNotReady
	case podcause.NoImage, podcause.NotCreated:
		return c.Reason
	case podcause.NeverStarts, podcause.Ended:
		return v1alpha1.ReasonCrashLoopBackOff
	case podcause.OutOfMemory:
		return v1alpha1.ReasonOOMKilled
	case podcause.ProbeKilled, podcause.NotStarted, podcause.NotReady:
		return v1alpha1.ReasonProbeFailing
	case podcause.Evicted:
		return v1alpha1.ReasonEvicted
	case podcause.Rejected:
		return v1alpha1.ReasonPodRejected
	case podcause.Shutdown:
		return v1alpha1.ReasonNodeShutdown
	case podcause.Failed:
		return v1alpha1.ReasonPodFailed
	case podcause.NotFinished, podcause.Hangs: // Kubernetes has no reason for a person to look up
	}
	return ""
}

// describe returns the cause as a sentence; empty if there is none.
func describe(pod *corev1.Pod, c podcause.Cause, spec *v1alpha1.WebAppSpec) string {
	who := fmt.Sprintf("the container %s of Pod %s", c.Container, pod.Name)
	switch c.Kind {
	case podcause.Unschedulable:
		return "no node takes a Pod" + after(c.Detail)
	case podcause.Held:
		return "a Pod is held back" + after(c.Detail)
	case podcause.NodeSilent:
		return fmt.Sprintf("the node %s of Pod %s does not answer", c.Node, pod.Name)
	case podcause.GateClosed:
		return fmt.Sprintf("Pod %s runs, and its readiness gate is closed: %s", pod.Name, c.Detail)
	case podcause.Hangs:
		return describeHanging(pod, c)
	case podcause.NoImage:
		return fmt.Sprintf("the image %s cannot be pulled%s", c.Image, after(c.Detail))
	case podcause.NotCreated:
		return who + " cannot start" + after(cmp.Or(c.Detail, c.Reason)) + userHint(c.Detail)
	case podcause.NeverStarts:
		return who + " cannot start" + after(cmp.Or(c.Detail, c.Reason))
	case podcause.Ended, podcause.OutOfMemory, podcause.ProbeKilled:
		return who + " " + describeEnd(pod, c, spec)
	case podcause.NotFinished:
		return fmt.Sprintf("the init container %s of Pod %s has not finished", c.Container, pod.Name)
	case podcause.NotStarted, podcause.NotReady:
		return describeProbe(pod, c, spec)
	case podcause.Evicted, podcause.Rejected, podcause.Shutdown, podcause.Failed:
		return describeFailure(pod, c)
	}
	return ""
}

// describeHanging says how far a Pod came that does not start.
func describeHanging(pod *corev1.Pod, c podcause.Cause) string {
	switch {
	case c.Node == "":
		return fmt.Sprintf("Pod %s has no node", pod.Name)
	case c.Reason == "":
		return fmt.Sprintf("Pod %s does not become ready on its node %s", pod.Name, c.Node)
	}
	return fmt.Sprintf("Pod %s does not start: %s; kubectl describe pod -n %s %s says why", pod.Name, c.Reason,
		pod.Namespace, pod.Name)
}

// describeEnd says how a container ended, and what is known of why; its name goes before it.
func describeEnd(pod *corev1.Pod, c podcause.Cause, spec *v1alpha1.WebAppSpec) string {
	log := fmt.Sprintf("; read its log: kubectl logs -n %s %s -c %s --previous", pod.Namespace, pod.Name, c.Container)
	const once = "; Kubernetes restarts it"
	switch {
	case c.Kind == podcause.OutOfMemory && c.OfChild():
		return describeExit(c, once) + "; a process in it was killed for memory" + log
	case c.Kind == podcause.OutOfMemory && c.Again:
		return "needs more memory than its limit and is killed, again and again"
	case c.Kind == podcause.OutOfMemory:
		return "was killed because it needed more memory than its limit" + once
	case c.Kind == podcause.ProbeKilled && c.Again:
		return fmt.Sprintf("is stopped again and again, because its %s probe fails%s%s", c.Probe, asked(c, spec), log)
	case c.Kind == podcause.ProbeKilled:
		return fmt.Sprintf("was stopped because its %s probe failed%s%s%s", c.Probe, asked(c, spec), once, log)
	}
	text := describeExit(c, once)
	switch {
	case c.Perhaps && c.Code == 0:
		text += "; perhaps a liveness or startup probe failed: the events about the Pod are not known"
	case c.Perhaps:
		text += ", as if something stopped it, such as a failed liveness or startup probe"
	case c.Code == 0 && !c.Init:
		text += "; its program should run until it is stopped"
	}
	return text + log
}

// describeExit says with which code a container ended, and once or again and again.
func describeExit(c podcause.Cause, once string) string {
	text, times := fmt.Sprintf("exited with code %d", c.Code), once
	if c.Again {
		text, times = fmt.Sprintf("exits with code %d", c.Code), ", again and again"
	}
	if c.Kind == podcause.Ended && c.Reason != "" && c.Reason != "Error" && c.Reason != "Completed" {
		text += " (" + c.Reason + ")"
	}
	return text + times
}

// describeProbe says which probe of a running container does not succeed. That alone is not stalled: it may need time,
// and the Deployment's deadline decides when that is too long.
func describeProbe(pod *corev1.Pod, c podcause.Cause, spec *v1alpha1.WebAppSpec) string {
	what := "Pod " + pod.Name + " runs, but its"
	if c.Container != containerName {
		what = fmt.Sprintf("Pod %s runs, but the container %s is not ready: its", pod.Name, c.Container)
	}
	verb := "does not succeed"
	if c.Kind == podcause.NotStarted {
		verb = "has not succeeded"
	}
	text := fmt.Sprintf("%s %s probe %s%s", what, c.Probe, verb, asked(c, spec))
	if c.Earlier == nil {
		return text
	}
	times := "once"
	if c.Earlier.Again {
		times = "more than once"
	}
	return fmt.Sprintf("%s; it was restarted %s, %s", text, times, earlier(*c.Earlier))
}

// earlier says how an earlier run ended.
func earlier(c podcause.Cause) string {
	if c.Kind == podcause.OutOfMemory && !c.OfChild() {
		return "after it needed more memory than its limit"
	}
	if c.Kind == podcause.ProbeKilled {
		return fmt.Sprintf("after its %s probe failed", c.Probe)
	}
	return fmt.Sprintf("after exit code %d", c.Code)
}

// asked says what the probe of the application requests; other containers have probes of others.
func asked(c podcause.Cause, spec *v1alpha1.WebAppSpec) string {
	if c.Container != containerName {
		return ""
	}
	readiness, liveness, startup := probesOf(spec)
	switch c.Probe {
	case podcause.Liveness:
		return after(asks(liveness))
	case podcause.Startup:
		return after(asks(startup))
	case podcause.Readiness:
	}
	return after(asks(readiness))
}

// describeFailure says why a Pod failed.
func describeFailure(pod *corev1.Pod, c podcause.Cause) string {
	if c.Kind == podcause.Evicted {
		return fmt.Sprintf("Pod %s was evicted%s", pod.Name, after(c.Detail))
	}
	if c.Kind == podcause.Rejected {
		return fmt.Sprintf("the node %s rejected Pod %s%s", c.Node, pod.Name, after(cmp.Or(c.Detail, c.Reason)))
	}
	if c.Kind == podcause.Shutdown {
		return fmt.Sprintf("the node %s of Pod %s shut down", c.Node, pod.Name)
	}
	return fmt.Sprintf("Pod %s failed%s", pod.Name, after(cmp.Or(c.Detail, c.Reason)))
}

// after returns a text after a colon, empty without a text.
func after(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func userHint(message string) string {
	if strings.Contains(message, "runAsNonRoot") {
		return "; build the image with a USER that is a number other than 0"
	}
	return ""
}
