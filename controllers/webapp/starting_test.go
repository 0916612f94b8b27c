package webapp_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/webapp"
)

var noLongerReady = corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse}

// TestAStartDoesNotLastForEver: a version that is out stays Ready while Pods start, but not longer than five minutes.
func TestAStartDoesNotLastForEver(t *testing.T) {
	created := time.Unix(1_000_000, 0)
	waits := func(reason string) corev1.PodStatus {
		return corev1.PodStatus{
			Phase: corev1.PodPending, Conditions: []corev1.PodCondition{noLongerReady},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
			}},
		}
	}
	const why = "; kubectl describe pod -n payments shop-1-b says why"
	for name, row := range map[string]struct {
		node         string
		status       corev1.PodStatus
		reason, text string
	}{
		"a volume that cannot be mounted": {
			"node-1", waits("ContainerCreating"), "MinimumReplicasUnavailable",
			"Pod shop-1-b does not start: ContainerCreating" + why,
		},
		"an init container that never begins": {
			"node-1", waits("PodInitializing"), "MinimumReplicasUnavailable",
			"Pod shop-1-b does not start: PodInitializing" + why,
		},
		"no scheduler": {"", corev1.PodStatus{}, "MinimumReplicasUnavailable", "Pod shop-1-b has no node"},
		"a node that does nothing": {
			"node-1",
			corev1.PodStatus{Phase: corev1.PodPending},
			"MinimumReplicasUnavailable",
			"Pod shop-1-b does not become ready on its node node-1",
		},
		"a migration that hangs": {"node-1", corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{
			Name: "migrate", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}}, "MinimumReplicasUnavailable", "the init container migrate of Pod shop-1-b has not finished"},
		"a readiness gate": {"node-1", corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
			{
				Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady",
				Message: `the status of pod readiness gate "lb/a" is not "True", but False`,
			},
		}}, "ReadinessGatesNotReady", "Pod shop-1-b runs, and its readiness gate is closed: lb/a"},
		"a probe": {"node-1", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "app", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}}, "ProbeFailing", "Pod shop-1-b runs, but its readiness probe does not succeed: a TCP connection to " +
			"port 8080"},
	} {
		t.Run(name, func(t *testing.T) {
			l, set := rolledOut(t, 2)
			l.controller("1", out(2, 1))
			now := created.Add(time.Minute)
			rec := work(l.Cluster).(webapp.Reconciler)
			rec.Now, rec.Missing = func() time.Time { return now }, webapp.NewMissing()
			l.serving(set, "shop-1-a")
			pod := &corev1.Pod{ObjectMeta: at("shop-1-b"), Spec: corev1.PodSpec{NodeName: row.node}, Status: row.status}
			pod.CreationTimestamp = metav1.Time{Time: created}
			pod.Labels, pod.OwnerReferences = map[string]string{v1alpha1.LabelWebApp: "shop"}, owner(set.UID)
			if err := l.Create(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			if err := l.with(rec); err != nil || l.pass.NextLook() != 4*time.Minute {
				t.Errorf("after a minute: %v, another pass in %s, want Ready, 4 minutes", err, l.pass.NextLook())
			}
			now = created.Add(5 * time.Minute)
			l.is(l.with(rec), row.reason, "1 of 2 replicas available; "+row.text)
		})
	}
}

// serving adds a Pod of a version that is ready.
func (l *life) serving(set metav1.Object, name string) {
	l.t.Helper()
	pod := &corev1.Pod{ObjectMeta: at(name), Status: corev1.PodStatus{
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}}
	pod.Labels, pod.OwnerReferences = map[string]string{v1alpha1.LabelWebApp: "shop"}, owner(set.GetUID())
	if err := l.Create(l.t.Context(), pod); err != nil {
		l.t.Fatal(err)
	}
}

// TestPodsThatAreNotCreatedAreMissing checks that Pods that nobody creates are missing five minutes after each scaling.
func TestPodsThatAreNotCreatedAreMissing(t *testing.T) {
	l, set := rolledOut(t, 3)
	l.serving(set, "shop-1-a")
	l.controller("1", out(1, 1))
	now := time.Unix(1_000_000, 0)
	rec := work(l.Cluster).(webapp.Reconciler)
	rec.Now, rec.Missing = func() time.Time { return now }, webapp.NewMissing()
	ready := func(what string, again time.Duration) {
		t.Helper()
		if err := l.with(rec); err != nil || l.pass.NextLook() != again {
			t.Errorf("%s: %v, another pass in %s, want Ready, %s", what, err, l.pass.NextLook(), again)
		}
	}
	ready("the first pass", 5*time.Minute)
	now = now.Add(4 * time.Minute)
	ready("after four minutes", time.Minute)
	l.app.Spec.Replicas = new(int32(4))
	_ = l.with(rec)
	ready("after another scaling", 5*time.Minute)
	now = now.Add(5 * time.Minute)
	l.is(l.with(rec), "MinimumReplicasUnavailable",
		"1 of 4 replicas available; Kubernetes has created 1 of 4 Pods")
	for _, name := range []string{"shop-1-b", "shop-1-c", "shop-1-d"} {
		l.serving(set, name)
	}
	l.controller("1", out(4, 3))
	ready("they are there", 0)
	if err := l.Others.Delete(t.Context(), &corev1.Pod{ObjectMeta: at("shop-1-d")}); err != nil {
		t.Fatal(err)
	}
	ready("one is missing again", 5*time.Minute)
	now = now.Add(10 * time.Minute)
	l.controller("1", appsv1.DeploymentStatus{Replicas: 4, UpdatedReplicas: 3, AvailableReplicas: 3})
	l.is(l.with(rec), "RollingOut", "3 of 4 replicas updated")
	l.controller("1", out(4, 3))
	ready("a rollout was in between", 5*time.Minute)
}
