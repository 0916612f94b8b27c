// Package external drives one resource that lives outside the cluster: observe, plan, act, look again. It knows no
// cloud; an Adapter teaches it one kind.
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

// Object is a custom resource that stands for an external one.
type Object interface {
	engine.Object
	AWS() (*v1alpha1.AWSSpec, *v1alpha1.AWSStatus)
	OwnTags() v1alpha1.Tags
	Policy() v1alpha1.DeletionPolicy
}

// Connection is the way to one object's resource: its account, region and role.
type Connection[T Object, S any] struct {
	Adapter Adapter[T, S]
	// Version of what else the plans follow, so that the change of a shared setting is not taken for a foreign one.
	Version int64
	// Recheck checks, past every cache, that the adapter's marks are those of obj's living namespace, and that the way
	// to the account stays. It is asked before anything is made or taken over, and once that is reserved in obj's
	// status: anyone who closes the way looks for reservations afterwards. nil proves nothing.
	Recheck func(ctx context.Context) error
	// Admit tells whether obj's namespace may use all of these; nil admits them.
	Admit func(ctx context.Context, obj T, references []Reference) error
	// Objection is what the owners of the account have against obj's spec. Nothing is made with it; what is there is
	// kept, and it is told. nil: nothing.
	Objection error
	// Withheld are the declared paths that it is about: none is written as long as it holds.
	Withheld []string
}

// Connect opens the connection of obj.
type Connect[T Object, S any] func(ctx context.Context, obj T) (Connection[T, S], error)

// Reconciler implements engine.KindReconciler for one kind.
type Reconciler[T Object, S any] struct {
	Kind    string
	Connect Connect[T, S]
	// Publish keeps the binding Secret and returns its name and version.
	Publish func(ctx context.Context, obj T, details map[string]string) (*v1alpha1.Binding, error)
	// Keep records obj's request, so that it is made again once obj is gone, and lets go of what belongs to obj. It may
	// be repeated.
	Keep func(ctx context.Context, obj T) error
	// Vacate takes away what people have in the resource, before it stays without obj. It may be repeated; nil:
	// nothing.
	Vacate func(ctx context.Context, obj T, pass *engine.Pass) error
	// Stateful kinds are never re-created without the owner's word: their content would be silently lost.
	Stateful bool
	// FoundByTags: only its tags tell the next object of the same name of a resource that stays.
	FoundByTags bool
	// Settling is how long after a change of ours AWS may still show the state before it, absence included.
	Settling time.Duration
	// MaxDuration is the longest that one pass takes: how long before the creation its note may have been saved.
	MaxDuration time.Duration
	// Scaled returns a time of AWS's, as long as it takes here; nil: as long as in AWS.
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
	r := &reconciliation[T, S]{Reconciler: rec, Connection: c, obj: obj, pass: pass, lastSyncBefore: status.LastSyncTime}
	r.forgetSynced()
	for range maxRounds {
		if done, err := r.round(ctx); done || err != nil {
			return err
		}
	}
	return joinWaits(r.leftError(), r.ineffectiveError(r.countIneffective(r.last())))
}

// reconciliation is one pass over one object.
type reconciliation[T Object, S any] struct {
	Reconciler[T, S]
	Connection[T, S]
	obj            T
	pass           *engine.Pass
	recreating     bool                   // it was there, and has to be created again
	lostARN        string                 // of what is created again
	saved          bool                   // SaveStatus has shown obj to be the latest
	lastSyncBefore *metav1.Time           // status.lastSyncTime at the start
	taken          []engine.PlannedAction // so far
	left           []leftAction           // so far
	// pending are the paths that this pass has noted as pending.
	pending []string
}

// last returns the action that was taken last; the zero one if none was.
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
		return r.round(engine.WithRoutine(ctx, false)) // a routine look may be an old one: nothing is decided by it
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
			err = r.Objection // what is taken over is as good as made
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
		r.pass.RecordPlan(planned(actions)...) // with the parts of those that were divided
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

// inSync reports whether nothing is to do or to say about what was seen.
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

// finish ends the pass over a resource that needs no action, or none that can be taken now. rest is what Plan waits
// for; without it, and with nothing left, the resource is in sync. Its connection details are published then, and if
// all that is left is single settings.
func (r *reconciliation[T, S]) finish(ctx context.Context, seen *S, rest error) error {
	left := r.leftError()
	if left == nil {
		rest = cmp.Or(rest, r.Objection)
	}
	if slices.ContainsFunc(r.left, func(l leftAction) bool { return l.details }) {
		r.Adapter.Report(r.obj, seen)
		return joinWaits(left, rest)
	}
	if rest != nil && !isPostponed(rest) {
		if _, ok := engine.AsWait(rest); ok && seen != nil {
			r.Adapter.Report(r.obj, seen)
		}
		if told, ok := engine.AsWait(left); ok && told.Reason == engine.ReasonOf(rest) && told.Reason != v1alpha1.ReasonInvalidSpec {
			return left // AWS's answer says more of it than what is seen
		}
		return joinWaits(left, rest)
	}
	if rest == nil {
		r.keepSafe(seen)
		r.noteSynced()
	}
	if left != nil {
		left = joinWaits(left, r.Objection)
	}
	return cmp.Or(r.report(ctx, seen), joinWaits(left, rest))
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

// observeOnly reconciles under managementPolicy Observe: it compares and changes nothing. What is not for this
// namespace is as good as absent, so that nobody learns what another team has.
func (r *reconciliation[T, S]) observeOnly(ctx context.Context, seen *S) error {
	if seen == nil || r.Adapter.Owner(r.obj, seen) == Foreign {
		return engine.Blocked(v1alpha1.ReasonNotFound, "nothing of this name is there that namespace %[1]s may look at; managementPolicy Observe creates nothing. Correct the name, or ask somebody with access to AWS to tag the resource portico.dev/namespace=%[1]s", r.obj.GetNamespace())
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
		return engine.Blocked(v1alpha1.ReasonDiffers, "%s; managementPolicy Observe changes nothing", strings.Join(differs, "; "))
	}
	return rest
}
