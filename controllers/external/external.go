// Package external drives one resource that lives outside the cluster: observe, plan, act, look again. It knows no
// cloud; an Adapter teaches it one kind.
package external

import (
	"cmp"
	"context"
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

// Owner says to whom a resource belongs, by the marks it carries.
type Owner int

const (
	// Foreign is somebody else's, or nobody's: never touched.
	Foreign Owner = iota
	// Ours carries the marks of exactly this object.
	Ours
	// Earlier carries the marks of an earlier object of the same name in the same namespace: taken back.
	Earlier
	// Offered is foreign, but somebody with access to it offers it to this object.
	Offered
)

// Adapter teaches one kind. T is the custom resource, S the adapter's own picture of what is there.
type Adapter[T Object, S any] interface {
	// Observe reads and changes nothing. A nil picture means: not there. An error never does.
	Observe(ctx context.Context, obj T) (*S, error)
	// Owner tells whose resource seen is.
	Owner(obj T, seen *S) Owner
	// Declared lists the spec paths that obj asks to be managed, sorted.
	Declared(obj T) []string
	// Reserve notes in obj's status where the resource will be: account, region and name. It is saved before anything is
	// created, so that whatever happens next, the resource is looked for where it is.
	Reserve(obj T)
	// Plan compares, and reaches for nothing: no network, no clock. No steps means in sync; a nil picture asks for
	// creation. What is ManagedBy obj and not declared any more goes back to the default. An error beside
	// steps is what will remain after them: the steps are taken first. A Pause without steps, such as "it is still being
	// created", is the outcome, and what is seen is reported all the same.
	Plan(obj T, seen *S) ([]Step, error)
	// Report copies the picture into obj's status and returns the connection details for its binding Secret.
	Report(obj T, seen *S) map[string]string
	// Delete starts removal; it is asked again until Observe sees nothing. confirmed says that AWS has answered that it
	// removed the resource, so that its absence needs no further proof. "Not found" is no such answer.
	Delete(ctx context.Context, obj T, seen *S) (confirmed bool, err error)
	// Disown removes the marks of ownership and leaves everything else.
	Disown(ctx context.Context, obj T, seen *S) error
}

// Step is one call that brings the resource closer to the spec.
type Step struct {
	Name string // CamelCase, the call, e.g. "PutBucketVersioning"
	Why  string // the difference, e.g. "versioning Suspended → Enabled"
	Do   func(context.Context) error
	// Sets are the declared paths that the call writes, all or none of them. A path that no step names is managed only once
	// all of the spec was found to hold.
	Sets []Change
	// Note tells of the step once it is taken, in place of the usual event: of what neither creates nor follows the spec,
	// nor repairs. It may be nil.
	Note func(*engine.Notes)
	// References are what the step has the resource refer to and may belong to somebody else. The step is taken only if
	// Connection.Admit lets them pass.
	References []Reference
}

// Reference names something beside the resource that the owner may or may not be allowed to use.
type Reference struct{ Kind, Name string }

// Resolver is an Adapter of a kind whose spec refers to other objects. Resolve reads them, once in each Sync and before
// everything else; a Pause says which one is waited for. A Release resolves nothing.
type Resolver[T Object] interface {
	Resolve(ctx context.Context, obj T) error
}

// Stopper is an Adapter of a kind that offers DeletionStop. Stop is asked again until it tells that the resource stands
// still.
type Stopper[T Object, S any] interface {
	Stop(ctx context.Context, obj T, seen *S) (stopped bool, err error)
}

// Ender is an Adapter of a kind that AWS shows for a while after its end. Ended tells whether the latest Observe saw
// nothing because it saw the end itself, which proves absence however young the resource is.
type Ender interface{ Ended() bool }

// Retrier is an Adapter of a kind whose creations carry a token that AWS ties to their parameters, even if it refuses
// them. NextAttempt has the next creation carry another one. It is called only when no creation with the present one can
// have got through unseen.
type Retrier[T Object] interface{ NextAttempt(obj T) }

// Connection is the way to one object's resource: its account, region and role.
type Connection[T Object, S any] struct {
	Adapter Adapter[T, S]
	// Version of what else the plans follow, so that the change of a shared setting is not taken for a foreign one.
	Version int64
	// Prove checks, past every cache, that the adapter's marks are those of obj's living namespace, and that the way to
	// the account stays. It is asked before anything is made or taken over, and once that is reserved in obj's status:
	// whoever closes the way looks for reservations afterwards. nil proves nothing.
	Prove func(ctx context.Context) error
	// Admit tells whether obj's namespace may use all of these; nil admits them.
	Admit func(ctx context.Context, obj T, references []Reference) error
	// Objection is what the owners of the account have against obj's spec. Nothing is made with it; what is there is kept,
	// and it is told. nil: nothing.
	Objection error
}

// Connect opens the connection of obj.
type Connect[T Object, S any] func(ctx context.Context, obj T) (Connection[T, S], error)

// Work implements engine.Work for one kind.
type Work[T Object, S any] struct {
	Kind    string
	Connect Connect[T, S]
	// Publish keeps the binding Secret and returns its name and version.
	Publish func(ctx context.Context, obj T, details map[string]string) (*v1alpha1.Binding, error)
	// Stateful kinds are never re-created without the owner's word: their content would be silently lost.
	Stateful bool
	// Settling is how long after a change of ours AWS may still show the state before it, absence included.
	Settling time.Duration
	// Longest is the longest that one pass takes: how long before the creation its note may have been saved.
	Longest time.Duration
	Now     func() time.Time
}

// rounds bounds one pass: create, configure, verify, and one to spare.
const rounds = 4

// Sync implements engine.Work.
func (w Work[T, S]) Sync(ctx context.Context, obj T, run *engine.Pass) error {
	c, err := w.Connect(ctx, obj)
	if err != nil {
		return err
	}
	if r, ok := c.Adapter.(Resolver[T]); ok {
		if err := r.Resolve(ctx, obj); err != nil {
			return err
		}
	}
	_, status := obj.AWS()
	p := &pass[T, S]{Work: w, Connection: c, obj: obj, run: run, before: status.LastSyncTime}
	for range rounds {
		if done, err := p.round(ctx); done || err != nil {
			return err
		}
	}
	return p.unkept(p.last)
}

// tries of a step that was accepted and does not show, before somebody is asked to look.
const tries = 3

// unkept is what a step means that was taken, and is to be taken again. At first AWS may be about to show it. After some
// passes it is more likely that the service takes no notice of it, or that somebody changes it back at once.
func (p *pass[T, S]) unkept(what string) error { return p.judge(what, p.run.Unkept(what)) }

func (p *pass[T, S]) judge(what string, tried int) error {
	if tried < tries {
		return p.unsettled(what)
	}
	return engine.Blocked("NotKept", "%s was accepted again and again, and does not show: the service takes no notice of it, shows it late, or something changes it back at once. Find out which, or change the spec; Portico tries again by itself, at least every 5 minutes", what)
}

// unsettled waits for what AWS accepted and does not show yet.
func (p *pass[T, S]) unsettled(what string) error {
	return engine.Wait("Settling", p.again(), "%s was accepted; waiting until it shows", what)
}

// pass is one Sync of one object.
type pass[T Object, S any] struct {
	Work[T, S]
	Connection[T, S]
	obj    T
	run    *engine.Pass
	lost   bool         // it was there, and has to be created again
	proven bool         // Save has shown obj to be the latest
	before *metav1.Time // status.lastSyncTime at the start
	done   []string     // steps taken so far, name and why
	last   string
	// intended are the paths that this pass has noted as pending.
	intended []string
}

func (p *pass[T, S]) round(ctx context.Context) (done bool, err error) {
	seen, err := p.Adapter.Observe(ctx, p.obj)
	if err != nil {
		return false, err
	}
	if engine.IsRoutine(ctx) && !p.inSync(seen) {
		return p.round(engine.Routine(ctx, false)) // a routine look may be an old one: nothing is decided by it
	}
	spec, _ := p.obj.AWS()
	if spec.ManagementPolicy == v1alpha1.ManagementObserve {
		return true, p.watch(ctx, seen)
	}
	if seen == nil {
		err = cmp.Or(p.absent(), p.Objection)
	} else {
		err = p.admit(seen)
	}
	if err != nil {
		return false, err
	}
	steps, rest := p.Adapter.Plan(p.obj, seen)
	if len(steps) == 0 {
		return true, p.settle(ctx, seen, cmp.Or(rest, p.Objection))
	}
	if err := p.prepare(ctx, seen, steps); err != nil {
		p.unwritten(nil, true)
		return false, err
	}
	return false, p.act(ctx, seen == nil, steps)
}

// inSync tells whether nothing is to do or to say about what was seen.
func (p *pass[T, S]) inSync(seen *S) bool {
	spec, _ := p.obj.AWS()
	if seen == nil || (p.Adapter.Owner(p.obj, seen) != Ours && spec.ManagementPolicy != v1alpha1.ManagementObserve) {
		return false
	}
	steps, err := p.Adapter.Plan(p.obj, seen)
	return len(steps) == 0 && err == nil && p.Objection == nil
}

// settle reports what needs no step. rest is what is still to be waited for; only without it the resource is in sync,
// and its connection details are published.
func (p *pass[T, S]) settle(ctx context.Context, seen *S, rest error) error {
	_, status := p.obj.AWS()
	if rest != nil {
		if _, ok := engine.AsPause(rest); ok && seen != nil {
			p.Adapter.Report(p.obj, seen)
		}
		return rest
	}
	status.ManagedFields, status.PendingFields, status.ProviderGeneration = p.Adapter.Declared(p.obj), nil, p.Version
	return p.report(ctx, seen)
}

func (p *pass[T, S]) report(ctx context.Context, seen *S) error {
	_, status := p.obj.AWS()
	details := p.Adapter.Report(p.obj, seen)
	if p.Publish == nil {
		return nil
	}
	binding, err := p.Publish(ctx, p.obj, details)
	if err != nil {
		return err
	}
	status.Binding = binding
	return nil
}

// watch is Sync under managementPolicy Observe: it compares and changes nothing.
func (p *pass[T, S]) watch(ctx context.Context, seen *S) error {
	if seen == nil {
		return engine.Blocked("NotFound", "nothing of this name is there, and managementPolicy Observe creates nothing")
	}
	steps, rest := p.Adapter.Plan(p.obj, seen)
	if err := p.report(ctx, seen); err != nil {
		return err
	}
	var differs []string
	for _, s := range steps {
		differs = append(differs, s.Why)
	}
	if len(differs) > 0 {
		return engine.Blocked("Differs", "%s; managementPolicy Observe changes nothing", strings.Join(differs, "; "))
	}
	return rest
}
