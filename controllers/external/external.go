// Package external drives one resource that lives outside the cluster: observe, plan, act, look again. It knows no
// cloud; an Adapter teaches it one kind.
package external

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Object is a custom resource that stands for an external one.
type Object interface {
	engine.Object
	AWS() (*v1alpha1.AWSSpec, *v1alpha1.AWSStatus)
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
	// Plan compares, and reaches for nothing: no network, no clock. No steps means in sync; a nil picture asks for
	// creation. A path in status.managedFields that is not declared any more goes back to the default.
	Plan(obj T, seen *S) ([]Step, error)
	// Report copies the picture into obj's status and returns the connection details for its binding Secret.
	Report(obj T, seen *S) map[string]string
	// Delete starts removal; it is asked again until Observe sees nothing.
	Delete(ctx context.Context, obj T, seen *S) error
	// Disown removes the marks of ownership and leaves everything else.
	Disown(ctx context.Context, obj T, seen *S) error
}

// Step is one call that brings the resource closer to the spec.
type Step struct {
	Name string // CamelCase, the call, e.g. "PutBucketVersioning"
	Why  string // the difference, e.g. "versioning Suspended → Enabled"
	Do   func(context.Context) error
}

// Connect returns the adapter to use for obj: its account, region and role.
type Connect[T Object, S any] func(ctx context.Context, obj T) (Adapter[T, S], error)

// Work implements engine.Work for one kind.
type Work[T Object, S any] struct {
	Kind    string
	Connect Connect[T, S]
	// Confirm reads obj past every cache and fails unless it is the same object and not being deleted.
	Confirm func(ctx context.Context, obj T) error
	// Publish keeps the binding Secret and returns its name and version.
	Publish func(ctx context.Context, obj T, details map[string]string) (*v1alpha1.Binding, error)
	// Stateful kinds are never re-created without the owner's word: their content would be silently lost.
	Stateful bool
	Now      func() time.Time
}

// rounds bounds one pass: create, configure, verify, and one to spare.
const rounds = 4

// Sync implements engine.Work.
func (w Work[T, S]) Sync(ctx context.Context, obj T, notes *engine.Notes) error {
	a, err := w.Connect(ctx, obj)
	if err != nil {
		return err
	}
	p := &pass[T, S]{Work: w, adapter: a, obj: obj, notes: notes}
	for range rounds {
		if done, err := p.round(ctx); done || err != nil {
			return err
		}
	}
	return fmt.Errorf("%s was accepted, but does not show yet", p.last)
}

// pass is one Sync of one object.
type pass[T Object, S any] struct {
	Work[T, S]
	adapter Adapter[T, S]
	obj     T
	notes   *engine.Notes
	done    []string // steps taken so far, name and why
	last    string
}

func (p *pass[T, S]) round(ctx context.Context) (done bool, err error) {
	seen, err := p.adapter.Observe(ctx, p.obj)
	if err != nil {
		return false, err
	}
	spec, _ := p.obj.AWS()
	if spec.ManagementPolicy == v1alpha1.ManagementObserve {
		return true, p.watch(ctx, seen)
	}
	if seen == nil {
		err = p.absent()
	} else {
		err = p.admit(seen)
	}
	if err != nil {
		return false, err
	}
	steps, err := p.adapter.Plan(p.obj, seen)
	if err != nil {
		return false, err
	}
	if len(steps) == 0 {
		return true, p.settle(ctx, seen)
	}
	return false, p.act(ctx, seen == nil, steps)
}

// absent decides what it means that nothing is there.
func (p *pass[T, S]) absent() error {
	_, status := p.obj.AWS()
	if len(p.done) > 0 {
		return engine.Wait("Creating", 2*time.Second, "%s was accepted; waiting until the resource shows", p.last)
	}
	if status.ARN == "" || !p.Stateful {
		return nil
	}
	next := fmt.Sprint(status.Recreations + 1)
	if p.obj.GetAnnotations()[v1alpha1.AnnotationAcknowledgeRecreate] == next {
		status.Recreations++
		p.notes.Normal("RecreateAcknowledged", "Recreate", "%s is gone; a new, empty one takes its place as acknowledged", status.ARN)
		status.ARN = ""
		return engine.Again("the re-creation was acknowledged")
	}
	return engine.Blocked("ExternallyDeleted",
		"%s was deleted outside Portico, and its content with it. To get a new, empty one set the annotation %s=%s on this object; to give it up delete this object",
		status.ARN, v1alpha1.AnnotationAcknowledgeRecreate, next)
}

