package podcause

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

var now = time.Date(2026, 11, 28, 12, 10, 0, 0, time.UTC)

// conditions of a Pod with a node, whose containers are not all ready, as a kubelet writes them.
const unreadyConditions = `
  conditions:
  - {type: PodReadyToStartContainers, status: "True", lastTransitionTime: "2026-11-28T12:00:02Z"}
  - {type: Initialized, status: "True", lastTransitionTime: "2026-11-28T12:00:00Z"}
  - {type: Ready, status: "False", reason: ContainersNotReady, message: "containers with unready status: [app]", lastTransitionTime: "2026-11-28T12:00:00Z"}
  - {type: ContainersReady, status: "False", reason: ContainersNotReady, message: "containers with unready status: [app]", lastTransitionTime: "2026-11-28T12:00:00Z"}
  - {type: PodScheduled, status: "True", lastTransitionTime: "2026-11-28T12:00:00Z"}
`

// fact is what a test compares of a cause.
type fact struct {
	Kind      Kind
	Container string
	Stalled   bool
	Starting  bool
	Again     bool
	Perhaps   bool
	Code      int32
	Detail    string
	Probe     Probe
	Earlier   Kind
}

func factOf(c Cause) fact {
	f := fact{c.Kind, c.Container, c.Stalled, c.Starting, c.Again, c.Perhaps, c.Code, c.Detail, c.Probe, ""}
	if c.Earlier != nil {
		f.Earlier = c.Earlier.Kind
	}
	return f
}

