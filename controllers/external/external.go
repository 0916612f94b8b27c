// Package external reconciles one resource outside the cluster: observe, plan, act, observe again. It is independent of
// the cloud; an Adapter implements one kind.
package external

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Object is a custom resource that represents an external resource.
type Object interface {
	engine.Object
	AWS() (*v1alpha1.AWSSpec, *v1alpha1.AWSStatus)
	OwnTags() v1alpha1.Tags
	Policy() v1alpha1.DeletionPolicy
}

// Connection is the connection to one object's resource: its account, region and role.
type Connection[T Object, S any] struct {
	Adapter Adapter[T, S]
	// Version is the version of other inputs of plans, so that a change of a shared setting does not count as a foreign
	// change.
	Version int64
	// Recheck checks, past every cache, that the adapter's tags are those of obj's existing namespace, and that the
	// access to the account is not being closed. It is called before anything is created or adopted, after that is
	// reserved in obj's status: anyone who closes the access looks for reservations afterwards. nil proves nothing.
	Recheck func(ctx context.Context) error
	// Admit returns an error unless obj's namespace can use all of these references; nil admits them.
	Admit func(ctx context.Context, obj T, references []Reference) error
	// Objection is why the owners of the account refuse obj's spec. Nothing is created with it; an existing resource is
	// kept, and the objection is reported. nil: none.
	Objection error
	// Withheld are the declared paths to which it applies: none is written while it holds.
	Withheld []string
}

// Connect opens the connection of obj.
type Connect[T Object, S any] func(ctx context.Context, obj T) (Connection[T, S], error)

// Reconciler implements engine.KindReconciler for one kind.
type Reconciler[T Object, S any] struct {
	Kind    string
	Connect Connect[T, S]
	// Publish writes the binding Secret and returns its name and version.
	Publish func(ctx context.Context, obj T, details map[string]string) (*v1alpha1.Binding, error)
	// Keep records obj's request, so that it is created again once obj is gone, and releases what belongs to obj. It is
	// idempotent.
	Keep func(ctx context.Context, obj T) error
	// Vacate removes people's access to the resource before it is left without obj. It is idempotent; nil: nothing to
	// do.
	Vacate func(ctx context.Context, obj T, pass *engine.Pass) error
	// Stateful kinds are never re-created without the owner's consent: their content would be silently lost.
	Stateful bool
	// FoundByTags means that the next object of the same name finds a retained resource only by its tags.
	FoundByTags bool
	// Settling is how long after a change of ours AWS may still show the previous state, including absence.
	Settling time.Duration
	// MaxDuration is the maximum duration of a pass: how long before the creation its reservation may have been saved.
	MaxDuration time.Duration
	// Scaled converts a duration of AWS's to this environment; nil: unchanged.
	Scaled func(time.Duration) time.Duration
	Now    func() time.Time
}

// maxRounds bounds one pass: create, configure, verify, and one to spare.
const maxRounds = 4

// Reconcile implements engine.KindReconciler.
func (rec Reconciler[T, S]) Reconcile(ctx context.Context, obj T, pass *engine.Pass) error {
	c, err := rec.Connect(ctx, obj)
	if err != nil {
		return err
	}
	if r, ok := c.Adapter.(Resolver[T]); ok {
		if err := r.Resolve(ctx, obj); err != nil {
			return err
		}
	}
	_, status := obj.AWS()
	rec.correctLastSync(status)
	r := &reconciliation[T, S]{
		Reconciler: rec, Connection: c, obj: obj, pass: pass,
		lastSyncBefore: status.LastSyncTime,
	}
	r.forgetSynced()
	for range maxRounds {
		if done, err := r.round(ctx); done || err != nil {
			return err
		}
	}
	return joinWaits(r.skippedError(), r.ineffectiveError(r.countIneffective(r.last())))
}

// reconciliation is one pass over one object.
type reconciliation[T Object, S any] struct {
	Reconciler[T, S]
	Connection[T, S]
	obj            T
	pass           *engine.Pass
	recreating     bool                   // it existed, and must be created again
	lostARN        string                 // of the resource that is created again
	saved          bool                   // SaveStatus has proved that obj is current
	lastSyncBefore *metav1.Time           // status.lastSyncTime at the start
	taken          []engine.PlannedAction // so far
	skipped        []skippedAction        // so far
	// pending are the paths that this pass has recorded as pending.
	pending []string
}

// last returns the last executed action; the zero one if there is none.
func (r *reconciliation[T, S]) last() engine.PlannedAction {
	if len(r.taken) == 0 {
		return engine.PlannedAction{}
	}
	return r.taken[len(r.taken)-1]
}

