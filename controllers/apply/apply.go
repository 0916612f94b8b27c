// Package apply keeps the Kubernetes objects that belong to one of ours, by server-side apply: what we declare is ours
// and is repaired, what others declare beside it is left, and what is not ours is never touched.
package apply

import (
	"cmp"
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

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// FieldManager is the name under which our fields are known to the API server.
const FieldManager = "portico"

// Label and its value are on every object that we own: the caches hold no others.
const (
	Label      = "app.kubernetes.io/managed-by"
	LabelValue = "portico"
)

// AnnotationApplied is the annotation with the declaration that was last applied to an object.
const AnnotationApplied = "portico.dev/applied"

// recheckAfter is how soon an object that is being deleted is looked at again.
const recheckAfter = 2 * time.Second

// Applier reads from the cache what is there, and writes what differs.
type Applier struct {
	Client    client.Client
	APIReader client.Reader // past the cache: it is asked before every write
}

// Objects is one pass over one owner.
type Objects struct {
	applier Applier
	owner   engine.Object
	ref     metav1.OwnerReference
	pass    *engine.Pass
	saved   bool
}

// For starts a pass over owner, which must be of the scheme.
func (a Applier) For(owner engine.Object, pass *engine.Pass) (*Objects, error) {
	gvk, err := apiutil.GVKForObject(owner, a.Client.Scheme())
	if err != nil {
		return nil, fmt.Errorf("own objects: %w", err)
	}
	return &Objects{applier: a, owner: owner, pass: pass, ref: *metav1.NewControllerRef(owner, gvk)}, nil
}

// Apply makes what is declared hold, in the owner's namespace if it has one, else in that of the declaration. into is
// an empty object of the declared kind; it becomes what the cluster has. Unlike into, want declares nothing that is not
// ours: an apply configuration of client-go.
func (o *Objects) Apply(ctx context.Context, want any, into client.Object) error {
	d, err := o.declare(want)
	if err != nil {
		return err
	}
	if found, err := o.read(ctx, o.applier.Client, d, into); err != nil {
		return err
	} else if found && o.owns(into) && into.GetDeletionTimestamp() == nil {
		if diffs, err := d.diff(into); err != nil || len(diffs) == 0 {
			return err
		}
	}
	// The cache says no. It may be behind, or hold back what lacks our label: ask the server.
	found, diffs, err := o.check(ctx, d, into)
	switch {
	case err == nil && !found:
		return o.create(ctx, d, into)
	case err != nil || len(diffs) == 0:
		return err
	}
	return o.update(ctx, d, into, diffs)
}

// check asks the server what the object lacks of the declaration; an error says why it must be left alone.
func (o *Objects) check(ctx context.Context, d declaration, into client.Object) (found bool, diffs []string, err error) {
	if found, err = o.read(ctx, o.applier.APIReader, d, into); err != nil || !found {
		return found, nil, err
	}
	if err := o.whyNotWrite(d.String(), into); err != nil {
		return true, nil, err
	}
	diffs, err = d.diff(into)
	return true, diffs, err
}

// Delete deletes the object, if it exists and is ours. obj needs only its type and name.
func (o *Objects) Delete(ctx context.Context, obj client.Object) error {
	d := declaration{key: types.NamespacedName{Namespace: o.namespace(obj.GetNamespace()), Name: obj.GetName()}}
	gvk, err := apiutil.GVKForObject(obj, o.applier.Client.Scheme())
	if err != nil {
		return err
	}
	d.kind = gvk.Kind
	found, err := o.read(ctx, o.applier.Client, d, obj)
	if err != nil || !found || !o.owns(obj) || obj.GetDeletionTimestamp() != nil {
		return err
	}
	if err := o.saveOwner(ctx); err != nil {
		return err
	}
	err = o.applier.Client.Delete(ctx, obj, client.Preconditions{UID: new(obj.GetUID())})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // somebody else has deleted it
	}
	if err != nil {
		return fmt.Errorf("delete the %s: %w", d.String(), err)
	}
	o.pass.RecordPlan(engine.PlannedAction{Name: "Delete " + d.kind, Why: "the spec no longer asks for it"})
	o.pass.Normal(v1alpha1.ReasonRemoved, "Delete"+d.kind, "the %s, which the spec no longer asks for", d.String())
	return nil
}

