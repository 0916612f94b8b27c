package webapp_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/webapp"
)

// out returns the status of a Deployment whose version is out, with so many Pods of which so many are available.
func out(pods, available int32) appsv1.DeploymentStatus {
	return appsv1.DeploymentStatus{
		Replicas: pods, UpdatedReplicas: pods, AvailableReplicas: available,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
}

// rolledOut returns an app with one available replica, and its version.
func rolledOut(t *testing.T, replicas int32) (*life, *appsv1.ReplicaSet) {
	t.Helper()
	a := shop(nil)
	a.Spec.Replicas = &replicas
	l := begin(t, a)
	_ = l.sync()
	l.controller("1", out(replicas, replicas))
	set := l.version("shop-1", "1", l.app.Spec.Image, replicas)
	if err := l.sync(); err != nil {
		t.Fatal(err)
	}
	return l, set
}

// failed adds a Pod of a version that the node evicted at a time.
func (l *life) failed(set *appsv1.ReplicaSet, name, reason, message string, when time.Time) {
	l.t.Helper()
	pod := &corev1.Pod{ObjectMeta: at(name), Spec: corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: reason, Message: message,
		Conditions: []corev1.PodCondition{
			{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "TerminationByKubelet", LastTransitionTime: metav1.Time{Time: when}},
		},
	}}
	pod.CreationTimestamp = metav1.Time{Time: when.Add(-10 * time.Second)}
	pod.Labels, pod.OwnerReferences = map[string]string{"portico.dev/webapp": "shop"}, owner(set.UID)
	if err := l.Create(l.t.Context(), pod); err != nil {
		l.t.Fatal(err)
	}
}

const full = `Usage of EmptyDir volume "tmp" exceeds the limit "1Gi". `

func TestEvictionsOneAfterTheOtherNeedSomebody(t *testing.T) {
	l, set := rolledOut(t, 1)
	now := time.Unix(1_000_000, 0)
	rec := work(l.Cluster).(webapp.Reconciler)
	rec.Now = func() time.Time { return now }
	l.failed(set, "shop-1-a", "Evicted", full, now.Add(-time.Minute))
	if err := l.with(rec); err != nil {
		t.Errorf("one was replaced, and the replacement serves: %v", err)
	}
	l.controller("1", out(1, 0))
	l.is(l.with(rec), "Evicted", `0 of 1 replica available; Pod shop-1-a was evicted: Usage of EmptyDir volume "tmp" `+
		`exceeds the limit "1Gi"`)

	l.failed(set, "shop-1-b", "Evicted", full, now)
	const again = `its Pods are evicted again and again: Usage of EmptyDir volume "tmp" exceeds the limit "1Gi"`
	l.is(l.with(rec), "Evicted", again)
	l.controller("1", out(1, 1))
	err := l.with(rec)
	l.is(err, "Evicted", again)
	if wait, ok := engine.AsWait(err); !ok || !wait.Stalled || wait.After != 5*time.Minute {
		t.Errorf("outcome %+v, want stalled, and another pass in 5 minutes", wait)
	}
	now = now.Add(8 * time.Minute)
	if wait, _ := engine.AsWait(l.with(rec)); wait == nil || wait.After != time.Minute {
		t.Errorf("outcome %+v, want another pass when the first is ten minutes ago", wait)
	}
	now = now.Add(time.Minute)
	if err := l.with(rec); err != nil {
		t.Errorf("after ten minutes: %v", err)
	}
}

func TestPodsThatFailForOtherReasons(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for name, row := range map[string]struct {
		failed       [][2]string // reason, message
		reason, text string      // empty: Ready
	}{
		"a node without room": {
			[][2]string{
				{"OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu, requested: 500, used: 3900, capacity: 4000"},
				{"OutOfcpu", "Pod was rejected: Node didn't have enough resource: cpu, requested: 500, used: 3700, capacity: 4000"},
			},
			"PodRejected", "nodes reject its Pods again and again: Node didn't have enough resource: cpu",
		},
		"a node that lacks memory": {
			[][2]string{
				{"Evicted", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 91240Ki. Container app was using 812Mi, request is 256Mi, has larger consumption of memory. "},
				{"Evicted", "The node was low on resource: memory. Threshold quantity: 100Mi, available: 88Mi. Container app was using 901Mi, request is 256Mi, has larger consumption of memory. "},
			},
			"Evicted", "its Pods are evicted again and again: The node was low on resource: memory. Container app " +
				"used more than it requests",
		},
		"a node that shuts down under two": {
			[][2]string{
				{"Terminated", "Pod was terminated in response to imminent node shutdown."},
				{"Terminated", "Pod was terminated in response to imminent node shutdown."},
			}, "", "",
		},
		"something unknown": {
			[][2]string{{"Odd", "first"}, {"Odd", "second"}}, "PodFailed", "its Pods fail again and again: first",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, set := rolledOut(t, 1)
			for i, f := range row.failed {
				l.failed(set, "shop-1-"+string(rune('a'+i)), f[0], f[1], now.Add(-time.Duration(i+1)*time.Minute))
			}
			err := l.sync()
			if row.reason == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			l.is(err, row.reason, row.text)
		})
	}
}

