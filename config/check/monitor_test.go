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
