package webapp

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/podcause"
	"github.com/portico-platform/portico/api/v1alpha1"
)

const image = "registry.example.com/shop:1.0.0"

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func ended(code int32, reason, message string) corev1.ContainerState {
	return corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, Message: message,
			StartedAt: metav1.Unix(999_900, 0), FinishedAt: metav1.Unix(999_905, 0),
		},
	}
}

// runs returns the state of a container that has run for so many seconds.
func runs(seconds int64) corev1.ContainerState {
	return corev1.ContainerState{
		Running: &corev1.ContainerStateRunning{StartedAt: metav1.Unix(1_000_000-seconds, 0)},
	}
}

var running = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}

// status returns the status of the application's container.
func status(state, last corev1.ContainerState, change ...func(*corev1.ContainerStatus)) corev1.ContainerStatus {
	c := corev1.ContainerStatus{Name: containerName, Image: image, State: state, LastTerminationState: last}
	for _, do := range change {
		do(&c)
	}
	return c
}

func restarts(n int32) func(*corev1.ContainerStatus) {
	return func(c *corev1.ContainerStatus) { c.RestartCount = n }
}

func started(yes bool) func(*corev1.ContainerStatus) {
	return func(c *corev1.ContainerStatus) { c.Started = &yes }
}

func ready(c *corev1.ContainerStatus) { c.Ready = true }

func podWith(all ...corev1.ContainerStatus) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "shop-1"}, Status: corev1.PodStatus{
		ContainerStatuses: all,
	}}
}

var nothing = corev1.ContainerState{}

const readLog = "; read its log: kubectl logs -n payments shop-1 -c app --previous"

// judge returns a reconciliation that only judges Pods.
func judge(spec *v1alpha1.WebAppSpec) *reconciliation {
	return &reconciliation{
		Reconciler: Reconciler{Now: func() time.Time { return time.Unix(1_000_000, 0) }},
		app:        &v1alpha1.WebApp{Spec: *spec},
	}
}

// Each row is the history of one Pod. The text must be the same in all states, or each would change the status.
func TestTheTextOfACauseIsTheSameOverAllItsStates(t *testing.T) {
	const log = "INFO  starting\nFATAL giving up after 3 attempts\n"
	const pull = `rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop:1.0.0": not found`
	pod := ` pod=shop-1_payments(0b1e)`
	crash, memory := ended(1, "Error", log), ended(137, "OOMKilled", "")
	for name, row := range map[string]struct {
		states []corev1.ContainerStatus
		reason string
		text   string
	}{
		"a crash loop": {[]corev1.ContainerStatus{
			status(crash, crash, restarts(1)),
			status(waiting("CrashLoopBackOff", "back-off 10s restarting failed container=app"+pod), crash, restarts(1)),
			status(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}, crash, restarts(1)),
			status(runs(3), crash, restarts(2), started(false)),
			status(runs(9), crash, restarts(2), started(true)),
			status(crash, crash, restarts(2)),
			status(waiting("CrashLoopBackOff", "back-off 5m0s restarting failed container=app"+pod),
				crash, restarts(9)),
		}, "CrashLoopBackOff", "the container app of Pod shop-1 exits with code 1, again and again" + readLog},
		"too little memory": {[]corev1.ContainerStatus{
			status(memory, memory, restarts(1)),
			status(runs(5), memory, restarts(2), started(false)),
			status(waiting("CrashLoopBackOff", "back-off 20s restarting failed container=app"+pod),
				memory, restarts(2)),
		}, "OOMKilled", "the container app of Pod shop-1 needs more memory than its limit and is killed, again " +
			"and again"},
		"a process that the kubelet kills": {[]corev1.ContainerStatus{
			status(runs(5), ended(137, "Error", ""), restarts(2), started(false)),
			status(waiting("CrashLoopBackOff", "back-off 10s"), ended(137, "Error", ""), restarts(2)),
		}, "CrashLoopBackOff", "the container app of Pod shop-1 exits with code 137, again and again, as if " +
			"something stopped it, such as a failed liveness or startup probe" + readLog},
		"an entrypoint that is not there": {[]corev1.ContainerStatus{
			status(ended(128, "StartError", "exec: no such file"), nothing),
			status(waiting("CrashLoopBackOff", "back-off 10s"), ended(128, "StartError", "exec: no such file"),
				restarts(1)),
		}, "CrashLoopBackOff", "the container app of Pod shop-1 cannot start: exec: no such file"},
		"an image that cannot be pulled": {[]corev1.ContainerStatus{
			status(waiting("ErrImagePull", pull), nothing),
			status(waiting("ImagePullBackOff",
				`Back-off pulling image "registry.example.com/shop:1.0.0": ErrImagePull: `+pull), nothing),
		}, "ImagePullBackOff", "the image " + image + " cannot be pulled: " + pull},
		"an image that cannot be pulled, for an unknown reason": {[]corev1.ContainerStatus{
			status(waiting("ErrImagePull", ""), nothing),
			status(waiting("ImagePullBackOff", `Back-off pulling image "registry.example.com/shop:1.0.0"`), nothing),
		}, "ImagePullBackOff", "the image " + image + " cannot be pulled"},
		"a name that is no image": {[]corev1.ContainerStatus{
			status(waiting("InvalidImageName", "couldn't parse image name"), nothing),
		}, "InvalidImageName", "the image " + image + " cannot be pulled: couldn't parse image name"},
		"a Secret that is not there": {[]corev1.ContainerStatus{
			status(waiting("CreateContainerConfigError", `secret "settings" not found`), nothing),
		}, "CreateContainerConfigError", `the container app of Pod shop-1 cannot start: secret "settings" not found`},
		"an image that runs as root": {[]corev1.ContainerStatus{
			status(waiting("CreateContainerConfigError",
				`container has runAsNonRoot and image will run as root (pod: "shop-1_payments(0b1e)", container: app)`),
				nothing),
		}, "CreateContainerConfigError", "the container app of Pod shop-1 cannot start: container has runAsNonRoot " +
			"and image will run as root; build the image with a USER that is a number other than 0"},
	} {
		t.Run(name, func(t *testing.T) {
			for i, state := range row.states {
				c := judge(&v1alpha1.WebAppSpec{Port: 8080}).podProblem(podWith(state), nil)
				if c.reason != row.reason || c.text != row.text || !c.stalled {
					t.Errorf("state %d: got %+v", i, c)
				}
			}
		})
	}
}

