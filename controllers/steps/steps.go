// Package steps runs a list of named steps, one condition each.
package steps

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/controllers/engine"
)

// Reasons of a step's condition, beside those of a Pause.
const (
	ReasonDone    = "Done"
	ReasonWaiting = "Waiting" // for an earlier step
)

// Step is one stage of a longer piece of work. Do and Undo are called again and again, so both must be safe to repeat.
type Step[T engine.Object] struct {
	// Name is the condition's type, and the row that the portal shows.
	Name string
	// Do checks, then acts if need be. nil: it holds now, and the text says what.
	Do func(ctx context.Context, obj T, pass *engine.Pass) (string, error)
	// Undo takes back what Do made; nil where nothing is left behind.
	Undo func(ctx context.Context, obj T, pass *engine.Pass) error
	// Wanted tells whether the object asks for the step; nil: always. One that is not wanted runs all the same, to take
	// back what an earlier spec asked for, and has no condition.
	Wanted func(obj T) bool
}

func (s Step[T]) wanted(obj T) bool { return s.Wanted == nil || s.Wanted(obj) }

// List is the whole work, in order. It implements engine.Work.
type List[T engine.Object] []Step[T]

// Sync does every step on every pass, so that drift in an early one is found however far the object had come. It ends at
// the first that does not hold; the later ones are not known then.
func (l List[T]) Sync(ctx context.Context, obj T, pass *engine.Pass) error {
	for i, s := range l {
		text, err := s.Do(ctx, obj, pass)
		if err != nil {
			l.stop(i, obj, pass, err)
			return err
		}
		if s.wanted(obj) {
			pass.Mark(s.Name, metav1.ConditionTrue, ReasonDone, text)
		} else {
			pass.Unmark(s.Name)
		}
	}
	return nil
}

// stop marks the step that did not hold, and those that wait for it.
func (l List[T]) stop(at int, obj T, pass *engine.Pass, err error) {
	reason := engine.ReasonFailed
	if pause, ok := engine.AsPause(err); ok {
		reason = pause.Reason
	}
	pass.Mark(l[at].Name, metav1.ConditionFalse, reason, err.Error())
	for _, later := range l[at+1:] {
		if later.wanted(obj) {
			pass.Mark(later.Name, metav1.ConditionUnknown, ReasonWaiting, "waiting for "+l[at].Name)
		} else {
			pass.Unmark(later.Name)
		}
	}
}

// Release undoes the steps, the last one first, and ends at the first that is not undone.
func (l List[T]) Release(ctx context.Context, obj T, pass *engine.Pass) error {
	for _, s := range slices.Backward(l) {
		if s.Undo == nil {
			continue
		}
		if err := s.Undo(ctx, obj, pass); err != nil {
			return fmt.Errorf("undo %s: %w", s.Name, err)
		}
	}
	return nil
}
