// Package owned keeps the Kubernetes objects that belong to one of ours, by server-side apply: what we declare is ours
// and is repaired, what others declare beside it is left, and what is not ours is never touched.
package owned

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/portico-platform/portico/controllers/engine"
)

// Manager is the name under which our fields are known to the API server.
const Manager = "portico"

// Label and its value are on every object that we own: the caches hold no others.
const (
	Label      = "app.kubernetes.io/managed-by"
	LabelValue = "portico"
)

// Applied is the annotation that tells which declaration an object was last brought in line with.
const Applied = "portico.dev/applied"

// Reasons of what stands in the way.
const (
	ReasonConflict = "Conflict"
	ReasonLeaving  = "WaitingForDeletion"
	ReasonMade     = "MadeAtTheSameTime"
	ReasonChanged  = "ChangedAtTheSameTime"
)

// leaving is how soon an object that is being deleted is looked at again.
const leaving = 2 * time.Second

// Writer reads from the cache what is there, and writes what differs.
type Writer struct {
	Client client.Client
	Live   client.Reader // past the cache: it is asked before every write
}

// Pass is one pass over one owner.
type Pass struct {
	writer Writer
	owner  engine.Object
	ref    metav1.OwnerReference
	run    *engine.Pass
	proven bool
}

// Of starts a pass over owner, which must be of the scheme.
func (w Writer) Of(owner engine.Object, run *engine.Pass) (*Pass, error) {
	gvk, err := apiutil.GVKForObject(owner, w.Client.Scheme())
	if err != nil {
		return nil, fmt.Errorf("own objects: %w", err)
	}
	return &Pass{writer: w, owner: owner, run: run, ref: *metav1.NewControllerRef(owner, gvk)}, nil
}

// Apply makes what is declared hold in the owner's namespace. into is an empty object of the declared kind; it becomes
// what the cluster has. Unlike into, want declares nothing that is not ours: an apply configuration of client-go.
func (p *Pass) Apply(ctx context.Context, want any, into client.Object) error {
	d, err := p.declare(want)
	if err != nil {
		return err
	}
	if found, err := p.read(ctx, p.writer.Client, d, into); err != nil {
		return err
	} else if found && p.owns(into) && into.GetDeletionTimestamp() == nil {
		if diffs, err := d.missing(into); err != nil || len(diffs) == 0 {
			return err
		}
	}
	// The cache says no. It may be behind, or hold back what lacks our label: ask the server.
	found, err := p.read(ctx, p.writer.Live, d, into)
	if err != nil {
		return err
	}
	if !found {
		return p.create(ctx, d, into)
	}
	if err := p.mayWrite(d.what(), into); err != nil {
		return err
	}
	diffs, err := d.missing(into)
	if err != nil || len(diffs) == 0 {
		return err
	}
	return p.update(ctx, d, into, diffs)
}

// Remove deletes the object, if it is there and ours. obj needs no more than its type and name.
func (p *Pass) Remove(ctx context.Context, obj client.Object) error {
	d := declaration{key: p.Key(obj.GetName())}
	gvk, err := apiutil.GVKForObject(obj, p.writer.Client.Scheme())
	if err != nil {
		return err
	}
	d.kind = gvk.Kind
	found, err := p.read(ctx, p.writer.Client, d, obj)
	if err != nil || !found || !p.owns(obj) || obj.GetDeletionTimestamp() != nil {
		return err
	}
	if err := p.prove(ctx); err != nil {
		return err
	}
	err = p.writer.Client.Delete(ctx, obj, client.Preconditions{UID: new(obj.GetUID())})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // somebody else has deleted it
	}
	if err != nil {
		return fmt.Errorf("delete the %s: %w", d.what(), err)
	}
	p.run.Planned([]string{"Delete " + d.kind + " (not asked for any more)"})
	p.run.Normal("Removed", "Delete"+d.kind, "the %s, which is not asked for any more", d.what())
	return nil
}

func (p *Pass) read(ctx context.Context, from client.Reader, d declaration, into client.Object) (bool, error) {
	empty(into) // decoding would merge with what was read before
	err := from.Get(ctx, d.key, into)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the %s: %w", d.what(), err)
	}
	return true, nil
}

func (p *Pass) owns(obj client.Object) bool { return metav1.IsControlledBy(obj, p.owner) }

// mayWrite tells why an object that exists must be left alone.
func (p *Pass) mayWrite(what string, obj client.Object) error {
	switch owner := metav1.GetControllerOf(obj); {
	case p.owns(obj) && obj.GetDeletionTimestamp() == nil:
		return nil
	case p.owns(obj), owner != nil && owner.Kind == p.ref.Kind && owner.APIVersion == p.ref.APIVersion && owner.Name == p.ref.Name:
		return engine.Wait(ReasonLeaving, leaving, "the %s of before is being deleted", what)
	case owner != nil:
		return p.conflict(what, fmt.Sprintf("it belongs to the %s %s", owner.Kind, owner.Name))
	default:
		return p.conflict(what, "Portico did not make it")
	}
}

func (p *Pass) conflict(what, why string) error {
	return engine.Blocked(ReasonConflict, "a %s exists already and is left alone: %s; delete or rename it, or request this %s under another name",
		what, why, p.ref.Kind)
}

// prove makes sure, once in a pass, that the owner is the latest and is not being deleted, before anything is written.
func (p *Pass) prove(ctx context.Context) error {
	if p.proven {
		return nil
	}
	p.proven = true
	return p.run.Save(ctx)
}

func empty(obj client.Object) { reflect.ValueOf(obj).Elem().SetZero() }

func fill(from *unstructured.Unstructured, into client.Object) error {
	empty(into)
	return runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, into)
}

// Set makes a part of an object of ours hold that others may take over for good, such as the number of replicas: while
// it is declared we keep it, and when it is not it stays as it is. part names its manager. The object must be there.
func (p *Pass) Set(ctx context.Context, part string, want any, into client.Object) error {
	fields, err := plain(want)
	if err != nil {
		return fmt.Errorf("declare a %T: %w", want, err)
	}
	obj := &unstructured.Unstructured{Object: fields}
	obj.SetNamespace(p.owner.GetNamespace())
	d := declaration{kind: obj.GetKind(), key: client.ObjectKeyFromObject(obj), object: obj, hash: into.GetAnnotations()[Applied]}
	if diffs, err := d.missing(into); err != nil || len(diffs) == 0 {
		return err
	}
	found, err := p.read(ctx, p.writer.Live, d, into) // the cache may be behind
	if err != nil {
		return err
	}
	if !found {
		return engine.Wait(ReasonLeaving, leaving, "the %s is gone", d.what())
	}
	if err := p.mayWrite(d.what(), into); err != nil {
		return err
	}
	d.hash = into.GetAnnotations()[Applied]
	diffs, err := d.missing(into)
	if err != nil || len(diffs) == 0 {
		return err
	}
	obj.SetUID(into.GetUID()) // and no other of this name
	if err := p.prove(ctx); err != nil {
		return err
	}
	p.run.Planned([]string{"Update " + d.kind + " (" + strings.Join(diffs, ", ") + ")"})
	if err := p.force(ctx, obj, Manager+"-"+part); err != nil {
		return explain(d.what(), "update", err)
	}
	status := p.owner.Common()
	p.told(status.Ready && status.ObservedGeneration == p.owner.GetGeneration(), d, diffs)
	return fill(obj, into)
}

// Key is where the owner's object of this name is.
func (p *Pass) Key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: p.owner.GetNamespace(), Name: name}
}
