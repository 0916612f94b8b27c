package external

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// ObserveOnly reports whether obj's resource is only compared, and never changed.
func ObserveOnly(obj Object) bool {
	spec, _ := obj.AWS()
	return spec.ManagementPolicy == v1alpha1.ManagementObserve
}

// Holds reports whether the resource that the status of obj names is known to be obj's own, and not one that was only
// ever observed, or that is somebody else's by now.
func Holds(obj Object) bool {
	_, status := obj.AWS()
	ready := meta.FindStatusCondition(obj.Common().Conditions, v1alpha1.ConditionReady)
	lost := ready != nil && (ready.Reason == v1alpha1.ReasonAlreadyExists || ready.Reason == v1alpha1.ReasonOwnershipTagsLost)
	return status.ARN != "" && status.LastSyncTime != nil && !ObserveOnly(obj) && !lost
}

// ReadsSettings reports whether Observe reads more of obj's resource than whose it is: not of what is foreign, or is to
// go.
func ReadsSettings(obj Object, owner Owner) bool {
	return obj.GetDeletionTimestamp().IsZero() && owner != Foreign
}

// Owner says to whom a resource belongs, by the marks it carries.
type Owner int

const (
	// Foreign means that the resource is somebody else's, or nobody's: it is never touched.
	Foreign Owner = iota
	// Ours means that it carries the ownership tags of exactly this object.
	Ours
	// Earlier means that it carries those of an earlier object of the same name in the same namespace: it is taken
	// back.
	Earlier
	// Offered means that it is foreign, and offered to this object by somebody with access to it; or to its namespace,
	// if the object only looks at it.
	Offered
)

// Noted returns a name that the status has, while something is reserved by it: what was not made may be asked for by
// another one.
func Noted(status *v1alpha1.AWSStatus, name string) string {
	if status.AccountID == "" && status.ARN == "" {
		return ""
	}
	return name
}

// Adapter teaches one kind. T is the custom resource, S the adapter's type for the observed state.
type Adapter[T Object, S any] interface {
	// Observe reads and changes nothing. A nil state means that the resource is absent; an error never does.
	Observe(ctx context.Context, obj T) (*S, error)
	// Owner returns whose resource seen is.
	Owner(obj T, seen *S) Owner
	// Declared lists the spec paths that obj asks to be managed, sorted.
	Declared(obj T) []string
	// Reserve notes in obj's status where the resource will be: account, region and name; or where seen is that is
	// taken over, if only that tells it. It is saved before anything is created or taken over, so that whatever happens
	// next, the resource is looked for where it is. seen may be nil.
	Reserve(obj T, seen *S)
	// Plan compares, and reaches for nothing: no network, no clock. No actions means in sync; a nil state asks for
	// creation. What is ManagedBy obj and not declared any more goes back to the default. An error beside actions is
	// what will remain after them: the actions are taken first. A WaitError without actions, such as "it is still being
	// created", is the outcome, and what is seen is reported all the same; one that is Postponed holds nothing up.
	Plan(obj T, seen *S) ([]Action, error)
	// Report copies the observed state into obj's status and returns the connection details for its binding Secret.
	Report(obj T, seen *S) map[string]string
	// Delete starts removal; it is asked again until Observe sees nothing. confirmed says that AWS has answered that it
	// removed the resource, so that its absence needs no further proof. "Not found" is no such answer.
	Delete(ctx context.Context, obj T, seen *S) (confirmed bool, err error)
	// Disown removes the marks of ownership and leaves everything else.
	Disown(ctx context.Context, obj T, seen *S) error
}

// Action is one call that brings the resource closer to the spec.
type Action struct {
	Name string // CamelCase, the call, e.g. "PutBucketVersioning"
	Why  string // the difference, e.g. "versioning Suspended → Enabled"
	Do   func(context.Context) error
	// Changes are the declared paths that the call writes, all or none of them. A path that no action names is managed
	// only once all of the spec was found to hold.
	Changes []Change
	// Settles is how long AWS may show the state before the action; 0 is as long as for most.
	Settles time.Duration
	// Event tells of the action once it is taken, in place of the usual event: of what neither creates nor follows the
	// spec, nor repairs. It may be nil.
	Event func(*engine.Events)
	// References are what the action has the resource refer to and may belong to somebody else. The action is taken
	// only if Connection.Admit lets them pass.
	References []Reference
	// Refusal is why the operator does not make the call, though AWS would take it. The condition Ready says it, and
	// AWS keeps what it has.
	Refusal error
	// Parts returns the same changes in smaller calls. They are made when the whole call is refused, so that one value
	// that AWS does not take holds up no other. nil: the call cannot be divided.
	Parts func() []Action
	// Details says that the connection details follow from the action: none are published while it is refused or
	// postponed.
	Details bool
	// Secretive says that Why does not tell all that the action depends on, such as a password: after a refusal every
	// pass tries again.
	Secretive bool
	// Marks says that the action gives the resource its marks of ownership. Nothing else is changed before of what does
	// not carry them yet.
	Marks bool
}

