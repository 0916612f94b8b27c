package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestAnErrorTellsNothingOfTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		answers := []struct {
			problems []Problem
			err      error
			failure  string // after it
		}{
			{nil, errors.New("away"), "not checked yet: away"},
			{nil, nil, ""},
			{nil, errors.New("away again"), ""},
			{[]Problem{{"Policy p", "is missing", "bring it"}}, nil, "Policy p is missing: bring it"},
			{nil, errors.New("away once more"), "Policy p is missing"},
			{nil, nil, ""},
		}
		var asked atomic.Int32
		m := NewMonitor(slog.New(slog.NewTextHandler(&log, nil)),
			Check{Name: "policies", Run: func(context.Context) ([]Problem, error) {
				a := answers[min(int(asked.Add(1)), len(answers))-1]
				return a.problems, a.err
			}})
		if err := m.Results()[0].Failure(); err == nil || err.Error() != "not checked yet" {
			t.Errorf("before the first look: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = m.Start(ctx) }()
		for i, a := range answers {
			for synctest.Wait(); int(asked.Load()) <= i; synctest.Wait() {
				time.Sleep(time.Second) // the bubble's time
			}
			got := m.Results()[0].Failure()
			if (got == nil) != (a.failure == "") || !strings.Contains(fmt.Sprint(got), a.failure) {
				t.Errorf("after answer %d: failure = %v, want %q", i, got, a.failure)
			}
		}
		cancel()
		synctest.Wait()
		for _, want := range []string{"could not be checked", "Policy p is missing", "as it should be again"} {
			if strings.Count(log.String(), want) == 0 {
				t.Errorf("the log does not say %q:\n%s", want, &log)
			}
		}
	})
}

func TestAnErrorIsNotAbsence(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		says string // "": an error
	}{
		"missing":   {apierrors.NewNotFound(schema.GroupResource{}, "x"), "is missing"},
		"forbidden": {apierrors.NewForbidden(schema.GroupResource{}, "x", nil), "may not be read"},
		"away":      {apierrors.NewServiceUnavailable("away"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := runtime.NewScheme()
			if err := apiextensionsv1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			objects := fake.NewSimpleDynamicClient(s)
			objects.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, c.err
			})
			problems, err := (&Cluster{objects: objects}).CRDs(t.Context())
			switch {
			case c.says == "":
				if err == nil || len(problems) > 0 {
					t.Errorf("%v, %v", problems, err)
				}
			case err != nil || len(problems) < 5 || problems[0].Says != c.says:
				t.Errorf("%v, %v", problems, err)
			}
		})
	}
}

func TestACheckThatPassedOnceIsNotLookedAtAgain(t *testing.T) {
	answers := []struct {
		problems []Problem
		err      error
	}{
		{nil, errors.New("away")},
		{[]Problem{{"p", "is away", "wait"}}, nil},
		{nil, nil},
		{nil, errors.New("away again")},
	}
	asked := 0
	once := Once(Check{Name: "p", Run: func(context.Context) ([]Problem, error) {
		asked++
		return answers[asked-1].problems, answers[asked-1].err
	}})
	for i, passes := range []bool{false, false, true, true, true} {
		problems, err := once.Run(t.Context())
		if got := len(problems) == 0 && err == nil; got != passes {
			t.Errorf("look %d: %v, %v, want that it passes: %t", i, problems, err, passes)
		}
	}
	if asked != 3 {
		t.Errorf("it was looked at %d times, want 3", asked)
	}
}

// TestEachCheckHasItsPace checks that a check that fails, or hangs, changes nothing about when others are looked at.
func TestEachCheckHasItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var fine atomic.Int32
		var failed []time.Duration
		m := NewMonitor(slog.New(slog.DiscardHandler),
			Check{Name: "fails", First: time.Second, Run: func(context.Context) ([]Problem, error) {
				failed = append(failed, time.Since(began))
				return nil, errors.New("away")
			}},
			Check{Name: "hangs", Run: func(ctx context.Context) ([]Problem, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}},
			Check{Name: "is well", Run: func(context.Context) ([]Problem, error) {
				fine.Add(1)
				return nil, nil
			}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); _ = m.Start(ctx) }()
		time.Sleep(5*time.Minute - time.Second)
		cancel()
		<-done
		if n := fine.Load(); n < 5 || n > 6 {
			t.Errorf("in 5 minutes, one that is well was looked at %d times", n)
		}
		want := []int{0, 1, 3, 7, 15, 31, 63, 123, 183, 243}
		if len(failed) < len(want)-1 {
			t.Fatalf("one that fails was looked at after %v", failed)
		}
		for i, at := range failed[:len(want)-1] {
			if ratio := at.Seconds() / float64(max(want[i], 1)); want[i] > 0 && (ratio < 0.89 || ratio > 1.11) {
				t.Errorf("look %d after %s, want about %ds", i, at, want[i])
			}
		}
	})
}

func TestWhatOnlyWarnsMakesNothingUnready(t *testing.T) {
	var log bytes.Buffer
	m := NewMonitor(slog.New(slog.NewTextHandler(&log, nil)), Check{Name: "warns", Warns: true}, Check{Name: "counts"})
	m.found(0, []Problem{{"p", "is away", "wait"}}, nil)
	m.found(1, nil, nil)
	if err := m.Failure(); err != nil || strings.Contains(log.String(), "not ready") ||
		!strings.Contains(log.String(), "is away") {
		t.Errorf("Failure() = %v, and the log says %s", err, &log)
	}
	m.found(1, []Problem{{"q", "is missing", "bring it"}}, nil)
	if err := m.Failure(); err == nil || !strings.Contains(log.String(), "lacks something: not ready") {
		t.Errorf("Failure() = %v, and the log says %s", err, &log)
	}
}
