package podcause

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// loopBehind returns the status of a Pod whose conditions are these, and whose application is in a loop between two
// crashes.
func loopBehind(conditions string) string {
	return "  phase: Running\n  conditions:\n" + conditions + `
  containerStatuses:
  - {name: app, image: a, imageID: a, ready: true, started: true, restartCount: 3, state: ` + runningSince("12:09:30") + `, lastState: ` + crashed + `}`
}

const (
	silent = `  - {type: Ready, status: "False"}
  - {type: ContainersReady, status: "True"}`
	closedGate = `  - {type: Ready, status: "False", reason: ReadinessGatesNotReady, message: "the status of pod readiness gate \"lb\" is not \"True\""}
  - {type: ContainersReady, status: "True"}`
	endedWell = `{terminated: {exitCode: 0, reason: Completed, startedAt: "2026-11-28T12:09:00Z", finishedAt: "2026-11-28T12:09:05Z"}}`
	lostTrack = `{terminated: {exitCode: 137, reason: ContainerStatusUnknown, message: "The container could not be located when the pod was terminated"}}`
)

func initStatus(name, restarts, state, last string) string {
	return `  phase: Pending
  initContainerStatuses:
  - {name: ` + name + `, image: m, imageID: m, ready: false, started: false, restartCount: ` + restarts + `, state: ` + state + `, lastState: ` + last + `}`
}

