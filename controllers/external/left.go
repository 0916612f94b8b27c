package external

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/portico-platform/portico/controllers/engine"
)

// leftAction is an action that this pass skips: it was refused, is not admitted, or is postponed.
type leftAction struct {
	action  engine.PlannedAction
	changes []Change
	details bool // see Action.Details
	err     error
}

// leave records that the action is skipped in this pass.
func (r *reconciliation[T, S]) leave(a Action, err error) {
	r.left = append(r.left, leftAction{a.planned(), a.Changes, a.Details, err})
}

// isLeft reports whether this pass skips the action.
func (r *reconciliation[T, S]) isLeft(a Action) bool {
	return slices.ContainsFunc(r.left, func(l leftAction) bool { return l.action == a.planned() })
}

// remaining returns the actions of a plan that are not skipped. A divisible action of which a part is skipped is
// replaced by its other parts.
func (r *reconciliation[T, S]) remaining(actions []Action) []Action {
	var all []Action
	for _, a := range actions {
		switch {
		case r.isLeft(a):
		case a.Parts != nil && r.anyLeft(a.Parts()):
			all = append(all, r.remaining(a.Parts())...)
		default:
			all = append(all, a)
		}
	}
	return all
}

func (r *reconciliation[T, S]) anyLeft(actions []Action) bool {
	return slices.ContainsFunc(actions, func(a Action) bool {
		return r.isLeft(a) || (a.Parts != nil && r.anyLeft(a.Parts()))
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
		if err := r.pass.LastRefusal(a.planned(), r.Now()); err != nil && !a.Secretive && !r.isLeft(a) {
			r.leave(a, err)
		} else if a.Parts != nil {
			r.recallAll(a.Parts())
		}
	}
}

// maxTold is the maximum number of refusals in one message.
const maxTold = 5

// leftError returns the error for skipped actions; nil if there are none. It is Postponed if all of them are.
func (r *reconciliation[T, S]) leftError() error {
	all := make([]error, 0, len(r.left))
	for _, l := range r.left {
		all = append(all, l.err)
	}
	return joinWaits(all...)
}

// joinWaits joins errors into one: each text once, what needs an action first. An error that is not a WaitError wins,
// because it is retried with back-off. nil errors are ignored.
func joinWaits(all ...error) error {
	all = slices.DeleteFunc(all, func(err error) bool { return err == nil })
	// a stable text
	slices.SortFunc(all, func(a, b error) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a.Error(), b.Error())) })
	all = slices.CompactFunc(all, func(a, b error) bool { return a.Error() == b.Error() })
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	joined := &joinedError{all}
	first, ok := engine.AsWait(all[0])
	if !ok {
		return joined
	}
	whole := &engine.WaitError{Reason: first.Reason, After: first.After, Stalled: first.Stalled, Err: joined}
	for _, err := range all[1:] {
		if wait, ok := engine.AsWait(err); ok {
			whole.After = min(whole.After, wait.After)
		}
	}
	if isPostponed(all[0]) {
		return Postponed(whole)
	}
	return whole
}

// rank orders errors by severity.
func rank(err error) int {
	wait, ok := engine.AsWait(err)
	switch {
	case !ok:
		return 0
	case wait.Stalled:
		return 1
	case isPostponed(err):
		return 3
	}
	return 2
}

// joinedError joins the texts of several errors. Its cause is the first.
type joinedError struct{ all []error }

func (j *joinedError) Error() string {
	texts := make([]string, 0, maxTold+1)
	for _, err := range j.all[:min(len(j.all), maxTold)] {
		texts = append(texts, err.Error())
	}
	if more := len(j.all) - maxTold; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

func (j *joinedError) Unwrap() error { return j.all[0] }

// settled reports whether an earlier pass found everything except status.unappliedFields in sync with this spec and
// this provider: differences are then foreign changes.
func (r *reconciliation[T, S]) settled() bool {
	common, generation := r.obj.Common(), r.obj.GetGeneration()
	_, status := r.obj.AWS()
	synced := status.SyncedGeneration == generation || (common.Ready && common.ObservedGeneration == generation)
	return synced && status.ProviderGeneration == r.Version
}

// noteSynced records that everything except the skipped actions is in sync. If nothing changed, it writes nothing.
func (r *reconciliation[T, S]) noteSynced() {
	_, status := r.obj.AWS()
	if len(r.left) > 0 || !r.obj.Common().Ready || r.obj.Common().ObservedGeneration != r.obj.GetGeneration() {
		status.SyncedGeneration = r.obj.GetGeneration()
	}
	var paths []string
	for _, l := range r.left {
		for _, c := range l.changes {
			paths = append(paths, c.Path)
		}
	}
	status.UnappliedFields, status.ProviderGeneration = sorted(paths), r.Version
	switch {
	case len(r.left) == 0:
		status.ManagedFields, status.PendingFields = r.Adapter.Declared(r.obj), nil
		return
	case slices.ContainsFunc(r.left, func(l leftAction) bool { return len(l.changes) == 0 }):
		return // a skipped action may be about any field
	}
	r.markManaged(slices.DeleteFunc(InitialChanges(r.Adapter.Declared(r.obj)), func(c Change) bool {
		return slices.Contains(paths, c.Path)
	}))
}

// forgetSynced clears the unapplied fields once another spec, or another provider, may have other values.
func (r *reconciliation[T, S]) forgetSynced() {
	if _, status := r.obj.AWS(); !r.settled() {
		status.UnappliedFields = nil
	}
}
