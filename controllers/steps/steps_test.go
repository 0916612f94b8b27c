package steps

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// list returns three steps, of which the second may be unwanted; done records the calls.
func list(done *[]string, fails map[string]error, unwanted bool) List {
	var all List
	for _, name := range []string{"First", "Second", "Third"} {
		all = append(all, Step{
			Name: name,
			Do: func(context.Context) (string, error) {
				*done = append(*done, name)
				return name + " holds", fails[name]
			},
			Undo: func(context.Context) error {
				*done = append(*done, "undo "+name)
				return fails["undo "+name]
			},
		})
	}
	all[1].Unwanted = unwanted
	return all
}

func TestStepsRunInOrderUpToTheFirstThatDoesNotHold(t *testing.T) {
	for name, row := range map[string]struct {
		fails    map[string]error
		unwanted bool
		done     string
		first    string
		second   string
		third    string
	}{
		"all hold": {
			done:  "First Second Third",
			first: "True Done First holds", second: "True Done Second holds", third: "True Done Third holds",
		},
		"a step that waits gives its reason": {
			fails: map[string]error{"Second": engine.Wait("RollingOut", 0, "1 of 2")},
			done:  "First Second", first: "True Done First holds", second: "False RollingOut 1 of 2",
			third: "Unknown Waiting waiting for Second",
		},
		"a step that is blocked gives its reason": {
			fails: map[string]error{"First": engine.Blocked("Conflict", "not ours")},
			done:  "First", first: "False Conflict not ours", second: "Unknown Waiting waiting for First",
			third: "Unknown Waiting waiting for First",
		},
		"any other error is Failed": {
			fails: map[string]error{"Third": errors.New("boom")},
			done:  "First Second Third", first: "True Done First holds", second: "True Done Second holds",
			third: "False Failed boom",
		},
		"a Pause within an error counts": {
			fails: map[string]error{"Third": errors.Join(errors.New("boom"), engine.Blocked("Conflict", "not ours"))},
			done:  "First Second Third", first: "True Done First holds", second: "True Done Second holds",
			third: "False Conflict boom\nnot ours",
		},
		"what is not wanted runs and has no condition": {
			unwanted: true, done: "First Second Third", first: "True Done First holds", third: "True Done Third holds",
		},
		"what is not wanted waits without a condition": {
			unwanted: true, fails: map[string]error{"First": errors.New("boom")},
			done: "First", first: "False Failed boom", third: "Unknown Waiting waiting for First",
		},
	} {
		t.Run(name, func(t *testing.T) {
			obj, pass := &v1alpha1.WebApp{}, engine.NewPass(nil)
			var done []string
			err := list(&done, row.fails, row.unwanted).Reconcile(t.Context(), obj, pass)
			if (err != nil) != (len(row.fails) > 0) {
				t.Errorf("outcome %v", err)
			}
			if got := strings.Join(done, " "); got != row.done {
				t.Errorf("ran %s, want %s", got, row.done)
			}
			for step, want := range map[string]string{"First": row.first, "Second": row.second, "Third": row.third} {
				status, reason, text := pass.Condition(step)
				if got := strings.TrimSpace(string(status) + " " + reason + " " + text); got != want {
					t.Errorf("%s is %q, want %q", step, got, want)
				}
			}
		})
	}
}

func TestAStepThatIsNotWantedAndFailsIsTold(t *testing.T) {
	var done []string
	pass := engine.NewPass(nil)
	if err := list(&done, map[string]error{"Second": errors.New("cannot be taken back")}, true).Reconcile(
		t.Context(), &v1alpha1.WebApp{}, pass); err == nil {
		t.Error("the error was lost")
	}
	if status, _, text := pass.Condition("Second"); status != metav1.ConditionFalse || text != "cannot be taken back" {
		t.Errorf("Second is %s: %s", status, text)
	}
}

// held returns a True condition observed at that generation.
func held(kind string, generation int64) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone, Message: kind +
		" held", ObservedGeneration: generation}
}

