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

// Step is one stage of the work on an object. Do and Undo are called repeatedly, so both must be idempotent.
type Step struct {
	// Name is the condition's type, and a row in the portal.
	Name string
	// Do checks, then acts if necessary. It returns nil if the step holds now, with a message for the condition.
	Do func(ctx context.Context) (string, error)
	// Undo undoes what Do did; nil if there is nothing to undo.
	Undo func(ctx context.Context) error
	// Watches names an earlier step whose work this step only observes. The step runs while that step holds, even if a
	// step between them fails. Empty: it runs when all steps before it hold.
	Watches string
	// Unwanted is true if the spec does not ask for the step. Do runs nevertheless, to undo what an earlier spec asked
	// for, and the step has no condition.
	Unwanted bool
}

// List is all the work on one object, in order.
type List []Step

// Reconcile runs every step on every pass, so that drift in an early step is found even when later steps are done.
// After the first step that fails, it runs only steps that observe, and returns the error of the failed one.
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

// ReconcileAll runs every step even if others fail, and returns the first error.
func (l List) ReconcileAll(ctx context.Context, pass *engine.Pass) error {
	var first error
	for _, s := range l {
		text, err := s.Do(ctx)
		setCondition(s, pass, text, err)
		first = cmp.Or(first, err)
	}
	return first
}

// setCondition sets the step's condition to the outcome.
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

// markRemaining sets the conditions of the steps after the one that failed. Steps that watch a step that holds are run.
// The others keep their condition if they held at this generation, and are Unknown otherwise.
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

// observe runs a step that only observes, and reports whether the result is conclusive: an error of the read itself is
// not.
func observe(ctx context.Context, s Step, pass *engine.Pass) bool {
	text, err := s.Do(ctx)
	if _, known := engine.AsWait(err); err != nil && !known {
		return false
	}
	setCondition(s, pass, text, err)
	return true
}

// watchedStepFailed reports whether s watches the failed step, and its failure is conclusive.
func watchedStepFailed(s, failing Step, failed error) bool {
	_, known := engine.AsWait(failed)
	return known && s.Watches == failing.Name
}

// holds reports whether a step held in this pass or, if this pass did not run it, at this generation before.
func holds(name string, obj engine.Object, pass *engine.Pass) bool {
	if status, _, _ := pass.Condition(name); status != "" {
		return status == metav1.ConditionTrue
	}
	c := meta.FindStatusCondition(obj.Common().Conditions, name)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == obj.GetGeneration()
}

// Finalize undoes the steps in reverse order, and returns the first error. The condition of a step becomes False when
// it is undone or being undone.
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
