package resource

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/podcause"
)

func TestAPodsStateInWords(t *testing.T) {
	waiting := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	ended := func(code int32, reason string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, StartedAt: metav1.Unix(10, 0), FinishedAt: metav1.Unix(15, 0),
		}}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	with := func(phase corev1.PodPhase, state, last corev1.ContainerState,
		conditions ...corev1.PodCondition,
	) corev1.PodStatus {
		ready := slices.ContainsFunc(conditions, func(c corev1.PodCondition) bool { return c.Status == "True" })
		return corev1.PodStatus{Phase: phase, Conditions: conditions, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "app", Ready: ready, RestartCount: 3, State: state, LastTerminationState: last},
		}}
	}
	none := corev1.ContainerState{}
	containersReady := corev1.PodCondition{Type: corev1.ContainersReady, Status: "True"}
	for name, c := range map[string]struct {
		status corev1.PodStatus
		going  bool
		word   string
		text   string
		tone   string
	}{
		"ready": {with("Running", running, none, corev1.PodCondition{Type: corev1.PodReady, Status: "True"}), false, "Running and ready", "", "good"},
		"not ready": {
			with("Running", running, none, corev1.PodCondition{Type: corev1.PodReady, Status: "False"}),
			false, "Running, not ready", "It gets no requests until its readiness probe succeeds.", "busy",
		},
		"on its way": {with("Pending", waiting("ContainerCreating", ""), none), false, "Starting", "", "busy"},
		"fresh":      {corev1.PodStatus{Phase: "Pending"}, false, "Starting", "", "busy"},
		"no room": {
			corev1.PodStatus{Phase: "Pending", Conditions: []corev1.PodCondition{
				{
					Type: corev1.PodScheduled, Status: "False", Reason: "Unschedulable",
					Message: "0/2 nodes are available: 2 Insufficient cpu",
				},
			}},
			false, "Unschedulable",
			"Insufficient cpu.", "bad",
		},
		"no image":             {with("Pending", waiting("ErrImagePull", "manifest unknown"), none), false, "Image cannot be pulled", "Manifest unknown.", "bad"},
		"no image for long":    {with("Pending", waiting("ImagePullBackOff", "back-off pulling image"), none), false, "Image cannot be pulled", "Back-off pulling image.", "bad"},
		"no Secret":            {with("Pending", waiting("CreateContainerConfigError", `secret "db" not found`), none), false, "Configuration is missing", `Secret "db" not found.`, "bad"},
		"no such command":      {with("Pending", waiting("RunContainerError", "exec: no such file"), none), false, "Cannot be started", "exec: no such file.", "bad"},
		"crashing":             {with("Running", waiting("CrashLoopBackOff", ""), ended(2, "Error")), false, "Keeps crashing", "Exit code 2. Perhaps a liveness or startup probe failed. Kubernetes keeps restarting it.", "bad"},
		"out of memory":        {with("Running", ended(137, "OOMKilled"), none), false, "Keeps crashing", "Killed for using more memory than its limit (exit code 137, OOMKilled). Kubernetes keeps restarting it.", "bad"},
		"crashed":              {with("Running", ended(1, "Error"), none), false, "Keeps crashing", "Exit code 1. Perhaps a liveness or startup probe failed. Kubernetes keeps restarting it.", "bad"},
		"crashed for a reason": {with("Running", ended(128, "StartError"), none), false, "Cannot be started", "Exit code 128 (StartError).", "bad"},
		"evicted":              {corev1.PodStatus{Phase: "Failed", Reason: "Evicted", Message: "the node was low on memory"}, false, "Evicted", "The node was low on memory.", "bad"},
		"ended":                {corev1.PodStatus{Phase: "Succeeded"}, false, "Ended", "It is replaced. Its page says so if its node evicted it.", "idle"},
		"its node is away": {
			with("Running", running, none, containersReady, corev1.PodCondition{
				Type: corev1.PodReady, Status: "False",
			}),
			false, "Not known", "Its node node-1 does not answer.", "warn",
		},
		"its node shut down":  {corev1.PodStatus{Phase: "Failed", Reason: "Terminated", Message: "Pod was terminated in response to imminent node shutdown."}, false, "Ended", "Its node node-1 shut down.", "warn"},
		"its node refuses it": {corev1.PodStatus{Phase: "Failed", Reason: "OutOfcpu", Message: "Pod was rejected: Node didn't have enough resource: cpu"}, false, "Rejected by its node", "Node didn't have enough resource: cpu.", "bad"},
		"failed otherwise":    {corev1.PodStatus{Phase: "Failed", Reason: "DeadlineExceeded", Message: "it ran for too long"}, false, "Failed", "Deadline exceeded: it ran for too long.", "bad"},
		"held back": {corev1.PodStatus{Phase: "Pending", Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: "False", Reason: "SchedulingGated", Message: "waiting for a gate"},
		}}, false, "Held back", "Waiting for a gate.", "busy"},
		"its load balancer finds it unhealthy": {
			with("Running", running, none, containersReady, corev1.PodCondition{
				Type: corev1.PodReady, Status: "False", Reason: "ReadinessGatesNotReady",
				Message: `the status of pod readiness gate "lb/a" is not "True", but False`,
			}),
			false, "Running, not ready", "It gets no requests until its readiness gate opens: lb/a.", "busy",
		},
		"crashed, and not ready now": {
			with("Running", running, ended(5, "Error"), corev1.PodCondition{Type: corev1.PodReady, Status: "False"}),
			false, "Running, not ready", "It gets no requests until its readiness probe succeeds. It was restarted " +
				"more than once. Exit code 5.", "busy",
		},
		"stopped by something":   {with("Running", waiting("CrashLoopBackOff", ""), ended(143, "Error")), false, "Keeps crashing", "Exit code 143. Perhaps a liveness or startup probe failed. Kubernetes keeps restarting it.", "bad"},
		"going, whatever it was": {with("Running", waiting("CrashLoopBackOff", ""), none), true, "Terminating", "It finishes what it does, then it goes.", "idle"},
		"a failed preparation": {
			corev1.PodStatus{Phase: "Pending", InitContainerStatuses: []corev1.ContainerStatus{
				{Name: "migrate", State: ended(3, "Error")},
			}}, false, "Crashed", "In the container migrate: Exit code 3.", "bad",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "node-1"}, Status: c.status}
			if c.going {
				pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
			}
			got := podLook(pod, time.Now(), nil)
			if got.Word != c.word || got.Text != c.text || got.Tone != c.tone {
				t.Errorf("look = %+v, want %q, %q, %q", got, c.word, c.text, c.tone)
			}
			if got.Icon == "" {
				t.Error("Icon is empty")
			}
		})
	}
}