func TestAfterAStepThatDoesNotHoldWhatIsKnownStays(t *testing.T) {
	waits := engine.Wait("RollingOut", 0, "1 of 2")
	boom := errors.New("boom")
	const waiting = "Unknown Waiting waiting for Second"
	for name, row := range map[string]struct {
		watches string
		before  []metav1.Condition
		fails   map[string]error
		third   string // in the pass; "" leaves it unchanged
	}{
		"a step that never held waits":                {fails: map[string]error{"Second": waits}, third: waiting},
		"one that held for this spec is left":         {before: []metav1.Condition{held("Third", 2)}, fails: map[string]error{"Second": waits}},
		"one that held for an earlier spec waits":     {before: []metav1.Condition{held("Third", 1)}, fails: map[string]error{"Second": waits}, third: waiting},
		"one that watches what holds looks":           {watches: "First", fails: map[string]error{"Second": waits}, third: "True Done Third holds"},
		"it tells what it finds":                      {watches: "First", fails: map[string]error{"Second": waits, "Third": engine.Blocked("Bad", "crashed")}, third: "False Bad crashed"},
		"an error of its look tells nothing":          {watches: "First", before: []metav1.Condition{held("Third", 2)}, fails: map[string]error{"Second": waits, "Third": boom}},
		"nor of one that never held":                  {watches: "First", fails: map[string]error{"Second": waits, "Third": boom}, third: waiting},
		"one that watches what does not hold waits":   {watches: "Second", before: []metav1.Condition{held("Third", 2)}, fails: map[string]error{"Second": waits}, third: waiting},
		"but for an error, which is no knowledge":     {watches: "Second", before: []metav1.Condition{held("Third", 2)}, fails: map[string]error{"Second": boom}},
		"one that watches what held before looks":     {watches: "Second", before: []metav1.Condition{held("Second", 2)}, fails: map[string]error{"First": boom}, third: "True Done Third holds"},
		"one that watches what is not known does not": {watches: "Second", fails: map[string]error{"First": boom}, third: "Unknown Waiting waiting for First"},
	} {
		t.Run(name, func(t *testing.T) {
			obj, pass := &v1alpha1.WebApp{}, engine.NewPass(nil)
			obj.Generation, obj.Status.Conditions = 2, row.before
			var done []string
			all := list(&done, row.fails, false)
			all[2].Watches = row.watches
			if err := all.Reconcile(t.Context(), obj, pass); err == nil || row.fails["Second"] != nil && !errors.Is(
				err, row.fails["Second"]) {
				t.Errorf("outcome %v", err)
			}
			status, reason, text := pass.Condition("Third")
			if got := strings.TrimSpace(string(status) + " " + reason + " " + text); got != row.third {
				t.Errorf("Third is %q, want %q", got, row.third)
			}
		})
	}
}

func TestReleaseGoesBackwardsAndStopsAtAnError(t *testing.T) {
	for name, row := range map[string]struct {
		fails map[string]error
		done  []string
		want  string
	}{
		"all are undone":       {done: []string{"undo Third", "undo First"}},
		"stops at the failure": {fails: map[string]error{"undo Third": errors.New("in use")}, done: []string{"undo Third"}, want: "undo Third: in use"},
	} {
		t.Run(name, func(t *testing.T) {
			var done []string
			all := list(&done, row.fails, false)
			all[1].Undo = nil
			err := all.Finalize(t.Context(), &v1alpha1.WebApp{}, engine.NewPass(nil))
			if !slices.Equal(done, row.done) {
				t.Errorf("undone = %q, want %q", done, row.done)
			}
			if (err == nil) != (row.want == "") || err != nil && err.Error() != row.want {
				t.Errorf("error = %v, want %q", err, row.want)
			}
		})
	}
}

func TestReleaseKeepsThePause(t *testing.T) {
	var done []string
	err := list(&done, map[string]error{"undo First": engine.Wait("Deleting", 0, "going")}, false).Finalize(
		t.Context(), &v1alpha1.WebApp{}, engine.NewPass(nil))
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != "Deleting" {
		t.Errorf("outcome %v", err)
	}
}

// A page about a deletion shows which steps are undone already.
func TestWhatIsUndoneDoesNotHoldAnyMore(t *testing.T) {
	obj, pass, done := &v1alpha1.WebApp{}, engine.NewPass(nil), []string(nil)
	for _, name := range []string{"First", "Second", "Third"} {
		obj.Status.Conditions = append(obj.Status.Conditions, metav1.Condition{
			Type: name, Status: metav1.ConditionTrue,
		})
	}
	_ = list(&done, map[string]error{"undo Second": engine.Wait("Deleting", 0, "going")}, false).Finalize(
		t.Context(), obj, pass)
	for name, want := range map[string]string{"Third": "False Removed", "Second": "False Deleting", "First": " "} {
		if status, reason, _ := pass.Condition(name); string(status)+" "+reason != want {
			t.Errorf("%s is %s %s", name, status, reason)
		}
	}
}

func TestReconcileAllDoesEveryStep(t *testing.T) {
	var done []string
	do := func(name string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) {
			done = append(done, name)
			return "", err
		}
	}
	first, pass := errors.New("first"), &engine.Pass{}
	list := List{
		{Name: "A", Do: do("A", nil)},
		{Name: "B", Do: do("B", first)},
		{Name: "C", Do: do("C", errors.New("second"))},
		{Name: "D", Do: do("D", nil), Unwanted: true},
	}
	if err := list.ReconcileAll(t.Context(), pass); !errors.Is(err, first) || strings.Join(done, "") != "ABCD" {
		t.Errorf("%v after %v", err, done)
	}
	for name, want := range map[string]metav1.ConditionStatus{"A": "True", "B": "False", "C": "False", "D": ""} {
		if status, _, _ := pass.Condition(name); status != want {
			t.Errorf("%s is %q, want %q", name, status, want)
		}
	}
}