// admit lets pass only what is ours, was ours, or is offered to us and wanted.
func (p *pass[T, S]) admit(seen *S) error {
	spec, _ := p.obj.AWS()
	switch p.adapter.Owner(p.obj, seen) {
	case Ours, Earlier:
		return nil
	case Offered:
		if spec.AdoptionPolicy == v1alpha1.AdoptionAdopt {
			return nil
		}
		return engine.Blocked("AlreadyExists",
			"a resource of this name exists and is offered to this object by its portico.dev/adopt tag; set spec.adoptionPolicy to Adopt to take it")
	default:
	}
	return engine.Blocked("AlreadyExists",
		"a resource of this name exists and does not belong to this object; nothing was changed. Choose another name, or adopt it: set spec.adoptionPolicy to Adopt and ask somebody with access to AWS to tag it portico.dev/adopt=%s/%s",
		p.obj.GetNamespace(), p.obj.GetName())
}

// act takes the steps. Before the first it makes sure that a crash right after it can be recovered from.
func (p *pass[T, S]) act(ctx context.Context, create bool, steps []Step) error {
	if err := p.writeAhead(); err != nil {
		return err
	}
	if create && p.Confirm != nil {
		if err := p.Confirm(ctx, p.obj); err != nil {
			return err
		}
	}
	_, status := p.obj.AWS()
	for _, s := range steps {
		what := s.Name + " (" + s.Why + ")"
		if slices.Contains(p.done, what) {
			return fmt.Errorf("%s was accepted, but does not show yet", what)
		}
		if err := s.Do(ctx); err != nil {
			return err
		}
		p.done, p.last = append(p.done, what), what
		stamp(status, p.Now())
		p.tell(create, s)
	}
	return nil
}

// writeAhead saves the paths that are about to be managed, so that one removed from the spec after a crash is still
// known to need its default back.
func (p *pass[T, S]) writeAhead() error {
	_, status := p.obj.AWS()
	all := union(status.ManagedFields, p.adapter.Declared(p.obj))
	if len(all) == len(status.ManagedFields) {
		return nil
	}
	status.ManagedFields = all
	return engine.Again("the plan is made")
}

// tell notes a step as what it is for the owner: creation, the owner's edit, or the repair of a foreign one.
func (p *pass[T, S]) tell(create bool, s Step) {
	common := p.obj.Common()
	switch {
	case create:
		p.notes.Normal("Created", s.Name, "%s", s.Why)
	case common.Ready && common.ObservedGeneration == p.obj.GetGeneration():
		p.notes.Warning("Repaired", s.Name, "%s; it was changed outside Portico", s.Why)
		driftRepaired.WithLabelValues(p.Kind).Inc()
	default:
		p.notes.Normal("Updated", s.Name, "%s", s.Why)
	}
}

// settle reports what is in sync.
func (p *pass[T, S]) settle(ctx context.Context, seen *S) error {
	_, status := p.obj.AWS()
	status.ManagedFields = p.adapter.Declared(p.obj)
	if status.ARN == "" && len(p.done) == 0 {
		stamp(status, p.Now()) // created by a pass that did not live to say so
	}
	return p.report(ctx, seen)
}

func (p *pass[T, S]) report(ctx context.Context, seen *S) error {
	_, status := p.obj.AWS()
	details := p.adapter.Report(p.obj, seen)
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

// watch is Sync under managementPolicy Observe.
func (p *pass[T, S]) watch(ctx context.Context, seen *S) error {
	if seen == nil {
		return engine.Blocked("NotFound", "nothing of this name is there, and managementPolicy Observe creates nothing")
	}
	return p.report(ctx, seen)
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