func (r *reconciliation[T, S]) round(ctx context.Context) (done bool, err error) {
	seen, err := r.Adapter.Observe(ctx, r.obj)
	if err != nil {
		return false, err
	}
	if engine.IsRoutine(ctx) && !r.inSync(seen) {
		return r.round(engine.WithRoutine(ctx, false)) // a routine observation may be outdated: it decides nothing
	}
	if ObserveOnly(r.obj) {
		return true, r.observeOnly(ctx, seen)
	}
	if seen == nil {
		err = cmp.Or(r.handleAbsence(), r.Objection)
	} else {
		err = r.checkOwner(seen)
		if err == nil && r.Adapter.Owner(r.obj, seen) == Offered {
			r.forgetSafe()
			err = r.Objection // an adoption counts as a creation
		}
	}
	if err != nil {
		return false, err
	}
	actions, rest := r.Adapter.Plan(r.obj, seen)
	r.pass.RecordPlan(planned(actions)...)
	if seen != nil {
		r.recall(seen, actions)
		actions = r.inOrder(seen, r.remaining(actions))
		r.pass.RecordPlan(planned(actions)...) // including the parts of divided actions
	}
	if len(actions) == 0 {
		return true, r.finish(ctx, seen, rest)
	}
	if err := r.prepare(ctx, seen, actions); err != nil {
		r.markUnwritten(nil, true)
		return false, err
	}
	return false, r.execute(ctx, seen, actions)
}

// inSync reports whether nothing needs to be done or reported about the observed state.
func (r *reconciliation[T, S]) inSync(seen *S) bool {
	if seen == nil {
		return false
	}
	if owner := r.Adapter.Owner(r.obj, seen); owner == Foreign || (owner != Ours && !ObserveOnly(r.obj)) {
		return false
	}
	actions, err := r.Adapter.Plan(r.obj, seen)
	return len(actions) == 0 && err == nil && r.Objection == nil
}

// finish ends the pass over a resource that needs no action, or none that can be executed now. rest is what Plan waits
// for; without it, and with nothing skipped, the resource is in sync. The connection details are published then, and
// also if only single settings were skipped.
func (r *reconciliation[T, S]) finish(ctx context.Context, seen *S, rest error) error {
	skipped := r.skippedError()
	if skipped == nil {
		rest = cmp.Or(rest, r.Objection)
	}
	if slices.ContainsFunc(r.skipped, func(one skippedAction) bool { return one.details }) {
		r.Adapter.Report(r.obj, seen)
		return joinWaits(skipped, rest)
	}
	if rest != nil && !isPostponed(rest) {
		if _, ok := engine.AsWait(rest); ok && seen != nil {
			r.Adapter.Report(r.obj, seen)
		}
		if answer, ok := engine.AsWait(skipped); ok && answer.Reason == engine.ReasonOf(rest) &&
			answer.Reason != v1alpha1.ReasonInvalidSpec {
			return skipped // AWS's response is more informative than the observed state
		}
		return joinWaits(skipped, rest)
	}
	if rest == nil {
		r.keepSafe(seen)
		r.noteSynced()
	}
	if skipped != nil {
		skipped = joinWaits(skipped, r.Objection)
	}
	return cmp.Or(r.report(ctx, seen), joinWaits(skipped, rest))
}

func (r *reconciliation[T, S]) report(ctx context.Context, seen *S) error {
	_, status := r.obj.AWS()
	details := r.Adapter.Report(r.obj, seen)
	if r.Publish == nil {
		return nil
	}
	binding, err := r.Publish(ctx, r.obj, details)
	if err != nil {
		return err
	}
	status.Binding = binding
	return nil
}

// observeOnly reconciles under managementPolicy Observe: it compares and changes nothing. A resource not shared with
// this namespace counts as absent, so that other teams' resources stay hidden.
func (r *reconciliation[T, S]) observeOnly(ctx context.Context, seen *S) error {
	if seen == nil || r.Adapter.Owner(r.obj, seen) == Foreign {
		return engine.Blocked(v1alpha1.ReasonNotFound, "nothing of this name is there that namespace %[1]s may look "+
			"at; managementPolicy Observe creates nothing. Correct the name, or ask somebody with access to AWS to "+
			"tag the resource portico.dev/namespace=%[1]s", r.obj.GetNamespace())
	}
	actions, rest := r.Adapter.Plan(r.obj, seen)
	if err := r.report(ctx, seen); err != nil {
		return err
	}
	var differs []string
	for _, a := range actions {
		differs = append(differs, a.Why)
	}
	if len(differs) > 0 {
		return engine.Blocked(v1alpha1.ReasonDiffers, "%s; managementPolicy Observe changes nothing",
			strings.Join(differs, "; "))
	}
	return rest
}