func TestTheEventsNameTheProbe(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Name: "app", RestartCount: 2, State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"},
		},
		LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"},
		},
	}}}}
	for want, kills := range map[string]podcause.Kills{
		"Keeps crashing: Exit code 0. Perhaps a liveness or startup probe failed. Kubernetes keeps restarting it.":                    nil,
		"Keeps crashing: Exit code 0. It should run until it is stopped. Kubernetes keeps restarting it.":                             {"app": ""},
		"Probe keeps failing: Kubernetes stopped it, because its liveness probe failed. Exit code 0. Kubernetes keeps restarting it.": {"app": podcause.Liveness},
	} {
		if l := podLook(pod, time.Now(), kills); l.Word+": "+l.Text != want {
			t.Errorf("%+v, want %q", l, want)
		}
	}
}

func TestWhatTheListOfPodsDoesNotKnow(t *testing.T) {
	ended := func(code int32, reason string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "app", RestartCount: 2, State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"},
			},
			LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code},
			},
		}}}}
	}
	const keeps = " Kubernetes keeps restarting it."
	for name, row := range map[string]struct {
		pod   *corev1.Pod
		kills podcause.Kills
		want  string
	}{
		"a probe could have had any exit code": {ended(1, "Error"), nil, "Exit code 1. Perhaps a liveness or startup probe failed." + keeps},
		"the events name none":                 {ended(1, "Error"), podcause.Kills{"app": ""}, "Exit code 1." + keeps},
		"memory of another process":            {ended(1, "OOMKilled"), nil, "Exit code 1, after a process in it was killed for memory (OOMKilled)." + keeps},
	} {
		if l := podLook(row.pod, time.Unix(1_000_000, 0), row.kills); l.Text != row.want {
			t.Errorf("%s: %q, want %q", name, l.Text, row.want)
		}
	}
	now := time.Unix(1_000_000, 0)
	pod := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		LastTransitionTime: metav1.Time{Time: now},
	}}}}
	for after, tone := range map[time.Duration]string{time.Minute: "busy", 2 * time.Minute: "bad"} {
		if l := podLook(pod, now.Add(after), nil); l.Word != "Unschedulable" || l.Tone != tone {
			t.Errorf("without a node for %s: %+v, want %s", after, l, tone)
		}
	}
	hook := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Name: "app", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "PostStartHookError", Message: "message: hunter2"},
		},
	}}}}
	if l := podLook(hook, now, nil); l.Text != "Post start hook error." {
		t.Errorf("a hook that fails: %+v", l)
	}
}

func TestFailedPodsHideNoneThatRun(t *testing.T) {
	var pods []*corev1.Pod
	for range 3 {
		pods = append(pods, &corev1.Pod{})
	}
	for range 40 {
		pods = append(pods, &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}})
	}
	if got := shown(pods); len(got) != 3+maxFailed {
		t.Errorf("%d Pods are shown", len(got))
	}
	if got := shown(pods[:2]); len(got) != 2 {
		t.Errorf("%d of 2 Pods are shown", len(got))
	}
}

func TestAPodThatDoesNotStartSaysWhatItWaitsFor(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{
		Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "app", State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"},
			},
		}},
	}}
	pod.CreationTimestamp = metav1.Time{Time: now.Add(-podcause.LongestStart)}
	if l := podLook(pod, now, nil); l.Word != "Does not start" || l.Tone != "warn" || l.Text != "Container creating." {
		t.Errorf("%+v", l)
	}
	if l := podLook(pod, now.Add(-time.Second), nil); l.Word != "Starting" || l.Tone != "busy" {
		t.Errorf("before the bound: %+v", l)
	}
}
