// Package externaltest tests the contract that every adapter must fulfil.
package externaltest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/portico-platform/portico/controllers/external"
)

// Case is one kind under test, over a fake that behaves like AWS.
type Case[T external.Object, S any] struct {
	Adapter external.Adapter[T, S]
	Object  T                 // a valid object with every field that the kind manages
	Writes  func() int        // calls that changed the fake so far
	Drift   map[string]func() // foreign changes by name; each must be noticed and repaired
	// Together are paths that AWS validates together, so that a refusal of one may block the others.
	Together [][]string
	Fail     func(read error)    // makes every read fail until called with nil
	Errors   []error             // the service's own errors, none of which means absence
	Lose     func(replies bool)  // makes every write succeed and then return an error
	Strip    func()              // removes all ownership tags
	Foreign  func() (still bool) // reports whether the foreign resource still exists, after Strip and Disown
}

// Laws tests the contract between the engine and an adapter.
func Laws[T external.Object, S any](t *testing.T, c Case[T, S]) {
	t.Helper()
	l := laws[T, S]{Case: c}
	l.errorsAreNotAbsence(t)
	l.converges(t, "creation")
	l.reports(t)
	l.errorsAreNotAbsence(t)
	for name, drift := range c.Drift {
		drift()
		if len(l.plan(t, l.observe(t))) == 0 {
			t.Fatalf("%s was not noticed", name)
		}
		l.converges(t, name)
	}
	l.settingsStandAlone(t)
	l.repliesMayBeLost(t)
	l.ownershipIsSeen(t)
	l.deletes(t)
}

type laws[T external.Object, S any] struct{ Case[T, S] }

// observe calls Observe, which must write nothing.
func (l laws[T, S]) observe(t *testing.T) *S {
	t.Helper()
	before := l.Writes()
	seen, err := l.Adapter.Observe(t.Context(), l.Object)
	if err != nil {
		t.Fatalf("Observe: %v", err)
	}
	if l.Writes() != before {
		t.Fatal("Observe changed AWS")
	}
	return seen
}

// plan calls Plan, which must write nothing.
func (l laws[T, S]) plan(t *testing.T, seen *S) []external.Action {
	t.Helper()
	before := l.Writes()
	actions, err := l.Adapter.Plan(l.Object, seen)
	if err != nil {
		t.Fatalf("Plan: %v", err)
	}
	if l.Writes() != before {
		t.Fatal("Plan changed AWS")
	}
	return actions
}

// converges executes plans until nothing is left to do; each step is executed twice, as after a lost response. Then the
// second Plan must be empty.
func (l laws[T, S]) converges(t *testing.T, what string) {
	t.Helper()
	const most = 4
	for range most {
		actions := l.plan(t, l.observe(t))
		if len(actions) == 0 {
			return
		}
		for _, s := range actions {
			takeTwice(t, what, s)
		}
	}
	t.Fatalf("%s: not in sync after %d rounds; still to do: %+v", what, most, l.plan(t, l.observe(t)))
}

func takeTwice(t *testing.T, what string, s external.Action) {
	t.Helper()
	if s.Name == "" || s.Why == "" {
		t.Errorf("%s: the step %+v does not say what and why", what, s)
	}
	for range 2 {
		if err := s.Do(t.Context()); err != nil {
			t.Fatalf("%s: %s (%s): %v", what, s.Name, s.Why, err)
		}
	}
}

func (l laws[T, S]) reports(t *testing.T) {
	t.Helper()
	reserved := l.Object.DeepCopyObject().(T)
	l.Adapter.Reserve(reserved, nil)
	details := l.Adapter.Report(l.Object, l.observe(t))
	if details["type"] == "" {
		t.Error("Report gave no connection details of a type")
	}
	_, status := l.Object.AWS()
	if status.ARN == "" || status.Region == "" || status.AccountID == "" {
		t.Errorf("Report left ARN, region or account empty: %+v", status)
	}
	if _, at := reserved.AWS(); at.AccountID != status.AccountID || at.Region != status.Region || at.ARN != "" {
		t.Errorf("Reserve noted %+v, and it is at %+v", at, status)
	}
	status.ManagedFields = l.Adapter.Declared(l.Object)
	again := l.Object.DeepCopyObject().(T)
	l.Adapter.Report(again, l.observe(t))
	_, same := again.AWS()
	if same.ARN != status.ARN {
		t.Error("Report is not stable")
	}
}