func TestMorePodsAreNoNewVersion(t *testing.T) {
	l, set := rolledOut(t, 1)
	d := l.deployment()
	before := d.DeepCopy()
	set.Annotations["portico.dev/template-digest"] = webapp.TemplateDigest(&d.Spec.Template)
	set.Status.Replicas = 1
	if err := l.Others.Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	d.Generation = 2
	seen := func(pods, available int32) appsv1.DeploymentStatus {
		status := out(pods, available)
		status.ObservedGeneration = d.Generation
		return status
	}
	if err := l.Others.Patch(t.Context(), d, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	l.app.Spec.Replicas = new(int32(3))
	for _, step := range []struct {
		what   string
		status appsv1.DeploymentStatus
	}{
		{"the controller has not seen it", out(1, 1)},
		{"the Pods are created", seen(3, 1)},
		{"one is ready", seen(3, 2)},
	} {
		l.controller("1", step.status)
		if err := l.sync(); err != nil {
			t.Errorf("%s: %v", step.what, err)
		}
	}
	const rolled = "True Done 3 replicas of registry.example.com/shop:1.0.0, 1 still starting"
	if got := l.marked("RolledOut"); got != rolled {
		t.Errorf("RolledOut is %q", got)
	}
	l.controller("1", seen(3, 0))
	l.is(l.sync(), "MinimumReplicasUnavailable", "0 of 3 replicas available")

	l.app.Spec.Image = "registry.example.com/shop:2.0.0"
	l.controller("1", out(3, 3))
	l.is(l.sync(), "RollingOut", "the new version is being prepared; registry.example.com/shop:1.0.0 still serves")
}

func TestAReplicaThatIsLostIsNoNewVersionEither(t *testing.T) {
	l, set := rolledOut(t, 2)
	l.controller("1", out(2, 1))
	pod := &corev1.Pod{ObjectMeta: at("shop-1-b"), Spec: corev1.PodSpec{NodeName: "node-2"}, Status: corev1.PodStatus{
		Phase: corev1.PodRunning,
		Conditions: []corev1.PodCondition{
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
			{Type: corev1.PodReady, Status: corev1.ConditionFalse},
		},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "app", Ready: true}},
	}}
	pod.Labels, pod.OwnerReferences = map[string]string{"portico.dev/webapp": "shop"}, owner(set.UID)
	if err := l.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	l.is(l.sync(), "NodeNotReady", "1 of 2 replicas available; the node node-2 of Pod shop-1-b does not answer")
}

// reader counts the reads of events, and answers with an event that the kubelet writes.
type reader struct {
	client.Reader
	reads int
	fails error
	pod   types.UID
	says  string
	at    metav1.Time
	asked client.ListOptions
}

func (r *reader) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	r.reads++
	r.asked = *(&client.ListOptions{}).ApplyOptions(opts)
	into.(*corev1.EventList).Items = []corev1.Event{{
		Reason: "Killing", Message: r.says, LastTimestamp: r.at, InvolvedObject: corev1.ObjectReference{UID: r.pod},
	}}
	return r.fails
}

