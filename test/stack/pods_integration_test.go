//go:build integration

package stack_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// deploy creates a Deployment as teams do, with probes, and deletes it after the test.
func deploy(t *testing.T, name, image string, replicas int32) {
	t.Helper()
	probe := &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(8080)}},
		PeriodSeconds: 1, FailureThreshold: 5,
	}
	from := func(source *corev1.EnvVarSource) corev1.EnvVar {
		return corev1.EnvVar{Name: "SETTING", ValueFrom: source}
	}
	labels, no := map[string]string{"app": name}, false
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{AutomountServiceAccountToken: &no, Containers: []corev1.Container{{
					Name: "app", Image: image, TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
					ReadinessProbe: probe, StartupProbe: probe,
					Env: []corev1.EnvVar{
						{Name: "PLAIN", Value: "value"},
						from(&corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
							LocalObjectReference: corev1.LocalObjectReference{Name: "database"}, Key: "password",
						}}),
					},
					EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
						LocalObjectReference: corev1.LocalObjectReference{Name: "flags"},
					}}},
				}}},
			},
		},
	}
	c := clients(t, s.Admin).AppsV1().Deployments("payments")
	if _, err := c.Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

// podOf waits until the only Pod of a Deployment has a container that fulfils ok.
func podOf(t *testing.T, name, what string, ok func(corev1.ContainerStatus) bool) (pod corev1.Pod) {
	t.Helper()
	var last string
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("last seen of %s: %s", name, last)
		}
	})
	eventually(t, name+": "+what, time.Minute, func(ctx context.Context) (bool, error) {
		pods, err := clients(t, s.Admin).CoreV1().Pods("payments").List(
			ctx, metav1.ListOptions{LabelSelector: "app=" + name})
		if err != nil || len(pods.Items) != 1 || len(pods.Items[0].Status.ContainerStatuses) != 1 {
			return false, err
		}
		pod = pods.Items[0]
		last = pod.Status.String()
		return ok(pod.Status.ContainerStatuses[0]), nil
	})
	return pod
}

func waits(reason, message string) func(corev1.ContainerStatus) bool {
	return func(c corev1.ContainerStatus) bool {
		return c.State.Waiting != nil && c.State.Waiting.Reason == reason &&
			strings.HasPrefix(c.State.Waiting.Message, message)
	}
}

func backsOff(exitCode int32, reason, logged string) func(corev1.ContainerStatus) bool {
	return func(c corev1.ContainerStatus) bool {
		last := c.LastTerminationState.Terminated
		return waits("CrashLoopBackOff", "back-off 10s restarting failed container=app pod=")(c) &&
			c.RestartCount == 1 &&
			last != nil && last.ExitCode == exitCode && last.Reason == reason && strings.Contains(last.Message, logged)
	}
}

func runsUnready(started bool) func(corev1.ContainerStatus) bool {
	return func(c corev1.ContainerStatus) bool {
		return c.State.Running != nil && !c.Ready && c.Started != nil && *c.Started == started
	}
}

