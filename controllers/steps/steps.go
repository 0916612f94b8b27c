// Package steps runs a list of named steps, one condition each.
package steps

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
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
	// Watches names an earlier step whose work this one only looks at. It runs as long as that one holds, whatever happens
	// to the steps between. Empty: it runs when all steps before it hold.
	Watches string
	// Wanted tells whether the object asks for the step; nil: always. One that is not wanted runs all the same, to take
	// back what an earlier spec asked for, and has no condition.
	Wanted func(obj T) bool
}

func (s Step[T]) wanted(obj T) bool { return s.Wanted == nil || s.Wanted(obj) }

// List is the whole work, in order. It implements engine.Work.
type List[T engine.Object] []Step[T]

// Sync does every step on every pass, so that drift in an early one is found however far the object had come. After the
// first that does not hold it only looks, and returns that one's error.
func (l List[T]) Sync(ctx context.Context, obj T, pass *engine.Pass) error {
	for i, s := range l {
		text, err := s.Do(ctx, obj, pass)
		mark(s, obj, pass, text, err)
		if err != nil {
			l.after(ctx, i, obj, pass, err)
			return err
		}
	}
	return nil
}

// mark writes down what a step came to.
func mark[T engine.Object](s Step[T], obj T, pass *engine.Pass, text string, err error) {
	switch {
	case err != nil:
		reason := engine.ReasonFailed
		if pause, ok := engine.AsPause(err); ok {
			reason = pause.Reason
		}
		pass.Mark(s.Name, metav1.ConditionFalse, reason, err.Error())
	case s.wanted(obj):
		pass.Mark(s.Name, metav1.ConditionTrue, ReasonDone, text)
	default:
		pass.Unmark(s.Name)
	}
}

// after tells what is known of the steps after one that does not hold. Those that watch a step that holds look. Of the
// others, what held for this very spec is as it was left, and its condition stays; the rest is not known.
func (l List[T]) after(ctx context.Context, at int, obj T, pass *engine.Pass, failed error) {
	for _, s := range l[at+1:] {
		switch {
		case !s.wanted(obj):
			pass.Unmark(s.Name)
		case s.Watches != "" && holds(s.Watches, obj, pass) && look(ctx, s, obj, pass):
		case holds(s.Name, obj, pass) && !denied(s, l[at], failed):
		default:
			pass.Mark(s.Name, metav1.ConditionUnknown, ReasonWaiting, "waiting for "+l[at].Name)
		}
	}
}

// look runs a step that only looks, and reports whether that told anything: an error of the look itself does not.
func look[T engine.Object](ctx context.Context, s Step[T], obj T, pass *engine.Pass) bool {
	text, err := s.Do(ctx, obj, pass)
	if _, known := engine.AsPause(err); err != nil && !known {
		return false
	}
	mark(s, obj, pass, text, err)
	return true
}

// denied reports whether s watches the step that failed, and that is known not to hold.
func denied[T engine.Object](s, failing Step[T], failed error) bool {
	_, known := engine.AsPause(failed)
	return known && s.Watches == failing.Name
}

// holds reports whether a step held in this pass, or, if the pass says nothing of it, for this very spec before.
func holds[T engine.Object](name string, obj T, pass *engine.Pass) bool {
	if status, _, _ := pass.Marked(name); status != "" {
		return status == metav1.ConditionTrue
	}
	c := meta.FindStatusCondition(obj.Common().Conditions, name)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == obj.GetGeneration()
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