func TestTheProbeThatKillsIsLookedUpOnceForEachEnd(t *testing.T) {
	l, set := rolledOut(t, 1)
	l.controller("1", out(1, 0))
	events := &reader{fails: errors.New("forbidden"), says: "Container app failed liveness probe, will be restarted"}
	now := time.Unix(1_000_000, 0)
	rec := work(l.Cluster).(webapp.Reconciler)
	rec.Kills, rec.Now = webapp.NewKills(events), func() time.Time { return now }
	crash := func(at int64) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.Unix(at, 0)}}
	}
	l.pod(set, corev1.ContainerStatus{
		Name: "app", RestartCount: 1, LastTerminationState: crash(10),
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
	})
	pod := &corev1.Pod{ObjectMeta: at("shop-1-1")}
	if err := l.Others.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	events.pod = pod.UID
	const begins = "the container app of Pod shop-1-1 "
	const ends = "; read its log: kubectl logs -n payments shop-1-1 -c app --previous"
	for range 2 { // a read that fails is no absence
		l.is(l.with(rec), "CrashLoopBackOff", begins+"exits with code 0, again and again; perhaps a liveness or "+
			"startup probe failed: the events about the Pod are not known"+ends)
	}
	const killed = begins + "is stopped again and again, because its liveness probe fails: a TCP connection to port " +
		"8080" + ends
	if events.fails = nil; events.reads != 1 {
		t.Errorf("%d reads, want none for a minute after one that failed", events.reads)
	}
	now = now.Add(time.Minute)
	for range 3 {
		l.is(l.with(rec), "ProbeFailing", killed)
	}
	if events.reads != 2 {
		t.Errorf("%d reads, want no more once it is known", events.reads)
	}
	of, _ := events.asked.FieldSelector.RequiresExactMatch("involvedObject.uid")
	reason, _ := events.asked.FieldSelector.RequiresExactMatch("reason")
	if got, want := []any{events.asked.Limit, events.asked.Namespace, of, reason}, []any{
		int64(10), "payments", string(pod.UID), "Killing",
	}; !slices.Equal(got, want) {
		t.Errorf("limit, namespace, UID, reason = %v, want %v", got, want)
	}
	events.says = "Stopping container app" // the kubelet drops events of a Pod that has many
	pod.Status.ContainerStatuses[0].RestartCount, pod.Status.ContainerStatuses[0].LastTerminationState = 2, crash(20)
	if err := l.Others.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	l.is(l.with(rec), "ProbeFailing", killed)
	if events.reads != 3 {
		t.Errorf("%d reads, want one for the next end", events.reads)
	}
}

func TestAnEventThatArrivesLaterThanTheStatusIsFound(t *testing.T) {
	l, set := rolledOut(t, 1)
	l.controller("1", out(1, 0))
	events := &reader{says: "Stopping container app"}
	now := time.Unix(1_000_000, 0)
	rec := work(l.Cluster).(webapp.Reconciler)
	rec.Kills, rec.Now = webapp.NewKills(events), func() time.Time { return now }
	l.pod(set, corev1.ContainerStatus{
		Name: "app", RestartCount: 1, LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 143, FinishedAt: metav1.Time{Time: now}},
		},
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
	})
	pod := &corev1.Pod{ObjectMeta: at("shop-1-1")}
	if err := l.Others.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	wait, _ := engine.AsWait(l.with(rec))
	if wait == nil || wait.Reason != "CrashLoopBackOff" || wait.After != 5*time.Second {
		t.Fatalf("outcome %+v, want CrashLoopBackOff, and another pass in 5 seconds", wait)
	}
	events.pod, events.says = pod.UID, "Container app failed startup probe, will be restarted"
	now = now.Add(4 * time.Second)
	if wait, _ = engine.AsWait(l.with(rec)); wait == nil || wait.Reason != "ProbeFailing" {
		t.Errorf("outcome %+v, want ProbeFailing", wait)
	}
	if _ = l.with(rec); events.reads != 2 {
		t.Errorf("%d reads, want 2", events.reads)
	}
}

func TestThatNoProbeEndedItIsKnownAfterAWhile(t *testing.T) {
	l, set := rolledOut(t, 1)
	l.controller("1", out(1, 0))
	events := &reader{says: "Stopping container app"}
	now := time.Unix(1_000_000, 0)
	rec := work(l.Cluster).(webapp.Reconciler)
	rec.Kills, rec.Now = webapp.NewKills(events), func() time.Time { return now }
	l.pod(set, corev1.ContainerStatus{
		Name: "app", RestartCount: 1, LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, FinishedAt: metav1.Time{Time: now}},
		},
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
	})
	for range 2 {
		_ = l.with(rec)
	}
	now = now.Add(6 * time.Second)
	for range 3 {
		_ = l.with(rec)
	}
	if events.reads != 3 {
		t.Errorf("%d reads, want two while an event may arrive, and one after", events.reads)
	}
}