func (o *Objects) read(ctx context.Context, from client.Reader, d declaration, into client.Object) (bool, error) {
	reset(into) // decoding would merge with what was read before
	err := from.Get(ctx, d.key, into)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the %s: %w", d.String(), err)
	}
	return true, nil
}

func (o *Objects) owns(obj client.Object) bool { return metav1.IsControlledBy(obj, o.owner) }

// whyNotWrite returns why an object that exists must be left alone.
func (o *Objects) whyNotWrite(what string, obj client.Object) error {
	switch owner := metav1.GetControllerOf(obj); {
	case o.owns(obj) && obj.GetDeletionTimestamp() == nil:
		return nil
	case o.owns(obj), owner != nil && owner.Kind == o.ref.Kind && owner.APIVersion == o.ref.APIVersion && owner.Name == o.ref.Name:
		return engine.Wait(v1alpha1.ReasonWaitingForDeletion, recheckAfter, "the previous %s is still being deleted", what)
	case owner != nil:
		return o.conflict(what, fmt.Sprintf("it belongs to the %s %s", owner.Kind, owner.Name))
	default:
		return o.conflict(what, "Portico did not make it")
	}
}

func (o *Objects) conflict(what, why string) error {
	if o.owner.GetNamespace() == "" {
		return engine.Blocked(v1alpha1.ReasonConflict, "%s exists already and is left alone: %s; delete it, or take what asks for it out of the %s", spoken.A(what), why, o.ref.Kind)
	}
	return engine.Blocked(v1alpha1.ReasonConflict, "%s exists already and is left alone: %s; delete or rename it, or request this %s under another name",
		spoken.A(what), why, o.ref.Kind)
}

// saveOwner makes sure, once in a pass, that the owner is the latest and is not being deleted, before anything is
// written.
func (o *Objects) saveOwner(ctx context.Context) error {
	if o.saved {
		return nil
	}
	o.saved = true
	return o.pass.SaveStatus(ctx)
}

func reset(obj client.Object) { reflect.ValueOf(obj).Elem().SetZero() }

func decode(from *unstructured.Unstructured, into client.Object) error {
	reset(into)
	return runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, into)
}

// ApplyPart makes a part of an object of ours hold that others may take over for good, such as the number of replicas:
// while it is declared we keep it, and when it is not it stays as it is. part names its manager. The object must be
// there.
func (o *Objects) ApplyPart(ctx context.Context, part string, want any, into client.Object) error {
	fields, err := toJSON(want)
	if err != nil {
		return fmt.Errorf("declare a %T: %w", want, err)
	}
	obj := &unstructured.Unstructured{Object: fields}
	obj.SetNamespace(o.namespace(obj.GetNamespace()))
	d := declaration{kind: obj.GetKind(), key: client.ObjectKeyFromObject(obj), object: obj}
	if diffs, err := d.diff(into); err != nil || len(diffs) == 0 {
		return err
	}
	found, diffs, err := o.check(ctx, d, into) // the cache may be behind
	switch {
	case err == nil && !found:
		return engine.Wait(v1alpha1.ReasonWaitingForDeletion, recheckAfter, "the %s is gone", d.String())
	case err != nil || len(diffs) == 0:
		return err
	}
	obj.SetUID(into.GetUID()) // and no other of this name
	if err := o.saveOwner(ctx); err != nil {
		return err
	}
	o.pass.RecordPlan(engine.PlannedAction{Name: "Update " + d.kind, Why: strings.Join(diffs, ", ")})
	if err := o.forceApply(ctx, obj, FieldManager+"-"+part); err != nil {
		return explainRefusal(d.String(), "update", err)
	}
	status := o.owner.Common()
	o.sendEvent(status.Ready && status.ObservedGeneration == o.owner.GetGeneration(), d, diffs)
	return decode(obj, into)
}

// namespace returns where an object is that is declared in a namespace: an owner that is in one owns nothing in others.
func (o *Objects) namespace(declared string) string { return cmp.Or(o.owner.GetNamespace(), declared) }

// Key returns where the owner's object of this name is.
func (o *Objects) Key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: o.owner.GetNamespace(), Name: name}
}
