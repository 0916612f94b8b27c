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

// prepare saves what a crash must not lose, and proves that obj is current, before the first action that needs it: a
// creation, the adoption of a resource without our tags, the first write of a path. The proof of the tags comes after
// the reservation: see Connection.Recheck. A creation that is not admitted reserves nothing. A resource that the pass
// created without tags is saved again before it is tagged.
func (r *reconciliation[T, S]) prepare(ctx context.Context, seen *S, actions []Action) error {
	if seen == nil {
		if err := r.admit(ctx, actions[0]); err != nil {
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
	if len(r.taken) == 0 { // nothing was created
		status.LastSyncTime = r.lastSyncBefore
	}
	if !reserved {
		status.AccountID, status.ARN = "", arn
	}
	return err
}

// execute executes the actions in order. Each is independent: one that is refused, not admitted or postponed is
// skipped. It stops at a failed creation, before any change of a resource that could not be tagged as ours, and when
// AWS does not respond.
func (r *reconciliation[T, S]) execute(ctx context.Context, seen *S, actions []Action) error {
	before, acted := len(r.skipped), false
	unmarked := seen != nil && r.Adapter.Owner(r.obj, seen) != Ours
	var vain []ineffectiveAction
	for _, a := range actions {
		if tried, yes := r.takenInVain(seen == nil, a); yes {
			vain = append(vain, tried)
			continue
		}
		taken, err := r.take(ctx, seen == nil, a)
		if err != nil {
			return joinWaits(r.skippedError(), err)
		}
		if acted = acted || taken; unmarked && !taken {
			return r.skippedError()
		}
		unmarked = unmarked && !a.Marks
	}
	if acted || len(r.skipped) > before {
		return nil // observe again
	}
	return joinWaits(r.skippedError(), r.ineffectiveError(vain...))
}

// take executes the action, or else its parts, and reports whether anything was done. Refused actions are skipped; the
// error of a creation, or of a call without a response, ends the pass.
func (r *reconciliation[T, S]) take(ctx context.Context, create bool, a Action) (taken bool, err error) {
	if !create {
		if err := cmp.Or(r.withhold(a), r.admit(ctx, a)); err != nil {
			return r.giveUp(ctx, a, err)
		}
	}
	switch err = a.Do(ctx); {
	case err == nil:
		r.succeeded(create, a)
		return true, nil
	case create, isAccountWide(err):
		r.failed(create, a, err)
		return false, err
	case isRefusal(err):
		err = naming(a, err)
		if a.Parts == nil {
			r.pass.Refused(a.planned(), err, r.Now())
		}
		return r.giveUp(ctx, a, err)
	case isPostponed(err):
		return r.giveUp(ctx, a, err)
	}
	if r.failed(create, a, err); !isAnswer(err) {
		return false, err
	}
	r.skip(a, err)
	return false, nil
}

// giveUp skips a failed action, or executes its parts.
func (r *reconciliation[T, S]) giveUp(ctx context.Context, a Action, cause error) (taken bool, err error) {
	if a.Parts == nil {
		r.markUnwritten(a.Changes, true)
		r.skip(a, cause)
		return false, nil
	}
	for _, part := range a.Parts() {
		done, err := r.take(ctx, false, part)
		if taken = taken || done; err != nil || (part.Marks && !done) {
			return taken && !part.Marks, err // a resource that could not be tagged is not changed
		}
	}
	return taken, nil
}

// isRefusal reports whether nothing was changed, and nothing will change until somebody acts.
func isRefusal(err error) bool {
	wait, ok := engine.AsWait(err)
	return ok && wait.Stalled
}

// accountWide are the reasons of refusals that apply to every call in the account.
var accountWide = []string{
	v1alpha1.ReasonCredentialsRejected, v1alpha1.ReasonClockSkew, v1alpha1.ReasonAccountNotReady,
	v1alpha1.ReasonRegionNotEnabled,
}

func isAccountWide(err error) bool { return slices.Contains(accountWide, engine.ReasonOf(err)) }

// isAnswer reports whether err is AWS's response to this call, so that other calls may succeed: not a connection
// failure, nor throttling.
func isAnswer(err error) bool {
	if wait, ok := engine.AsWait(err); ok {
		return wait.Reason != v1alpha1.ReasonThrottled
	}
	answer, ok := errors.AsType[interface {
		error
		Answered() bool
	}](err)
	return ok && answer.Answered()
}

// inOrder returns the actions with guards first. A resource without our tags is tagged before everything else.
func (r *reconciliation[T, S]) inOrder(seen *S, actions []Action) []Action {
	if r.Adapter.Owner(r.obj, seen) != Ours {
		return actions
	}
	actions = slices.Clone(actions)
	slices.SortStableFunc(actions, func(a, b Action) int { return guardsFirst(guards(a.Changes), guards(b.Changes)) })
	return actions
}

// admit returns an error if the action is refused, or if obj's namespace cannot use its references.
func (r *reconciliation[T, S]) admit(ctx context.Context, a Action) error {
	if a.Refusal != nil || len(a.References) == 0 || r.Admit == nil {
		return a.Refusal
	}
	return r.Admit(ctx, r.obj, a.References)
}

// withhold returns the objection if it applies to a path that the action writes.
func (r *reconciliation[T, S]) withhold(a Action) error {
	for _, path := range r.Withheld {
		if slices.ContainsFunc(a.Changes, func(c Change) bool {
			return c.Path == path || strings.HasPrefix(c.Path, path+".")
		}) {
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
	case !refused: // it may have been created, or changed
		setLastSync(status, r.Now())
		return
	}
	status.LastSyncTime = r.lastSyncBefore
	if r.recreating { // the next pass is a re-creation too
		status.ARN = r.lostARN
	}
	if r.recentlyChanged(status) {
		return
	}
	if retrier, ok := r.Adapter.(Retrier[T]); ok {
		retrier.NextAttempt(r.obj)
	}
	if status.ARN == "" { // nothing was created, now or earlier: all of the spec can be edited again (ADR 68)
		status.LastSyncTime, status.AccountID = nil, ""
	}
}

// NotCreated marks err as the response to a creation that created nothing, although its code is not a refusal.
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

// sendEvent records the event of an action according to its cause: a creation, an edit by the owner or the platform, or
// the repair of a foreign change.
func (r *reconciliation[T, S]) sendEvent(create bool, a Action) {
	_, status := r.obj.AWS()
	expected := !r.settled() || r.pass.WasRefused(a.planned()) || slices.ContainsFunc(a.Changes, func(c Change) bool {
		return slices.Contains(status.UnappliedFields, c.Path)
	})
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

// sorted sorts all and removes duplicates.
func sorted(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}
