package external

import (
	"context"
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

// Holds reports whether the resource in the status of obj is known to be obj's own, and not only observed or owned by
// somebody else meanwhile.
func Holds(obj Object) bool {
	_, status := obj.AWS()
	ready := meta.FindStatusCondition(obj.Common().Conditions, v1alpha1.ConditionReady)
	lost := ready != nil && (ready.Reason == v1alpha1.ReasonAlreadyExists ||
		ready.Reason == v1alpha1.ReasonOwnershipTagsLost)
	return status.ARN != "" && status.LastSyncTime != nil && !ObserveOnly(obj) && !lost
}

// ReadsSettings reports whether Observe reads the settings of obj's resource in addition to its owner: not for foreign
// resources, nor during deletion.
func ReadsSettings(obj Object, owner Owner) bool {
	return obj.GetDeletionTimestamp().IsZero() && owner != Foreign
}

// Owner says who owns a resource, according to its ownership tags.
type Owner int

const (
	// Foreign means that the resource belongs to somebody else, or to nobody: it is never changed.
	Foreign Owner = iota
	// Ours means that it has the ownership tags of exactly this object.
	Ours
	// Earlier means that it has those of an earlier object with the same name in the same namespace: it is adopted.
	Earlier
	// Offered means that it is foreign, and somebody with access to it offers it to this object; or to its namespace,
	// if the object only observes it.
	Offered
)

// Noted returns name while something is reserved under it, else "": what was not created may get another name.
func Noted(status *v1alpha1.AWSStatus, name string) string {
	if status.AccountID == "" && status.ARN == "" {
		return ""
	}
	return name
}

// Adapter implements one kind. T is the custom resource, S the adapter's type for the observed state.
//
// What only some kinds need is in interfaces of its own, in optional.go. The engine finds them by a type assertion: one
// that is missing, or has another signature, is not an error. Each kind therefore asserts those that it implements,
// beside its constructor:
//
//   - [TagRestorer]: always; the command that restores lost ownership tags
//   - [Resolver]: the spec names other objects
//   - [SafePather]: it has settings that are [Setting.Safe]
//   - [LiveReader]: it has values that change all the time
//   - [Stopper]: it offers the deletion policy Stop
//   - [DeletionObserver]: AWS takes a while to delete the resource
//   - [TerminationObserver]: AWS still shows the resource after its end
//   - [Retrier]: AWS ties the parameters of a creation to a token
type Adapter[T Object, S any] interface {
	// Observe reads and never writes. A nil state means that the resource is absent; an error never does.
	Observe(ctx context.Context, obj T) (*S, error)
	// Owner returns the owner of seen.
	Owner(obj T, seen *S) Owner
	// Declared lists the spec paths that obj declares, sorted.
	Declared(obj T) []string
	// Reserve writes into obj's status where the resource will be: account, region and name; or the identifier of seen,
	// if it is adopted and AWS chose its identifier. The engine saves it before it creates or adopts anything, so that
	// the resource can always be found again. seen may be nil.
	Reserve(obj T, seen *S)
	// Plan compares, without I/O and without the clock. No actions means in sync; a nil state asks for creation. Paths
	// that are ManagedBy obj and no longer declared go back to their default. An error returned with actions is what
	// remains after them: the actions are executed first. A WaitError without actions, such as "it is still being
	// created", is the outcome, and the observed state is reported; one that is Postponed blocks nothing.
	Plan(obj T, seen *S) ([]Action, error)
	// Report copies the observed state into obj's status and returns the connection details for its binding Secret.
	Report(obj T, seen *S) map[string]string
	// Delete starts the deletion; it is called again until Observe returns nil. confirmed means that AWS has confirmed
	// the removal, so that the absence needs no further proof. "Not found" is not a confirmation.
	Delete(ctx context.Context, obj T, seen *S) (confirmed bool, err error)
	// Disown removes the ownership tags and keeps everything else.
	Disown(ctx context.Context, obj T, seen *S) error
}

// Action is one call that brings the resource closer to the spec.
type Action struct {
	Name string // CamelCase, the call, e.g. "PutBucketVersioning"
	Why  string // the difference, e.g. "versioning Suspended → Enabled"
	Do   func(context.Context) error
	// Changes are the declared paths that the call writes, all or none of them. A path that no action names is managed
	// only once the whole spec was found in sync.
	Changes []Change
	// Settles is how long AWS may show the state from before the action; 0 is the default.
	Settles time.Duration
	// Event sends an event after the action, instead of the usual one: for actions that neither create, nor follow the
	// spec, nor repair. It may be nil.
	Event func(*engine.Events)
	// References are objects that the resource will refer to and that may belong to somebody else. The action is
	// executed only if Connection.Admit admits them.
	References []Reference
	// Refusal is why the operator does not make the call, though AWS would accept it. It is reported in the condition
	// Ready, and AWS keeps the current state.
	Refusal error
	// Parts returns the same changes in smaller calls. They are made if the whole call is refused, so that one invalid
	// value does not block the others. nil: the call cannot be divided.
	Parts func() []Action
	// Details means that the connection details depend on the action: none are published while it is refused or
	// postponed.
	Details bool
	// Secretive means that Why does not cover all inputs of the action, such as a password: it is tried again in every
	// pass after a refusal.
	Secretive bool
	// Marks means that the action sets the resource's ownership tags. Without them nothing else of the resource is
	// changed first.
	Marks bool
}

// Reference names another object that the owner may or may not be allowed to use.
type Reference struct{ Kind, Name string }