func TestPodCause(t *testing.T) {
	sidecar := corev1.ContainerStatus{Name: "proxy", Image: "proxy:1"}
	spec := &v1alpha1.WebAppSpec{
		Port: 8080, Probes: &v1alpha1.WebAppProbes{
			Readiness: &v1alpha1.WebAppProbe{Path: "/ready"},
			Startup:   &v1alpha1.WebAppProbe{Port: 9090},
		},
	}
	for name, row := range map[string]struct {
		pod     *corev1.Pod
		kills   podcause.Kills
		reason  string
		text    string
		stalled bool
	}{
		"a healthy Pod":          {pod: podWith(status(running, nothing, ready))},
		"healthy after crashes":  {pod: podWith(status(running, ended(1, "Error", "x"), restarts(3), ready))},
		"still being created":    {pod: podWith(status(waiting("ContainerCreating", ""), nothing))},
		"still without a status": {pod: podWith()},
		"not ready yet": {
			pod: podWith(status(running, nothing, started(true))), reason: "ProbeFailing",
			text: "Pod shop-1 runs, but its readiness probe does not succeed: GET /ready on port 8080",
		},
		"not started yet": {
			pod: podWith(status(running, nothing, started(false))), reason: "ProbeFailing",
			text: "Pod shop-1 runs, but its startup probe has not succeeded: a TCP connection to port 9090",
		},
		"a sidecar that is not ready": {
			pod:    podWith(status(running, nothing, ready), corev1.ContainerStatus{Name: "proxy", State: running}),
			reason: "ProbeFailing",
			text:   "Pod shop-1 runs, but the container proxy is not ready: its readiness probe does not succeed",
		},
		"a sidecar that crashes": {
			pod: podWith(func() corev1.ContainerStatus {
				c := sidecar
				c.State, c.RestartCount = ended(2, "Error", ""), 1
				return c
			}(), status(running, nothing, ready)), reason: "CrashLoopBackOff", stalled: true,
			text: "the container proxy of Pod shop-1 exits with code 2, again and again; read its log: kubectl logs " +
				"-n payments shop-1 -c proxy --previous",
		},
		"an injected init container that fails": {
			pod: &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "shop-1"},
				Status: corev1.PodStatus{
					InitContainerStatuses: []corev1.ContainerStatus{
						{
							Name: "init", State: waiting("CrashLoopBackOff", "back-off 10s"),
							LastTerminationState: ended(1, "Error", ""), RestartCount: 2,
						},
					},
					ContainerStatuses: []corev1.ContainerStatus{status(waiting("PodInitializing", ""), nothing)},
				},
			}, reason: "CrashLoopBackOff", stalled: true,
			text: "the container init of Pod shop-1 exits with code 1, again and again; read its log: kubectl logs " +
				"-n payments shop-1 -c init --previous",
		},
		"an init container that is done, and an application that is not": {
			pod: &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "shop-1"},
				Status: corev1.PodStatus{
					InitContainerStatuses: []corev1.ContainerStatus{
						{Name: "init", Ready: true, State: ended(0, "Completed", "")},
						{Name: "mesh", Ready: true, State: running},
					},
					ContainerStatuses: []corev1.ContainerStatus{status(running, nothing, started(true))},
				},
			}, reason: "ProbeFailing",
			text: "Pod shop-1 runs, but its readiness probe does not succeed: GET /ready on port 8080",
		},
		"a child that needed too much memory": {
			pod:    podWith(status(ended(1, "OOMKilled", ""), ended(1, "OOMKilled", ""), restarts(2))),
			reason: "OOMKilled", stalled: true,
			text: "the container app of Pod shop-1 exits with code 1, again and again; a process in it was killed " +
				"for memory" + readLog,
		},
		"a hook that fails": {
			pod:    podWith(status(waiting("PostStartHookError", "failed, message: hunter2"), nothing)),
			reason: "PostStartHookError", stalled: true,
			text: "the container app of Pod shop-1 cannot start: PostStartHookError",
		},
		"an end that is the first": {
			pod: podWith(status(ended(5, "Error", ""), nothing)), reason: "CrashLoopBackOff",
			text: "the container app of Pod shop-1 exited with code 5; Kubernetes restarts it" + readLog,
		},
		"one that crashed once, and is not ready now": {
			pod: podWith(status(runs(540), ended(5, "Error", ""), restarts(1), started(true))), reason: "ProbeFailing",
			text: "Pod shop-1 runs, but its readiness probe does not succeed: GET /ready on port 8080; it was " +
				"restarted once, after exit code 5",
		},
		"a loop that is over": {
			pod: podWith(status(runs(61), ended(5, "Error", ""), restarts(4), started(true))), reason: "ProbeFailing",
			text: "Pod shop-1 runs, but its readiness probe does not succeed: GET /ready on port 8080; it was " +
				"restarted more than once, after exit code 5",
		},
		"a program that ends by itself": {
			pod:   podWith(status(waiting("CrashLoopBackOff", "back-off 10s"), ended(0, "Completed", ""), restarts(1))),
			kills: podcause.Kills{containerName: ""}, reason: "CrashLoopBackOff", stalled: true,
			text: "the container app of Pod shop-1 exits with code 0, again and again; its program should run until " +
				"it is stopped" + readLog,
		},
		"a program that ends well, and nobody knows why": {
			pod:    podWith(status(waiting("CrashLoopBackOff", "x"), ended(0, "Completed", ""), restarts(1))),
			reason: "CrashLoopBackOff", stalled: true,
			text: "the container app of Pod shop-1 exits with code 0, again and again; perhaps a liveness or startup " +
				"probe failed: the events about the Pod are not known" + readLog,
		},
		"a liveness probe that stops a program, which exits with its own code": {
			pod:   podWith(status(waiting("CrashLoopBackOff", "back-off 10s"), ended(1, "Error", ""), restarts(3))),
			kills: podcause.Kills{containerName: podcause.Liveness}, reason: "ProbeFailing", stalled: true,
			text: "the container app of Pod shop-1 is stopped again and again, because its liveness probe fails: a " +
				"TCP connection to port 8080" + readLog,
		},
		"a startup probe that stopped it once": {
			pod:   podWith(status(runs(5), ended(143, "Error", ""), restarts(1), started(false))),
			kills: podcause.Kills{containerName: podcause.Startup}, reason: "ProbeFailing",
			text: "Pod shop-1 runs, but its startup probe has not succeeded: a TCP connection to port 9090; it was " +
				"restarted once, after its startup probe failed",
		},
		"a node that does not answer": {
			pod: unanswered(""), reason: "NodeNotReady", text: "the node node-3 of Pod shop-1 does not answer",
		},
		"a load balancer that finds it unhealthy": {
			pod: unanswered("ReadinessGatesNotReady"), reason: "ReadinessGatesNotReady",
			text: "Pod shop-1 runs, and its readiness gate is closed: target-health.elbv2.k8s.aws/k8s-payments-shop " +
				"(Health checks failed with these codes: [503])",
		},
		"no node has room": {
			pod:    scheduled(corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 Insufficient cpu."),
			reason: "Unschedulable", stalled: true,
			text: "no node takes a Pod: Insufficient cpu",
		},
		"held back by a scheduling gate": {
			pod: scheduled(corev1.PodReasonSchedulingGated, "gated"), reason: "Unschedulable",
			text: "a Pod is held back: gated",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c := judge(spec).podProblem(row.pod, row.kills); c.reason != row.reason || c.text != row.text ||
				c.stalled != row.stalled {
				t.Errorf("got %+v", c)
			}
		})
	}
}

