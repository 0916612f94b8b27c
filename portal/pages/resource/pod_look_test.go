package resource

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAPodsStateInWords(t *testing.T) {
	waiting := func(reason, message string) corev1.ContainerState {
		return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	}
	ended := func(code int32, reason string) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	with := func(phase corev1.PodPhase, state, last corev1.ContainerState,
		conditions ...corev1.PodCondition,
	) corev1.PodStatus {
		return corev1.PodStatus{Phase: phase, Conditions: conditions, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "app", State: state, LastTerminationState: last},
		}}
	}
	none := corev1.ContainerState{}
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
			"0/2 nodes are available: 2 Insufficient cpu.", "bad",
		},
		"no image":               {with("Pending", waiting("ErrImagePull", "manifest unknown"), none), false, "Image cannot be pulled", "Manifest unknown.", "bad"},
		"no image for long":      {with("Pending", waiting("ImagePullBackOff", "back-off pulling image"), none), false, "Image cannot be pulled", "Back-off pulling image.", "bad"},
		"no Secret":              {with("Pending", waiting("CreateContainerConfigError", `secret "db" not found`), none), false, "Configuration is missing", `Secret "db" not found.`, "bad"},
		"no such command":        {with("Pending", waiting("RunContainerError", "exec: no such file"), none), false, "Cannot be started", "exec: no such file.", "bad"},
		"crashing":               {with("Running", waiting("CrashLoopBackOff", ""), ended(2, "Error")), false, "Keeps crashing", "Exit code 2. Kubernetes keeps restarting it.", "bad"},
		"crashing unseen":        {with("Running", waiting("CrashLoopBackOff", ""), none), false, "Keeps crashing", "Kubernetes keeps restarting it.", "bad"},
		"out of memory":          {with("Running", ended(137, "OOMKilled"), none), false, "Crashed", "Killed for using more memory than its limit (exit code 137, OOMKilled).", "bad"},
		"crashed":                {with("Running", ended(1, "Error"), none), false, "Crashed", "Exit code 1.", "bad"},
		"crashed for a reason":   {with("Running", ended(128, "StartError"), none), false, "Crashed", "Exit code 128 (StartError).", "bad"},
		"evicted":                {corev1.PodStatus{Phase: "Failed", Reason: "Evicted", Message: "the node was low on memory"}, false, "Failed", "Evicted: the node was low on memory.", "bad"},
		"ended":                  {corev1.PodStatus{Phase: "Succeeded"}, false, "Ended", "", "idle"},
		"its node is away":       {corev1.PodStatus{Phase: "Running", Reason: "NodeLost"}, false, "Not known", "Its node does not answer.", "warn"},
		"going, whatever it was": {with("Running", waiting("CrashLoopBackOff", ""), none), true, "Terminating", "It finishes what it does, then it goes.", "idle"},
		"a failed preparation": {
			corev1.PodStatus{Phase: "Pending", InitContainerStatuses: []corev1.ContainerStatus{
				{Name: "migrate", State: ended(3, "Error")},
			}}, false, "Crashed", "Exit code 3.", "bad",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: c.status}
			if c.going {
				pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
			}
			got := podLook(pod)
			if got.Word != c.word || got.Text != c.text || got.Tone != c.tone {
				t.Errorf("look = %+v, want %q, %q, %q", got, c.word, c.text, c.tone)
			}
			if got.Icon == "" {
				t.Error("Icon is empty")
			}
		})
	}
}