func TestTheImageDecidesHowAPodFails(t *testing.T) {
	const registry = "registry.invalid/team/"
	for _, c := range []struct {
		kind, what string
		phase      corev1.PodPhase
		event      string                              // REASON: MESSAGE, the beginning
		seen       []func(corev1.ContainerStatus) bool // one after the other
	}{
		{"pull", "the image is not there", corev1.PodPending, "BackOff: Back-off pulling image \"" + registry +
			"broken-pull:1.0\"", []func(corev1.ContainerStatus) bool{
			waits("ErrImagePull", "rpc error: code = NotFound desc = failed to pull and unpack image \""+registry),
			waits("ImagePullBackOff", "Back-off pulling image \""+registry+"broken-pull:1.0\": ErrImagePull: rpc "+
				"error: code = NotFound"),
		}},
		{
			"root", "the image runs as root", corev1.PodPending, "Failed: Error: container has runAsNonRoot",
			[]func(corev1.ContainerStatus) bool{
				waits("CreateContainerConfigError", "container has runAsNonRoot and image will run as root (pod: "+
					"\"broken-root-"),
			},
		},
		{
			"secret", "a Secret is missing", corev1.PodPending, `Failed: Error: secret "database" not found`,
			[]func(corev1.ContainerStatus) bool{
				waits("CreateContainerConfigError", `secret "database" not found`),
			},
		},
		{
			"configmap", "a ConfigMap is missing", corev1.PodPending, `Failed: Error: configmap "flags" not found`,
			[]func(corev1.ContainerStatus) bool{
				waits("CreateContainerConfigError", `configmap "flags" not found`),
			},
		},
		{"crash", "it exits again and again", corev1.PodRunning, "BackOff: Back-off restarting failed container app " +
			"in pod broken-crash-", []func(corev1.ContainerStatus) bool{
			backsOff(1, "Error", "FATAL giving up"),
			func(c corev1.ContainerStatus) bool { return c.State.Running != nil && c.RestartCount == 2 },
		}},
		{"memory", "it is killed for its memory", corev1.PodRunning, "BackOff: Back-off restarting failed container " +
			"app in pod broken-memory-", []func(corev1.ContainerStatus) bool{
			backsOff(137, "OOMKilled", "loading the catalogue"),
		}},
		{"startup", "it never starts", corev1.PodRunning, "Killing: Container app failed startup probe, will be " +
			"restarted", []func(corev1.ContainerStatus) bool{
			runsUnready(false), backsOff(143, "Error", "migrating"),
		}},
		{"readiness", "it is never ready", corev1.PodRunning, "Unhealthy: Readiness probe failed: ", []func(corev1.ContainerStatus) bool{runsUnready(true)}},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			name := "broken-" + c.kind
			deploy(t, name, registry+name+":1.0", 1)
			for i, seen := range c.seen {
				pod := podOf(t, name, fmt.Sprintf("%s (status %d)", c.what, i+1), seen)
				if pod.Status.Phase != c.phase {
					t.Errorf("phase %s, want %s", pod.Status.Phase, c.phase)
				}
				checkUnready(t, &pod)
			}
			awaitEvent(t, name, c.event)
		})
	}
}

// awaitEvent waits for an event about the Pod of a Deployment.
func awaitEvent(t *testing.T, deployment, begins string) {
	t.Helper()
	eventually(t, begins, 10*time.Second, func(ctx context.Context) (bool, error) {
		events, err := clients(t, s.Admin).CoreV1().Events("payments").List(
			ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Pod"})
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(events.Items, func(e corev1.Event) bool {
			return strings.HasPrefix(e.InvolvedObject.Name, deployment+"-") &&
				strings.HasPrefix(e.Reason+": "+e.Message, begins)
		}), nil
	})
}

func checkUnready(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	got := map[corev1.PodConditionType]corev1.PodCondition{}
	for _, condition := range pod.Status.Conditions {
		got[condition.Type] = condition
	}
	for _, is := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized} {
		if got[is].Status != corev1.ConditionTrue {
			t.Errorf("%s is %q", is, got[is].Status)
		}
	}
	for _, not := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		c := got[not]
		if c.Status != corev1.ConditionFalse || c.Reason != "ContainersNotReady" ||
			c.Message != "containers with unready status: [app]" {
			t.Errorf("%s: %+v", not, c)
		}
	}
}

// TestEveryReplicaOfAnImageFailsAlike checks the weights of the stages: without weights, kwok chooses at random among
// the stages that match.
func TestEveryReplicaOfAnImageFailsAlike(t *testing.T) {
	deploy(t, "many", "broken-secret", 40)
	pods := clients(t, s.Admin).CoreV1().Pods("payments")
	var failing int
	eventually(t, "all fail", time.Minute, func(ctx context.Context) (bool, error) {
		list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "app=many"})
		if err != nil {
			return false, err
		}
		failing = 0
		for i := range list.Items {
			if list.Items[i].Status.Phase == corev1.PodRunning {
				return false, fmt.Errorf("%s runs", list.Items[i].Name)
			}
			for _, c := range list.Items[i].Status.ContainerStatuses {
				if waits("CreateContainerConfigError", `secret "database" not found`)(c) {
					failing++
				}
			}
		}
		return failing == 40, nil
	})
}