// Divisible returns the action that makes all groups of changes in one call, and that can be divided between groups:
// AWS judges the changes of one group together. call returns the action for some of them. Groups that guard something
// come first.
func Divisible(groups [][]Change, call func([]Change) Action) Action {
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b []Change) int { return guardsFirst(guards(a), guards(b)) })
	action := call(slices.Concat(groups...))
	if half := len(groups) / 2; half > 0 {
		action.Parts = func() []Action {
			return []Action{Divisible(groups[:half], call), Divisible(groups[half:], call)}
		}
	}
	return action
}

// SettlingIn returns the action with the time that it, and each of its parts, may take to show.
func (a Action) SettlingIn(d time.Duration) Action {
	parts := a.Parts
	if a.Settles = d; parts != nil {
		a.Parts = func() []Action {
			all := parts()
			for n := range all {
				all[n] = all[n].SettlingIn(d)
			}
			return all
		}
	}
	return a
}

// Groups divides changes for Divisible: those of paths that are named together stay together, every other is a group of
// its own.
func Groups(changes []Change, together ...[]string) [][]Change {
	var groups [][]Change
	for _, c := range changes {
		at := slices.IndexFunc(groups, func(group []Change) bool {
			return slices.ContainsFunc(together, func(paths []string) bool {
				return slices.Contains(paths, c.Path) && slices.Contains(paths, group[0].Path)
			})
		})
		if at < 0 {
			groups = append(groups, []Change{c})
			continue
		}
		groups[at] = append(groups[at], c)
	}
	return groups
}

func guards(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Guards })
}

// guardsFirst compares for a sort that puts what guards something before everything else.
func guardsFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// Reference names something beside the resource that the owner may or may not be allowed to use.
type Reference struct{ Kind, Name string }

// Resolver is an Adapter of a kind whose spec refers to other objects. Resolve reads them, once in each Reconcile and
// before everything else; a WaitError says which one is waited for. Finalize resolves nothing.
type Resolver[T Object] interface {
	Resolve(ctx context.Context, obj T) error
}

// Stopper is an Adapter of a kind that offers DeletionStop. Stop is asked again until it tells that the resource stands
// still.
type Stopper[T Object, S any] interface {
	Stop(ctx context.Context, obj T, seen *S) (stopped bool, err error)
}

// TerminationObserver is an Adapter of a kind that AWS shows for a while after its end. Terminated reports whether the
// latest Observe saw nothing because it saw the end itself, which proves absence however young the resource is.
type TerminationObserver interface{ Terminated() bool }

// DeletionObserver is an Adapter of a kind whose deletion takes AWS a while. Deleting reports whether it has begun:
// nothing stops it then.
type DeletionObserver[S any] interface{ Deleting(seen *S) bool }

// Retrier is an Adapter of a kind whose creations carry a token that AWS ties to their parameters, even if it refuses
// them. NextAttempt has the next creation carry another one. It is called only when no creation with the present one
// can have got through unseen.
type Retrier[T Object] interface{ NextAttempt(obj T) }

// Remarker is an Adapter that knows how lost marks are restored. Remark returns the command by which somebody with
// access to AWS gives obj's to what seen shows, and keeps all else there; empty, if it lacks none, or carries any that
// is not obj's.
type Remarker[T Object, S any] interface {
	Remark(obj T, seen *S) (command string)
}

// SafeKeeper is an Adapter of a kind with settings of which one value keeps others out. SafePaths lists those that have
// it in seen, as far as they were read; all of them, if seen is nil. See status.safeFields for which Portico keeps
// there.
type SafeKeeper[T Object, S any] interface{ SafePaths(obj T, seen *S) []string }

// LiveReader is an Adapter of a kind with values that change all the time, such as the number of messages in a queue,
// and are therefore in no status. ReadLive returns them by their names in camelCase, nil if obj has no resource yet. It
// is called when somebody looks, and changes nothing, obj included. Its errors are for users.
type LiveReader[T Object] interface {
	ReadLive(ctx context.Context, obj T) (map[string]string, error)
}
