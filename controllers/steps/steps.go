// Package steps runs a list of named steps, one condition each.
package steps

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Step is one stage of a longer piece of work on one object. Do and Undo are called again and again, so both must be
// safe to repeat.
type Step struct {
	// Name is the condition's type, and the row that the portal shows.
	Name string
	// Do checks, then acts if need be. nil: it holds now, and the text says what.
	Do func(ctx context.Context) (string, error)
	// Undo takes back what Do made; nil where nothing is left behind.
	Undo func(ctx context.Context) error
	// Watches names an earlier step whose work this one only looks at. It runs as long as that one holds, whatever
	// happens to the steps between. Empty: it runs when all steps before it hold.
	Watches string
	// Unwanted says that the object does not ask for the step. It runs all the same, to take back what an earlier spec
	// asked for, and has no condition.
	Unwanted bool
}

// List is the whole work on one object, in order.
type List []Step

// Reconcile does every step on every pass, so that drift in an early one is found however far the object had come.
// After the first that does not hold it only looks, and returns that one's error.
func (l List) Reconcile(ctx context.Context, obj engine.Object, pass *engine.Pass) error {
	for i, s := range l {
		text, err := s.Do(ctx)
		setCondition(s, pass, text, err)
		if err != nil {
			l.markRemaining(ctx, i, obj, pass, err)
			return err
		}
	}
	return nil
}

// ReconcileAll does every step, whatever becomes of the others, and returns the error of the first that does not hold.
func (l List) ReconcileAll(ctx context.Context, pass *engine.Pass) error {
	var first error
	for _, s := range l {
		text, err := s.Do(ctx)
		setCondition(s, pass, text, err)
		first = cmp.Or(first, err)
	}
	return first
}

// setCondition sets the step's condition by its outcome.
func setCondition(s Step, pass *engine.Pass, text string, err error) {
	switch {
	case err != nil:
		reason := v1alpha1.ReasonFailed
		if wait, ok := engine.AsWait(err); ok {
			reason = wait.Reason
		}
		pass.SetCondition(s.Name, metav1.ConditionFalse, reason, err.Error())
	case !s.Unwanted:
		pass.SetCondition(s.Name, metav1.ConditionTrue, v1alpha1.ReasonDone, text)
	default:
		pass.RemoveCondition(s.Name)
	}
}

// markRemaining sets the conditions of the steps after one that does not hold. Those that watch a step that holds
// observe. Of the others, what held for this very spec is as it was left, and its condition stays; the rest is not
// known.
func (l List) markRemaining(ctx context.Context, at int, obj engine.Object, pass *engine.Pass, failed error) {
	for _, s := range l[at+1:] {
		switch {
		case s.Unwanted:
			pass.RemoveCondition(s.Name)
		case s.Watches != "" && holds(s.Watches, obj, pass) && observe(ctx, s, pass):
		case holds(s.Name, obj, pass) && !watchedStepFailed(s, l[at], failed):
		default:
			pass.SetCondition(s.Name, metav1.ConditionUnknown, v1alpha1.ReasonWaiting, "waiting for "+l[at].Name)
		}
	}
}

// observe runs a step that only looks, and reports whether that told anything: an error of the look itself does not.
func observe(ctx context.Context, s Step, pass *engine.Pass) bool {
	text, err := s.Do(ctx)
	if _, known := engine.AsWait(err); err != nil && !known {
		return false
	}
	setCondition(s, pass, text, err)
	return true
}

// watchedStepFailed reports whether s watches the step that failed, and that is known not to hold.
func watchedStepFailed(s, failing Step, failed error) bool {
	_, known := engine.AsWait(failed)
	return known && s.Watches == failing.Name
}

// holds reports whether a step held in this pass, or, if the pass says nothing of it, for this very spec before.
func holds(name string, obj engine.Object, pass *engine.Pass) bool {
	if status, _, _ := pass.Condition(name); status != "" {
		return status == metav1.ConditionTrue
	}
	c := meta.FindStatusCondition(obj.Common().Conditions, name)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == obj.GetGeneration()
}

// Finalize undoes the steps, the last one first, and ends at the first that is not undone. What is undone does not hold
// any more, and what is being undone neither.
func (l List) Finalize(ctx context.Context, obj engine.Object, pass *engine.Pass) error {
	for _, s := range slices.Backward(l) {
		if s.Undo == nil {
			continue
		}
		err := s.Undo(ctx)
		wait, waits := engine.AsWait(err)
		if held := meta.FindStatusCondition(obj.Common().Conditions, s.Name); held != nil {
			switch {
			case err == nil:
				pass.SetCondition(s.Name, metav1.ConditionFalse, v1alpha1.ReasonRemoved, "it is undone")
			case waits:
				pass.SetCondition(s.Name, metav1.ConditionFalse, wait.Reason, wait.Error())
			}
		}
		if err != nil {
			return fmt.Errorf("undo %s: %w", s.Name, err)
		}
	}
	return nil
}