func TestCausesThatAreEasilyMistaken(t *testing.T) {
	loop := fact{Kind: Ended, Container: "app", Code: 1, Again: true, Stalled: true}
	for name, row := range map[string]struct {
		status string
		want   fact
	}{
		"a loop on a node that does not answer": {loopBehind(silent), loop},
		"a loop behind a closed readiness gate": {loopBehind(closedGate), loop},
		"a sidecar that ends well": {
			initStatus("mesh", "0", endedWell, "{}"), fact{Kind: Ended, Container: "mesh", Perhaps: true},
		},
		"an init container that has done its work": {initStatus("migrate", "0", endedWell, "{}"), fact{}},
		"one that waits to do it again":            {initStatus("migrate", "1", `{waiting: {reason: PodInitializing}}`, endedWell), fact{}},
		"one that does it again": {
			initStatus("migrate", "2", runningSince("12:09:50"), endedWell),
			fact{Kind: NotFinished, Container: "migrate", Starting: true},
		},
		"a container that its node lost": {
			app("1", lostTrack, "{}"), fact{Kind: Ended, Container: "app", Code: 137, Perhaps: true},
		},
		"one that runs again": {
			app("3", runningSince("12:09:50"), lostTrack),
			fact{Kind: NotReady, Container: "app", Probe: Readiness, Earlier: Ended},
		},
		"one in back-off": {
			app("1", loops, lostTrack), fact{Kind: Ended, Container: "app", Code: 137, Perhaps: true, Again: true, Stalled: true},
		},
		"a hook with output": {
			app("1", `{waiting: {reason: PostStartHookError, message: "Exec lifecycle hook failed, message: hunter2"}}`, "{}"),
			fact{Kind: NotCreated, Container: "app", Stalled: true},
		},
		"a node whose clock is ahead": {
			app("3", `{running: {startedAt: "2026-11-28T13:10:00Z"}}`, crashed),
			fact{Kind: NotReady, Container: "app", Probe: Readiness, Earlier: Ended},
		},
	} {
		if diff := cmp.Diff(row.want, factOf(Of(podOf(t, row.status), now, nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for status, child := range map[string]bool{
		`{terminated: {exitCode: 137, reason: OOMKilled}}`: false, `{terminated: {exitCode: 1, reason: OOMKilled}}`: true,
	} {
		if c := Of(podOf(t, app("1", loops, status)), now, nil); c.Kind != OutOfMemory || c.OfChild() != child {
			t.Errorf("%s: %s, of a child %v, want %v", status, c.Kind, c.OfChild(), child)
		}
	}
}

func TestAPodWithoutANodeNeedsSomebodyAfterAWhile(t *testing.T) {
	pod := podOf(t, `  phase: Pending
  conditions:
  - type: PodScheduled
    status: "False"
    reason: Unschedulable
    lastTransitionTime: "2026-11-28T12:09:00Z"
    message: '0/5 nodes are available: 1 Too many pods, 2 Insufficient cpu, 2 node(s) had untolerated taint(s) {a: b, c: d}. no new claims to deallocate, preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.'`)
	want := Cause{
		Kind: Unschedulable, Starting: true, Until: now.Add(time.Minute), Reason: "Unschedulable",
		Detail: "Insufficient cpu, Too many pods, node(s) had untolerated taint(s) {a: b, c: d}",
	}
	if diff := cmp.Diff(want, Of(pod, now, nil)); diff != "" {
		t.Errorf("after a minute (-want +got):\n%s", diff)
	}
	want.Starting, want.Stalled, want.Until = false, true, time.Time{}
	if diff := cmp.Diff(want, Of(pod, now.Add(time.Minute), nil)); diff != "" {
		t.Errorf("after two (-want +got):\n%s", diff)
	}
	other := podOf(t, `  conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: 'running PreBind plugin "x": 3 tries'}]`)
	if c := Of(other, now, nil); c.Detail != `running PreBind plugin "x": 3 tries` {
		t.Errorf("another message: %q", c.Detail)
	}
}

func TestEventsOfTheNextRunAndMissingOnesSayNothing(t *testing.T) {
	end := `{terminated: {exitCode: 1, startedAt: "2026-11-28T12:05:00Z", finishedAt: "2026-11-28T12:06:40Z"}}`
	killed := func(at time.Time) []*corev1.Event {
		return []*corev1.Event{{
			Reason: Killing, Message: "Container app failed liveness probe, will be restarted",
			InvolvedObject: corev1.ObjectReference{UID: "u1"}, LastTimestamp: metav1.Time{Time: at},
		}}
	}
	over := now.Add(-3*time.Minute - 20*time.Second)
	for name, row := range map[string]struct {
		restarts string
		events   []*corev1.Event
		want     Kills
	}{
		"two seconds after the end": {"1", killed(over.Add(2 * time.Second)), Kills{"app": Liveness}},
		"of the next run":           {"1", killed(over.Add(3 * time.Second)), Kills{"app": ""}},
		"none, of few restarts":     {"3", nil, Kills{"app": ""}},
		"none, of many":             {"4", nil, Kills{}},
		"one, of many":              {"40", killed(over), Kills{"app": Liveness}},
	} {
		if diff := cmp.Diff(row.want, KillsIn(row.events, podOf(t, app(row.restarts, loops, end)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var names []string
	for name := range Ends(podOf(t, initStatus("migrate", "1", loops, crashed)+`
  - {name: mesh, image: m, imageID: m, ready: false, restartCount: 1, state: `+loops+`, lastState: `+crashed+`}
  containerStatuses:
  - {name: app, image: a, imageID: a, ready: false, restartCount: 1, state: `+loops+`, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}
  - {name: proxy, image: a, imageID: a, ready: false, restartCount: 1, state: `+loops+`, lastState: {terminated: {exitCode: 128, reason: StartError}}}`)) {
		names = append(names, name)
	}
	if !slices.Equal(names, []string{"mesh"}) {
		t.Errorf("a probe may have ended %q, want the sidecar mesh only", names)
	}
}

func TestAClockThatIsAheadDoesNotMoveAFailure(t *testing.T) {
	pod := podOf(t, `  phase: Failed
  conditions: [{type: Ready, status: "False", lastTransitionTime: "2026-11-28T14:00:00Z"}]`)
	if got := FailedAt(pod, now); !got.Equal(now) {
		t.Errorf("failed at %s, want now, %s", got, now)
	}
}