// errorsAreNotAbsence checks that Observe returns every error.
func (l laws[T, S]) errorsAreNotAbsence(t *testing.T) {
	t.Helper()
	for _, cause := range append(l.Errors, errors.New("connection reset"), context.DeadlineExceeded) {
		l.Fail(cause)
		if seen, err := l.Adapter.Observe(t.Context(), l.Object); err == nil {
			t.Errorf("Observe took %v for an answer: %v", cause, seen)
		}
	}
	l.Fail(nil)
}

// repliesMayBeLost checks that a write which succeeded, but returned an error, is found done by the next Observe.
func (l laws[T, S]) repliesMayBeLost(t *testing.T) {
	t.Helper()
	for _, drift := range l.Drift {
		drift()
	}
	l.Lose(true)
	for _, s := range l.plan(t, l.observe(t)) {
		if err := s.Do(t.Context()); err == nil {
			t.Errorf("%s hid an error", s.Name)
		}
	}
	l.Lose(false)
	if actions := l.plan(t, l.observe(t)); len(actions) != 0 {
		t.Errorf("after lost replies there is still %+v to do", actions)
	}
}

func (l laws[T, S]) ownershipIsSeen(t *testing.T) {
	t.Helper()
	if owner := l.Adapter.Owner(l.Object, l.observe(t)); owner != external.Ours {
		t.Errorf("what we made is %v", owner)
	}
	earlier := l.Object.DeepCopyObject().(T)
	earlier.SetUID("another-life")
	if owner := l.Adapter.Owner(earlier, l.observe(t)); owner != external.Earlier {
		t.Errorf("what an earlier object of this name made is %v", owner)
	}
	stranger := l.Object.DeepCopyObject().(T)
	stranger.SetName("stranger")
	if owner := l.Adapter.Owner(stranger, l.observe(t)); owner != external.Foreign {
		t.Errorf("what another object made is %v", owner)
	}
	l.restores(t, stranger, false, "with another object's marks")
	l.restores(t, l.Object, false, "with all its marks")
	if err := l.Adapter.Disown(t.Context(), l.Object, l.observe(t)); err != nil {
		t.Fatalf("Disown: %v", err)
	}
	if owner := l.Adapter.Owner(l.Object, l.observe(t)); owner != external.Foreign || !l.Foreign() {
		t.Errorf("after Disown it is %v, with the rest kept: %v", owner, l.Foreign())
	}
	l.Strip()
	if owner := l.Adapter.Owner(l.Object, l.observe(t)); owner != external.Foreign {
		t.Errorf("what carries no mark is %v", owner)
	}
	l.restores(t, l.Object, true, "without marks")
	l.converges(t, "adopting") // as external does when the resource is offered and wanted
}

// restores checks whether there is a command that restores obj's tags, and that it names obj.
func (l laws[T, S]) restores(t *testing.T, obj T, want bool, what string) {
	t.Helper()
	restorer, ok := l.Adapter.(external.TagRestorer[T, S])
	if !ok {
		t.Fatal("the adapter does not tell how lost marks are restored: see external.TagRestorer")
	}
	command := restorer.RestoreCommand(obj, l.observe(t))
	if got := strings.Contains(command, string(obj.GetUID())) && command != ""; got != want {
		t.Errorf("the command for a resource %s: %q", what, command)
	}
}

func (l laws[T, S]) deletes(t *testing.T) {
	t.Helper()
	seen := l.observe(t)
	for range 2 {
		if _, err := l.Adapter.Delete(t.Context(), l.Object, seen); err != nil {
			t.Fatalf("Delete: %v", err)
		}
	}
	if l.observe(t) != nil {
		t.Error("Delete left the resource")
	}
}
