package resource

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/portal/humanize"
	"github.com/portico-platform/portico/web/views"
)

// podLook describes the state of a Pod: why it does not serve, or that it does. kills is what its events say, nil if
// they were not read.
func podLook(pod *corev1.Pod, now time.Time, kills podcause.Kills) views.Look {
	switch {
	case pod.DeletionTimestamp != nil:
		return views.Look{
			Word: "Terminating", Icon: "bin", Tone: "idle",
			Text: "It finishes what it does, then it goes.",
		}
	case pod.Status.Phase == corev1.PodSucceeded:
		return views.Look{
			Word: "Ended", Icon: "check", Tone: "idle",
			Text: "It is replaced. Its page says so if its node evicted it.",
		}
	}
	c := podcause.Of(pod, now, kills)
	if l := causeLook(c); l.Word != "" {
		if c.Container != "" && c.Container != podcause.App {
			l.Text = humanize.Join("In the container "+c.Container+":", l.Text)
		}
		return l
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			return views.Look{Word: "Running and ready", Icon: "check", Tone: "good"}
		}
	}
	return views.Look{Word: "Starting", Icon: "spin", Tone: "busy"}
}

func warn(word, icon, text string) views.Look {
	return views.Look{Word: word, Icon: icon, Tone: "warn", Text: text}
}

// causeLook describes a cause, briefly enough for a table; the zero Look if there is none.
func causeLook(c podcause.Cause) views.Look {
	bad := func(word, text string) views.Look {
		return views.Look{Word: word, Icon: "alert", Tone: "bad", Text: text}
	}
	busy := func(word, text string) views.Look {
		return views.Look{Word: word, Icon: "spin", Tone: "busy", Text: text}
	}
	detail := humanize.Sentence(c.Detail)
	switch c.Kind {
	case podcause.Unschedulable:
		say := busy
		if c.Stalled {
			say = bad
		}
		return say("Unschedulable", cmp.Or(detail, "No node takes it."))
	case podcause.Held:
		return busy("Held back", detail)
	case podcause.NodeSilent:
		return warn("Not known", "wait", fmt.Sprintf("Its node %s does not answer.", c.Node))
	case podcause.GateClosed:
		return busy("Running, not ready", "It gets no requests until its readiness gate opens: "+detail)
	case podcause.Hangs:
		return warn("Does not start", "wait", humanize.Sentence(humanize.Words(c.Reason)))
	case podcause.NoImage, podcause.NotCreated, podcause.NeverStarts:
		return bad(cannotStart(c), cmp.Or(detail, ending(c.End), humanize.Sentence(humanize.Words(c.Reason))))
	case podcause.Ended, podcause.OutOfMemory, podcause.ProbeKilled:
		return endLook(c)
	case podcause.NotStarted, podcause.NotReady:
		return busy("Running, not ready", humanize.Join(
			fmt.Sprintf("It gets no requests until its %s probe succeeds.", c.Probe), restarted(c.Earlier)))
	case podcause.NotFinished:
		return busy("Starting", "Its init container "+c.Container+" has not finished.")
	case podcause.Evicted:
		return bad("Evicted", detail)
	case podcause.Rejected:
		return bad("Rejected by its node", cmp.Or(detail, humanize.Sentence(humanize.Words(c.Reason))))
	case podcause.Shutdown:
		return warn("Ended", "alert", fmt.Sprintf("Its node %s shut down.", c.Node))
	case podcause.Failed:
		return bad("Failed", humanize.Sentence(said(c.Reason, c.Detail)))
	}
	return views.Look{}
}

// cannotStart names what is wrong with a container that does not start.
func cannotStart(c podcause.Cause) string {
	switch {
	case c.Reason == "ImageInspectError":
		return "Image cannot be read"
	case c.Kind == podcause.NoImage:
		return "Image cannot be pulled"
	case c.Reason == "CreateContainerConfigError":
		return "Configuration is missing"
	}
	return "Cannot be started"
}

// endLook describes a container that ended.
func endLook(c podcause.Cause) views.Look {
	l := views.Look{Word: "Crashed", Icon: "alert", Tone: "bad", Text: ending(c.End)}
	switch {
	case c.Kind == podcause.ProbeKilled:
		l.Word = "Probe fails"
		l.Text = fmt.Sprintf("Kubernetes stopped it, because its %s probe failed. %s", c.Probe, ending(c.End))
	case c.Perhaps, c.Kind == podcause.Ended && c.Unread:
		l.Text += " Perhaps a liveness or startup probe failed."
	case c.Kind == podcause.Ended && c.Code == 0 && !c.Init:
		l.Text += " It should run until it is stopped."
	}
	if c.Again {
		l.Word, l.Text = "Keeps crashing", l.Text+" Kubernetes keeps restarting it."
		if c.Kind == podcause.ProbeKilled {
			l.Word = "Probe keeps failing"
		}
	}
	return l
}

// restarted says how the run before this one ended; "" for none.
func restarted(c *podcause.Cause) string {
	if c == nil {
		return ""
	}
	times := "once"
	if c.Again {
		times = "more than once"
	}
	why := ending(c.End)
	if c.Kind == podcause.ProbeKilled {
		why = fmt.Sprintf("Its %s probe failed.", c.Probe)
	}
	return fmt.Sprintf("It was restarted %s. %s", times, why)
}

// containerLook describes the state of a container.
func containerLook(
	pod *corev1.Pod, s *corev1.ContainerStatus, init bool, now time.Time, kills podcause.Kills,
) views.Look {
	if l := causeLook(podcause.OfContainer(pod, s, init, now, kills)); l.Word != "" {
		return l
	}
	switch st := s.State; {
	case st.Terminated != nil:
		return views.Look{Word: "Ended", Icon: "check", Tone: "idle"}
	case st.Running != nil && s.Ready:
		return views.Look{Word: "Running and ready", Icon: "check", Tone: "good"}
	}
	return views.Look{Word: "Starting", Icon: "spin", Tone: "busy"}
}

// ending describes how a container ended, briefly enough for a table; "" if unknown.
func ending(t *corev1.ContainerStateTerminated) string {
	switch {
	case t == nil:
		return ""
	case t.Reason == "OOMKilled" && t.ExitCode != 137:
		return fmt.Sprintf("Exit code %d, after a process in it was killed for memory (OOMKilled).", t.ExitCode)
	case t.Reason == "OOMKilled":
		return fmt.Sprintf("Killed for using more memory than its limit (exit code %d, OOMKilled).", t.ExitCode)
	case t.Reason == "" || t.Reason == "Error" || t.Reason == "Completed":
		return fmt.Sprintf("Exit code %d.", t.ExitCode)
	}
	return fmt.Sprintf("Exit code %d (%s).", t.ExitCode, t.Reason)
}

// podLastWords returns the termination message of the container that ended last.
func podLastWords(pod *corev1.Pod) string {
	var last *corev1.ContainerStateTerminated
	for i := range pod.Status.ContainerStatuses {
		if t := podcause.LastEnd(&pod.Status.ContainerStatuses[i]); t != nil &&
			(last == nil || last.FinishedAt.Before(&t.FinishedAt)) {
			last = t
		}
	}
	if last == nil {
		return ""
	}
	return last.Message
}

// said joins a reason and its message, either of which can be missing.
func said(reason, message string) string {
	if reason == "" || message == "" {
		return humanize.Words(reason) + message
	}
	return humanize.Words(reason) + ": " + message
}