func TestAnImageThatOnlyResemblesAFailingOneRuns(t *testing.T) {
	for name, image := range map[string]string{
		"healthy":   "registry.invalid/team/app:1.0",
		"unbroken":  "registry.invalid/team/unbroken-pull:1.0",
		"longer":    "registry.invalid/team/broken-pulley",
		"in-folder": "registry.invalid/broken-pull/app",
		"unknown":   "registry.invalid/broken-heart",
	} {
		deploy(t, name, image, 1)
		podOf(t, name, "started and ready", func(c corev1.ContainerStatus) bool {
			return c.State.Running != nil && c.Ready && c.Started != nil && *c.Started
		})
	}
}

func logOf(t *testing.T, pod string, options corev1.PodLogOptions) (string, error) {
	t.Helper()
	stream, err := clients(t, s.Admin).CoreV1().Pods("payments").GetLogs(pod, &options).Stream(t.Context())
	if err != nil {
		return "", err
	}
	defer func() { _ = stream.Close() }()
	data, err := io.ReadAll(stream)
	return string(data), err
}

func TestLogsAreReadThroughTheAPIServer(t *testing.T) {
	deploy(t, "logs", "registry.invalid/team/app:1.0", 1)
	pod := podOf(t, "logs", "runs", func(c corev1.ContainerStatus) bool { return c.Ready }).Name
	all, err := logOf(t, pod, corev1.PodLogOptions{})
	if err != nil || !strings.HasPrefix(all, "INFO  starting, version 1.4.2\nINFO  listening on :8080\n") {
		t.Fatalf("%q, %v", all, err)
	}
	two := int64(2)
	last, err := logOf(t, pod, corev1.PodLogOptions{TailLines: &two, Timestamps: true})
	if err != nil || strings.Count(last, "\n") != 2 {
		t.Fatalf("%q, %v", last, err)
	}
	for line := range strings.Lines(last) {
		stamp, _, _ := strings.Cut(line, " ")
		if _, err := time.Parse(time.RFC3339Nano, stamp); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	if previous, err := logOf(t, pod, corev1.PodLogOptions{Previous: true}); !refused(
		err, `previous terminated container "app" in pod "`+pod+`" not found`) {
		t.Errorf("the previous log of a container that never restarted: %q, %v", previous, err)
	}
	follow(t, clients(t, s.Admin), pod)
}

func refused(err error, message string) bool {
	return apierrors.IsBadRequest(err) && err.Error() == message
}

// follow reads what is written after the existing lines.
func follow(t *testing.T, c kubernetes.Interface, pod string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	none := int64(0)
	stream, err := c.CoreV1().Pods("payments").GetLogs(
		pod, &corev1.PodLogOptions{Follow: true, TailLines: &none}).Stream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	lines := bufio.NewReader(stream)
	for range 2 {
		if line, err := lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "INFO  GET /products/") {
			t.Fatalf("%q, %v", line, err)
		}
	}
}

func TestTheLogOfACrashIsKeptAndATooEarlyOneRefused(t *testing.T) {
	deploy(t, "crashed", "broken-crash", 1)
	deploy(t, "unpulled", "broken-pull", 1)
	crashed := podOf(t, "crashed", "backs off", backsOff(1, "Error", "FATAL giving up"))
	for _, previous := range []bool{false, true} {
		log, err := logOf(t, crashed.Name, corev1.PodLogOptions{Previous: previous, Follow: true})
		if want := crashed.Status.ContainerStatuses[0].LastTerminationState.Terminated.Message; err != nil ||
			log != want {
			t.Errorf("previous %v: %q, %v, want the termination message %q", previous, log, err, want)
		}
	}
	unpulled := podOf(t, "unpulled", "waits", waits("ErrImagePull", ""))
	if log, err := logOf(t, unpulled.Name, corev1.PodLogOptions{}); !refused(err, `container "app" in pod "`+
		unpulled.Name+`" is waiting to start: image can't be pulled`) {
		t.Errorf("%q, %v", log, err)
	}
}