// unanswered returns a Pod whose containers are ready, and which is not.
func unanswered(reason string) *corev1.Pod {
	const gate = "target-health.elbv2.k8s.aws/k8s-payments-shop"
	pod := podWith(status(running, nothing, ready))
	pod.Spec.NodeName = "node-3"
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
		{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: reason},
	}
	if reason != "" {
		pod.Status.Conditions[2].Message = `the status of pod readiness gate "` + gate + `" is not "True", but False`
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: gate, Status: corev1.ConditionFalse, Reason: "Target.FailedHealthChecks",
			Message: "Health checks failed with these codes: [503]",
		})
	}
	return pod
}

func scheduled(reason, message string) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message},
	}}}
}

func TestRefusedPods(t *testing.T) {
	for name, row := range map[string]struct{ message, reason, text string }{
		"a quota": {
			`pods "shop-7d9f-x2x4z" is forbidden: exceeded quota: team, requested: cpu=1, used: cpu=4, limited: cpu=4`,
			"QuotaExceeded", "the quota of the namespace is used up: team, requested: cpu=1, used: cpu=4, " +
				"limited: cpu=4",
		},
		"a LimitRange": {
			`pods "shop-7d9f-q8q8q" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi`,
			"FailedCreate", "the cluster refuses the Pods: maximum memory usage per Container is 1Gi, but limit is 2Gi",
		},
		"Pod Security": {
			`pods "shop-7d9f-abcde" is forbidden: violates PodSecurity "restricted:latest": seccompProfile`,
			"FailedCreate", `the cluster refuses the Pods: violates PodSecurity "restricted:latest": seccompProfile`,
		},
		"a webhook": {`admission webhook "x" denied the request: no`, "FailedCreate", `the cluster refuses the Pods: admission webhook "x" denied the request: no`},
	} {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.ReplicaSet{Status: appsv1.ReplicaSetStatus{Conditions: []appsv1.ReplicaSetCondition{
				{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: row.message},
			}}}
			if c := replicaSetProblem(set); c.reason != row.reason || c.text != row.text || !c.stalled {
				t.Errorf("got %+v", c)
			}
			set.Status.Conditions[0].Status = corev1.ConditionFalse
			if c := replicaSetProblem(set); c.text != "" {
				t.Errorf("a refusal that is over: %+v", c)
			}
		})
	}
}

