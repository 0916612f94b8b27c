package external

import (
	"slices"

	"github.com/portico-platform/portico/controllers/engine"
)

// skippedAction is an action that this pass skips: it was refused, is not admitted, or is postponed.
type skippedAction struct {
	action  engine.PlannedAction
	changes []Change
	details bool // see Action.Details
	err     error
}

// skip records that the action is skipped in this pass.
func (r *reconciliation[T, S]) skip(a Action, err error) {
	r.skipped = append(r.skipped, skippedAction{a.planned(), a.Changes, a.Details, err})
}

// isSkipped reports whether this pass skips the action.
func (r *reconciliation[T, S]) isSkipped(a Action) bool {
	return slices.ContainsFunc(r.skipped, func(one skippedAction) bool { return one.action == a.planned() })
}

// remaining returns the actions of a plan that are not skipped. A divisible action of which a part is skipped is
// replaced by its other parts.
func (r *reconciliation[T, S]) remaining(actions []Action) []Action {
	var all []Action
	for _, a := range actions {
		switch {
		case r.isSkipped(a):
		case a.Parts != nil && r.anySkipped(a.Parts()):
			all = append(all, r.remaining(a.Parts())...)
		default:
			all = append(all, a)
		}
	}
	return all
}

func (r *reconciliation[T, S]) anySkipped(actions []Action) bool {
	return slices.ContainsFunc(actions, func(a Action) bool {
		return r.isSkipped(a) || (a.Parts != nil && r.anySkipped(a.Parts()))
	})
}

// recall skips what an earlier pass saw refused, while it is too early to retry. Another version of the provider clears
// refusals; a resource without our tags is tagged before everything else, in every pass.
func (r *reconciliation[T, S]) recall(seen *S, actions []Action) {
	if _, status := r.obj.AWS(); status.ProviderGeneration != r.Version || r.Adapter.Owner(r.obj, seen) != Ours {
		return
	}
	r.recallAll(actions)
}

func (r *reconciliation[T, S]) recallAll(actions []Action) {
	for _, a := range actions {
		if err := r.pass.LastRefusal(a.planned(), r.Now()); err != nil && !a.Secretive && !r.isSkipped(a) {
			r.skip(a, err)
		} else if a.Parts != nil {
			r.recallAll(a.Parts())
		}
	}
}

// skippedError returns the error for skipped actions; nil if there are none. It is Postponed if all of them are.
func (r *reconciliation[T, S]) skippedError() error {
	all := make([]error, 0, len(r.skipped))
	for _, one := range r.skipped {
		all = append(all, one.err)
	}
	return joinWaits(all...)
}
