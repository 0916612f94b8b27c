package external

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// prepare saves what a crash must not lose, and proves that obj is the latest, before the first act that calls
// for it: a creation, taking over what does not carry our marks yet, writing a path for the first time. The proof of the
// marks comes after the reservation: see Connection.Recheck. For a creation that is not admitted nothing is reserved. What the
// pass made and could not mark is saved once more before it is marked.
func (r *reconciliation[T, S]) prepare(ctx context.Context, seen *S, actions []Action) error {
	if seen == nil {
		if err := r.admitReferences(ctx, actions[0]); err != nil {
			r.failed(true, actions[0], NotCreated(err))
			return err
		}
	}
	marking := (!r.saved || len(r.taken) > 0) && (seen == nil || r.Adapter.Owner(r.obj, seen) != Ours)
	if news := r.markPending(seen == nil, actions); !news && !marking {
		return nil
	}
	_, status := r.obj.AWS()
	reserved, arn := status.AccountID != "", status.ARN
	r.Adapter.Reserve(r.obj, seen)
	if seen == nil {
		setLastSync(status, r.Now())
		r.reserveSafe()
	}
	r.saved = true
	if err := r.pass.SaveStatus(ctx); err != nil || !marking || r.Recheck == nil {
		return err
	}
	err := r.Recheck(ctx)
	if err == nil {
		return nil
	}
	if len(r.taken) == 0 { // nothing was made
		status.LastSyncTime = r.lastSyncBefore
	}
	if !reserved {
		status.AccountID, status.ARN = "", arn
	}
	return err
}

// execute takes the actions in order and ends at the first that fails. One whose references are not admitted is left out, and so is one
// that is postponed.
func (r *reconciliation[T, S]) execute(ctx context.Context, create bool, actions []Action) error {
	r.pass.RecordPlan(planned(actions)...)
	acted := false
	var vain []ineffectiveAction
	var refused error
	var kept []Change
	for _, a := range actions {
		if tried, yes := r.takenInVain(create, a); yes {
			vain = append(vain, tried)
			continue
		}
		if !create {
			if err := cmp.Or(r.withhold(a), r.admitReferences(ctx, a)); err != nil {
				refused, kept = err, append(kept, a.Changes...)
				continue
			}
		}
		err := a.Do(ctx)
		switch {
		case err == nil:
			r.succeeded(create, a)
		case isPostponed(err):
			r.postponed, kept = append(r.postponed, postponedAction{a.planned(), err}), append(kept, a.Changes...)
		default:
			r.failed(create, a, err)
			return naming(create, a, err)
		}
		acted = true
	}
	if len(kept) > 0 || refused != nil {
		r.markUnwritten(kept, true)
	}
	if refused != nil || acted {
		return refused
	}
	return r.ineffectiveError(vain...)
}

// admitReferences returns an error if obj's namespace may not use what the action refers to.
func (r *reconciliation[T, S]) admitReferences(ctx context.Context, a Action) error {
	if len(a.References) == 0 || r.Admit == nil {
		return nil
	}
	return r.Admit(ctx, r.obj, a.References)
}

// withhold returns the objection if it is about what the action writes.
func (r *reconciliation[T, S]) withhold(a Action) error {
	for _, path := range r.Withheld {
		if slices.ContainsFunc(a.Changes, func(c Change) bool { return c.Path == path || strings.HasPrefix(c.Path, path+".") }) {
			return r.Objection
		}
	}
	return nil
}

func (r *reconciliation[T, S]) succeeded(create bool, a Action) {
	_, status := r.obj.AWS()
	r.taken = append(r.taken, a.planned())
	r.markManaged(a.Changes)
	setLastSync(status, r.Now())
	if r.pass.IneffectiveCount(a.planned()) == 0 {
		r.sendEvent(create, a)
	}
}

// failed records an action that returned an error. If AWS refused it nothing has changed there; otherwise it may have.
func (r *reconciliation[T, S]) failed(create bool, a Action, err error) {
	_, status := r.obj.AWS()
	wait, waiting := engine.AsWait(err)
	_, notMade := errors.AsType[*notCreatedError](err)
	refused := notMade || (waiting && wait.Stalled)
	r.markUnwritten(a.Changes, refused)
	switch {
	case !create && refused:
		return
	case !refused: // it may have been made, or changed
		setLastSync(status, r.Now())
		return
	}
	status.LastSyncTime = r.lastSyncBefore
	if r.recreating { // the next pass is a re-creation too
		status.ARN = r.lostARN
	}
	if retrier, ok := r.Adapter.(Retrier[T]); ok && !r.recentlyChanged(status) {
		retrier.NextAttempt(r.obj)
	}
}

// NotCreated marks err as the answer to a creation that made nothing, though what it says is no refusal.
func NotCreated(err error) error { return &notCreatedError{err} }

type notCreatedError struct{ error }

func (n *notCreatedError) Unwrap() error { return n.error }

func (a Action) planned() engine.PlannedAction { return engine.PlannedAction{Name: a.Name, Why: a.Why} }

func planned(actions []Action) []engine.PlannedAction {
	all := make([]engine.PlannedAction, 0, len(actions))
	for _, a := range actions {
		all = append(all, a.planned())
	}
	return all
}

// sendEvent notes an event for an action by what it is for the owner: creation, the owner's or the platform's edit, or the repair of a
// foreign one.
func (r *reconciliation[T, S]) sendEvent(create bool, a Action) {
	common := r.obj.Common()
	_, status := r.obj.AWS()
	expected := !common.Ready || common.ObservedGeneration != r.obj.GetGeneration() || status.ProviderGeneration != r.Version
	switch {
	case a.Event != nil:
		a.Event(&r.pass.Events)
	case create && r.recreating:
		r.pass.Repaired(v1alpha1.ReasonRecreated, a.Name, "%s; it was deleted outside Portico", a.Why)
	case create:
		r.pass.Normal(v1alpha1.ReasonCreated, a.Name, "%s", a.Why)
	case expected:
		r.pass.Normal(v1alpha1.ReasonUpdated, a.Name, "%s", a.Why)
	default:
		r.pass.Repaired(v1alpha1.ReasonRepaired, a.Name, "%s; it was changed outside Portico", a.Why)
	}
}

func union(a, b []string) []string { return sorted(slices.Concat(a, b)) }

// sorted sorts all, and leaves out what it has twice.
func sorted(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}