func podOf(t *testing.T, status string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	const before = `
metadata: {name: shop-1, uid: u1}
spec: {nodeName: node-1, containers: [], initContainers: [{name: migrate}, {name: mesh, restartPolicy: Always}]}
status:
`
	if err := yaml.UnmarshalStrict([]byte(before+status), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

const (
	crashed = `{terminated: {exitCode: 1, reason: Error, startedAt: "2026-11-28T12:09:00Z", finishedAt: "2026-11-28T12:09:05Z"}}`
	loops   = `{waiting: {reason: CrashLoopBackOff, message: "back-off 20s restarting failed container=app pod=shop-1_payments(u1)"}}`
)

func app(restarts, state, last string) string {
	return unreadyConditions + `
  phase: Running
  containerStatuses:
  - {name: app, image: "shop:1", imageID: "", ready: false, started: true, restartCount: ` + restarts + `, state: ` + state + `, lastState: ` + last + `}`
}

func runningSince(at string) string { return `{running: {startedAt: "2026-11-28T` + at + `Z"}}` }

func TestTheCauseOfEachPhaseOfACrashLoop(t *testing.T) {
	once := fact{Kind: Ended, Container: "app", Code: 1}
	loop := fact{Kind: Ended, Container: "app", Code: 1, Again: true, Stalled: true}
	for _, phase := range []struct {
		name, restarts, state, last string
		want                        fact
	}{
		{"the first run", "0", runningSince("12:09:00"), "{}", fact{Kind: NotReady, Container: "app", Starting: true, Probe: Readiness}},
		{"its end", "0", crashed, "{}", once},
		{"the second run", "1", runningSince("12:09:06"), crashed, fact{Kind: NotReady, Container: "app", Probe: Readiness, Earlier: Ended}},
		{"its end", "1", crashed, crashed, loop},
		{"the back-off", "1", loops, crashed, loop},
		{"the container is created", "1", "{waiting: {}}", crashed, loop},
		{"the third run", "2", runningSince("12:09:30"), crashed, loop},
		{"its end", "2", crashed, crashed, loop},
		{"the back-off", "2", loops, crashed, loop},
		{"a long back-off", "12", loops, crashed, loop},
		{"a run that lasts", "13", runningSince("12:09:00"), crashed, fact{Kind: NotReady, Container: "app", Probe: Readiness, Earlier: Ended}},
	} {
		c := Of(podOf(t, app(phase.restarts, phase.state, phase.last)), now, nil)
		if diff := cmp.Diff(phase.want, factOf(c)); diff != "" {
			t.Errorf("%s, restarts %s (-want +got):\n%s", phase.name, phase.restarts, diff)
		}
	}
	serving := func(restarts, since string) Cause {
		status := strings.Replace(app(restarts, runningSince(since), crashed), "ready: false", "ready: true", 1)
		return Of(podOf(t, status), now, nil)
	}
	if diff := cmp.Diff(loop, factOf(serving("2", "12:09:30"))); diff != "" {
		t.Errorf("it serves for some seconds (-want +got):\n%s", diff)
	}
	if c := serving("2", "12:09:00"); c.Kind != "" {
		t.Errorf("it has served for a minute: %+v", c)
	}
	if c := serving("1", "12:09:30"); c.Kind != "" {
		t.Errorf("it serves after one end: %+v", c)
	}
	c := Of(podOf(t, app("2", runningSince("12:09:30"), crashed)), now, nil)
	if !c.Until.Equal(now.Add(30 * time.Second)) {
		t.Errorf("the loop is over at %s", c.Until)
	}
	slow := `{terminated: {exitCode: 1, reason: Error, startedAt: "2026-11-28T12:00:00Z", finishedAt: "2026-11-28T12:04:00Z"}}`
	c = Of(podOf(t, app("2", runningSince("12:05:00"), slow)), now, nil)
	if !c.Again || !c.Until.Equal(now.Add(3*time.Minute)) {
		t.Errorf("a slow loop, of runs of 4 minutes: %+v", c)
	}
	rare := `{terminated: {exitCode: 1, reason: Error, startedAt: "2026-11-28T09:00:00Z", finishedAt: "2026-11-28T12:09:00Z"}}`
	if c := Of(podOf(t, app("7", rare, rare)), now, nil); c.Again || c.Stalled {
		t.Errorf("an end after three hours is no loop: %+v", c)
	}
}

func TestCauses(t *testing.T) {
	for name, row := range map[string]struct {
		status string
		kills  Kills
		want   fact
	}{
		"nothing yet": {"  phase: Pending", nil, fact{}},
		"memory": {
			app("1", loops, `{terminated: {exitCode: 137, reason: OOMKilled}}`), nil,
			fact{Kind: OutOfMemory, Container: "app", Again: true, Stalled: true, Code: 137},
		},
		"memory of a child": {
			app("1", loops, `{terminated: {exitCode: 137, reason: Error}}`),
			Kills{"app": ""},
			fact{Kind: Ended, Container: "app", Again: true, Stalled: true, Code: 137, Perhaps: true},
		},
		"it ends well, again and again": {
			app("1", loops, `{terminated: {exitCode: 0, reason: Completed}}`),
			Kills{"app": ""},
			fact{Kind: Ended, Container: "app", Again: true, Stalled: true},
		},
		"it ends well, and the events are not known": {
			app("1", loops, `{terminated: {exitCode: 0, reason: Completed}}`), nil,
			fact{Kind: Ended, Container: "app", Again: true, Stalled: true, Perhaps: true},
		},
		"a probe ends it, whatever its code": {
			app("1", loops, `{terminated: {exitCode: 3, reason: Error}}`),
			Kills{"app": Liveness},
			fact{Kind: ProbeKilled, Container: "app", Again: true, Stalled: true, Code: 3, Probe: Liveness},
		},
		"a command that does not exist": {
			app("1", loops, `{terminated: {exitCode: 128, reason: StartError, message: "failed to create containerd task: exec: \"/nope\": stat /nope: no such file or directory"}}`), nil,
			fact{Kind: NeverStarts, Container: "app", Stalled: true, Code: 128, Detail: `failed to create containerd task: exec: "/nope": stat /nope: no such file or directory`},
		},
		"an image that went, of a container that crashed before": {
			app("1", `{waiting: {reason: ErrImagePull, message: "failed to pull: read tcp 10.244.0.5:43210->192.0.2.7:443: read: connection reset by peer"}}`, crashed), nil,
			fact{Kind: NoImage, Container: "app", Stalled: true, Detail: "failed to pull: read tcp 192.0.2.7:443: read: connection reset by peer"},
		},
		"an init container that runs": {initRuns, nil, fact{Kind: NotFinished, Container: "migrate", Starting: true}},
		"an init container that fails": {
			initFails, nil,
			fact{Kind: Ended, Container: "migrate", Again: true, Stalled: true, Code: 1},
		},
		"a sidecar that does not start": {
			sidecarStarts, nil,
			fact{Kind: NotStarted, Container: "mesh", Starting: true, Probe: Startup},
		},
		"a second container that crashes, and the application waits for it": {
			proxyCrashes, nil,
			fact{Kind: Ended, Container: "proxy", Again: true, Stalled: true, Code: 1},
		},
		"a readiness that flaps": {readinessFlaps, nil, fact{Kind: NotReady, Container: "app", Probe: Readiness}},
		"an evicted Pod": {
			failedPod("Evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. "), nil,
			fact{Kind: Evicted, Detail: "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi"},
		},
		"a Pod for another node": {
			failedPod("NodeAffinity", "Pod was rejected: Predicate NodeAffinity failed: node(s) did not match"), nil,
			fact{Kind: Rejected, Detail: "Predicate NodeAffinity failed: node(s) did not match"},
		},
		"a node that shuts down": {
			failedPod("NodeShutdown", "Pod was rejected as the node is shutting down."), nil,
			fact{Kind: Shutdown, Detail: "Pod was rejected as the node is shutting down"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, factOf(Of(podOf(t, row.status), now, row.kills))); diff != "" {
				t.Errorf("cause (-want +got):\n%s", diff)
			}
		})
	}
	leaving := podOf(t, app("1", loops, crashed))
	leaving.DeletionTimestamp = &metav1.Time{Time: now}
	if c := Of(leaving, now, nil); c.Kind != "" {
		t.Errorf("a Pod that is being deleted has the cause %+v", c)
	}
}

func TestOfSeveralContainersTheOneThatIsLostCounts(t *testing.T) {
	pod := podOf(t, `  phase: Running
  conditions:
  - {type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: "2026-11-28T12:05:00Z"}
  containerStatuses:
  - {name: mesh, image: m, imageID: m, ready: false, started: false, restartCount: 0, state: {running: {startedAt: "2026-11-28T12:09:00Z"}}}
  - {name: app, image: a, imageID: a, ready: false, started: true, restartCount: 0, state: {running: {startedAt: "2026-11-28T12:00:03Z"}}}
`)
	want := fact{Kind: NotReady, Container: "app", Probe: Readiness}
	if diff := cmp.Diff(want, factOf(Of(pod, now, nil))); diff != "" {
		t.Errorf("it was ready, and another container is new (-want +got):\n%s", diff)
	}
}

func TestAStartHasABound(t *testing.T) {
	for name, row := range map[string]struct {
		status string
		want   Cause
	}{
		"the image is pulled": {
			"  phase: Pending\n  containerStatuses:\n" +
				"  - {name: app, image: a, imageID: '', ready: false, restartCount: 0, state: {waiting: " +
				"{reason: ContainerCreating}}}",
			Cause{Kind: Hangs, Node: "node-1", Reason: "ContainerCreating"},
		},
		"nothing is known": {"  phase: Pending", Cause{Kind: Hangs, Node: "node-1"}},
		"it never was ready": {
			app("0", runningSince("12:00:05"), "{}"),
			Cause{Kind: NotReady, Container: "app", Image: "shop:1", Node: "node-1", Probe: Readiness},
		},
		"it is ready": {"  conditions: [{type: Ready, status: 'True'}]", Cause{}},
	} {
		pod := podOf(t, row.status)
		pod.CreationTimestamp = metav1.Time{Time: now.Add(-LongestStart)}
		if diff := cmp.Diff(row.want, Of(pod, now, nil)); diff != "" {
			t.Errorf("%s, after the bound (-want +got):\n%s", name, diff)
		}
		c := Of(pod, now.Add(-time.Second), nil)
		if c.Starting != (row.want.Kind == NotReady) || c.Kind == Hangs || c.Until.Equal(now) != (row.want.Kind != "") {
			t.Errorf("%s, before the bound: %+v", name, c)
		}
	}
}

func TestTheEventsSayWhichProbeEndedARun(t *testing.T) {
	pod := podOf(t, app("1", loops, `{terminated: {exitCode: 143, startedAt: "2026-11-28T12:05:00Z", finishedAt: "2026-11-28T12:06:40Z"}}`))
	event := func(reason, message, at string) *corev1.Event {
		when, err := time.Parse(time.TimeOnly, at)
		if err != nil {
			t.Fatal(err)
		}
		return &corev1.Event{
			Reason: reason, Message: message, InvolvedObject: corev1.ObjectReference{UID: "u1"},
			LastTimestamp: metav1.NewTime(when.AddDate(2026, 10, 27)),
		}
	}
	for name, row := range map[string]struct {
		events []*corev1.Event
		want   Probe
	}{
		"none": {nil, ""},
		"a liveness probe": {[]*corev1.Event{
			event("Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500", "12:06:10"),
			event("Killing", "Container app failed liveness probe, will be restarted", "12:06:10"),
		}, Liveness},
		"a startup probe":              {[]*corev1.Event{event("Killing", "Container app failed startup probe, will be restarted", "12:06:10")}, Startup},
		"of a run before":              {[]*corev1.Event{event("Killing", "Container app failed liveness probe, will be restarted", "12:04:00")}, ""},
		"of another container":         {[]*corev1.Event{event("Killing", "Container proxy failed liveness probe, will be restarted", "12:06:10")}, ""},
		"a Pod that is deleted":        {[]*corev1.Event{event("Killing", "Stopping container app", "12:06:10")}, ""},
		"a probe that has only failed": {[]*corev1.Event{event("Unhealthy", "Liveness probe failed: x", "12:06:10")}, ""},
		"another reason, with its words": {
			[]*corev1.Event{event("Started", "Container app failed liveness probe, will be restarted", "12:06:10")}, "",
		},
	} {
		if got := KillsIn(row.events, pod); got["app"] != row.want || len(got) != 1 {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
	foreign := event("Killing", "Container app failed liveness probe, will be restarted", "12:06:10")
	foreign.InvolvedObject.UID = "u2"
	if got := KillsIn([]*corev1.Event{foreign}, pod); got["app"] != "" {
		t.Errorf("the event of another Pod: %q", got)
	}
}

func TestWhenAPodFailed(t *testing.T) {
	pod := podOf(t, `  phase: Failed
  conditions: [{type: DisruptionTarget, status: "True", reason: TerminationByKubelet, lastTransitionTime: "2026-11-28T12:01:00Z"}]
  containerStatuses: [{name: app, image: a, imageID: '', ready: false, restartCount: 0, state: {terminated: {exitCode: 137, finishedAt: "2026-11-28T12:01:30Z"}}}]`)
	if got := FailedAt(pod, now); !got.Equal(time.Date(2026, 11, 28, 12, 1, 30, 0, time.UTC)) {
		t.Errorf("failed at %s", got)
	}
}
