package external

import (
	"cmp"
	"errors"
	"slices"

	"github.com/portico-platform/portico/controllers/engine"
)

// Postponed marks err, a WaitError, as about a change that AWS does not take yet of a resource that works as it is. Nothing else waits
// for it: what Plan has beside it is done, and the connection details are published. An action that returns it has changed nothing,
// and is not taken again in the same pass.
func Postponed(err error) error { return &postponedError{err} }

type postponedError struct{ error }

func (p *postponedError) Unwrap() error { return p.error }

func isPostponed(err error) bool {
	_, ok := errors.AsType[*postponedError](err)
	return ok
}

// postponedAction is one that AWS does not take yet, and why.
type postponedAction struct {
	action engine.PlannedAction
	err    error
}

// withoutPostponed takes out of a plan what this pass has found to be postponed; rest tells of it unless something else remains.
func (r *reconciliation[T, S]) withoutPostponed(actions []Action, rest error) ([]Action, error) {
	for _, p := range r.postponed {
		left := slices.DeleteFunc(slices.Clone(actions), func(a Action) bool { return a.planned() == p.action })
		if len(left) < len(actions) {
			rest = cmp.Or(rest, p.err)
		}
		actions = left
	}
	return actions, rest
}