func worst(t *testing.T, s runtimeState) problem {
	t.Helper()
	return judge(&v1alpha1.WebAppSpec{}).problem(t.Context(), s)
}

func TestTheWorstPodOfTheWantedVersionIsTold(t *testing.T) {
	p := pictureOf(version("new", 2, image, 0), version("old", 1, "old", 1))
	p.pods = []corev1.Pod{
		podOf("old", "shop-old", status(waiting("CreateContainerError", "old news"), nothing)),
		podOf("new", "shop-slow", status(running, nothing)),
		podOf("new", "shop-bad", status(waiting("CreateContainerError", "no space"), nothing)),
		podOf("new", "shop-worse", status(waiting("CreateContainerError", "second"), nothing)),
	}
	if c := worst(t, p); c.text != "the container app of Pod shop-bad cannot start: no space" {
		t.Errorf("got %+v", c)
	}
	p.pods[2].DeletionTimestamp = &metav1.Time{}
	p.pods[3].Status.Phase, p.pods[3].CreationTimestamp = corev1.PodFailed, metav1.Unix(1, 0)
	if c := worst(t, p); !strings.HasPrefix(c.text, "Pod shop-slow runs") {
		t.Errorf("Pods that are going or failed long ago count: %+v", c)
	}
	p.sets[0].Status.Conditions = []appsv1.ReplicaSetCondition{
		{Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota: q"},
	}
	if c := worst(t, p); c.reason != "QuotaExceeded" {
		t.Errorf("what cannot be created does not come first: %+v", c)
	}
	p.deployment.Generation = 9
	if c := worst(t, p); c.text != "" {
		t.Errorf("a version of before is blamed: %+v", c)
	}
}
