package webapp_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/webapp"
)

// crashes is an app whose only Pod crashes, with the events about it.
type crashes struct {
	*life
	rec    webapp.Reconciler
	now    time.Time
	events *reader
	pod    *corev1.Pod
}

const (
	byProbe   = "Container app failed liveness probe, will be restarted"
	byNoProbe = "Stopping container app"
	exitsEnd  = "; read its log: kubectl logs -n payments shop-1-1 -c app --previous"
	exits     = "the container app of Pod shop-1-1 exits with code 1, again and again" + exitsEnd
	isStopped = "the container app of Pod shop-1-1 is stopped again and again, because its liveness probe fails: " +
		"a TCP connection to port 8080" + exitsEnd
	endsUnsaid = "the container app of Pod shop-1-1 exits with code 0, again and again; perhaps a liveness or " +
		"startup probe failed: the events about the Pod are not known" + exitsEnd
	endsItself = "the container app of Pod shop-1-1 exits with code 0, again and again; its program should run " +
		"until it is stopped" + exitsEnd
)

func crashing(t *testing.T) *crashes {
	t.Helper()
	l, set := rolledOut(t, 1)
	l.controller("1", out(1, 0))
	c := &crashes{life: l, now: time.Unix(1_000_000, 0), events: &reader{}, rec: work(l.Cluster).(webapp.Reconciler)}
	c.rec.Kills, c.rec.Now = webapp.NewKills(c.events), func() time.Time { return c.now }
	l.pod(set, corev1.ContainerStatus{Name: "app"})
	c.pod = &corev1.Pod{ObjectMeta: at("shop-1-1")}
	if err := l.Others.Get(t.Context(), client.ObjectKeyFromObject(c.pod), c.pod); err != nil {
		t.Fatal(err)
	}
	c.events.pod = c.pod.UID
	return c
}

// ends lets the container end with a code after a run, for the nth time, and says what the events have.
func (c *crashes) ends(restarts, code int32, run time.Duration, says string) {
	c.t.Helper()
	c.events.says, c.events.at = says, metav1.Time{Time: c.now.Add(-time.Minute)}
	ended := c.now.Add(time.Duration(restarts)*time.Second - time.Minute)
	c.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "app", RestartCount: restarts,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, FinishedAt: metav1.Time{Time: ended}, StartedAt: metav1.Time{Time: ended.Add(-run)},
		}},
	}}
	if err := c.Others.Status().Update(c.t.Context(), c.pod); err != nil {
		c.t.Fatal(err)
	}
}

func (c *crashes) says(what, reason, text string) {
	c.t.Helper()
	if wait, ok := engine.AsWait(c.with(c.rec)); !ok || wait.Reason != reason || wait.Error() != text {
		c.t.Errorf("%s: outcome %+v, want %s: %s", what, wait, reason, text)
	}
}

func TestAProbeThatKilledOnceIsNotTheCauseForEver(t *testing.T) {
	for name, row := range map[string]struct {
		code         int32
		run, pause   time.Duration
		reason, text string
	}{
		"a run as long":               {1, 50 * time.Second, 5 * time.Minute, "ProbeFailing", isStopped},
		"a run of half the time":      {1, 30 * time.Second, 5 * time.Minute, "ProbeFailing", isStopped},
		"a run that was much shorter": {1, 5 * time.Second, 5 * time.Minute, "CrashLoopBackOff", exits},
		"an end much later":           {1, time.Minute, 31 * time.Minute, "CrashLoopBackOff", exits},
		"another exit code":           {0, time.Minute, 5 * time.Minute, "CrashLoopBackOff", endsItself},
	} {
		c := crashing(t)
		c.ends(1, 1, time.Minute, byProbe)
		c.says("the probe", "ProbeFailing", isStopped)
		c.now = c.now.Add(row.pause)
		c.ends(2, row.code, row.run, byNoProbe)
		c.says(name, row.reason, row.text)
	}
}

func TestEventsThatAreDroppedSayNothing(t *testing.T) {
	c := crashing(t)
	c.ends(4, 0, time.Minute, byNoProbe)
	for range 3 {
		c.says("many restarts", "CrashLoopBackOff", endsUnsaid)
	}
	if c.events.reads != 1 {
		t.Errorf("%d reads of the events of one end", c.events.reads)
	}
	c = crashing(t)
	for restarts := range int32(6) {
		c.ends(restarts+1, 0, time.Minute, byNoProbe)
		c.says("it was known before", "CrashLoopBackOff", endsItself)
		c.now = c.now.Add(5 * time.Minute)
	}
	c = crashing(t)
	for restarts := range int32(6) {
		c.ends(restarts+1, 0, time.Duration(1-restarts%2)*time.Second, byNoProbe)
		c.says("runs of a second or less", "CrashLoopBackOff", endsItself)
		c.now = c.now.Add(time.Minute)
	}
}

func TestReadsOfEventsAreBounded(t *testing.T) {
	c := crashing(t)
	c.events.fails = errors.New("timeout")
	c.ends(1, 0, time.Minute, byProbe)
	for range 3 {
		wait, _ := engine.AsWait(c.with(c.rec))
		if wait == nil || wait.After != time.Minute {
			t.Errorf("outcome %+v, want another pass in a minute", wait)
		}
	}
	if c.events.reads != 1 {
		t.Errorf("%d reads within the minute after one that failed, want 1", c.events.reads)
	}
	c.events.fails, c.now = nil, c.now.Add(time.Minute)
	c.says("after a minute", "ProbeFailing", isStopped)

	c = crashing(t)
	for i := range int32(30) {
		c.ends(i+1, 10+i, time.Minute, byNoProbe)
		_ = c.with(c.rec)
	}
	if c.events.reads != 20 {
		t.Errorf("%d reads at once, want 20", c.events.reads)
	}
	wait, _ := engine.AsWait(c.with(c.rec))
	if wait == nil || wait.After != 5*time.Second {
		t.Errorf("outcome %+v, want another pass in 5 seconds", wait)
	}
	c.now = c.now.Add(time.Second)
	if _ = c.with(c.rec); c.events.reads != 21 {
		t.Errorf("%d reads, want one more when there is room", c.events.reads)
	}
}

func TestPodsThatFailTogetherAreNoSequence(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l, set := rolledOut(t, 2)
	rec := work(l.Cluster).(webapp.Reconciler)
	rec.Now = func() time.Time { return now }
	l.failed(set, "shop-1-a", "Evicted", full, now.Add(-time.Minute))
	l.failed(set, "shop-1-b", "Evicted", full, now.Add(-time.Minute))
	l.controller("1", out(2, 1))
	l.serving(set, "shop-1-c")
	l.is(l.with(rec), "Evicted", `1 of 2 replicas available; Pod shop-1-a was evicted: Usage of EmptyDir volume "tmp" `+
		`exceeds the limit "1Gi"`)
	l.pod(set, corev1.ContainerStatus{
		Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
	})
	if err := l.with(rec); err != nil {
		t.Errorf("both are replaced, and one starts: %v", err)
	}
	l.failed(set, "shop-1-d", "Evicted", full, now)
	l.is(l.with(rec), "Evicted", `its Pods are evicted again and again: Usage of EmptyDir volume "tmp" exceeds the limit "1Gi"`)
}
