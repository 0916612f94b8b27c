// Package apply maintains the Kubernetes objects that belong to one of Portico's objects, by server-side apply: fields
// that we declare are repaired, fields that others add are kept, and objects that are not ours are never changed.
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

// FieldManager is our field manager at the API server.
const FieldManager = "portico"

// Label and its value are on every object that we own: caches hold no others.
const (
	Label      = "app.kubernetes.io/managed-by"
	LabelValue = "portico"
)

// AnnotationApplied is the annotation with the hash of the declaration that was last applied to an object.
const AnnotationApplied = "portico.dev/applied"

// recheckAfter is how soon an object is checked again that is being deleted, or was changed concurrently.
const recheckAfter = 2 * time.Second

// Applier reads objects from the cache, and writes those that differ from their declaration.
type Applier struct {
	Client    client.Client
	APIReader client.Reader // uncached; read before every write
}

// Objects applies the objects of one owner during one pass.
type Objects struct {
	applier Applier
	owner   engine.Object
	ref     metav1.OwnerReference
	pass    *engine.Pass
	saved   bool
}

// For returns the Objects of a pass over owner, whose kind must be in the scheme.
func (a Applier) For(owner engine.Object, pass *engine.Pass) (*Objects, error) {
	gvk, err := apiutil.GVKForObject(owner, a.Client.Scheme())
	if err != nil {
		return nil, fmt.Errorf("own objects: %w", err)
	}
	return &Objects{applier: a, owner: owner, pass: pass, ref: *metav1.NewControllerRef(owner, gvk)}, nil
}

// Apply makes the object match the declaration want, in the owner's namespace if it has one, else in that of want. want
// is an apply configuration of client-go, which declares only our fields. into is an empty object of the same kind;
// afterwards it is the object in the cluster.
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
	// According to the cache a write is needed. The cache may be stale, and lacks objects without our label, so read
	// from the API server.
	found, diffs, err := o.check(ctx, d, into)
	switch {
	case err == nil && !found:
		return o.create(ctx, d, into)
	case err != nil || len(diffs) == 0:
		return err
	}
	return o.update(ctx, d, into, diffs)
}

// check reads the object from the API server, and returns the differences from the declaration, or an error that says
// why the object must be left alone.
func (o *Objects) check(ctx context.Context, d declaration, into client.Object) (
	found bool, diffs []string, err error,
) {
	if found, err = o.read(ctx, o.applier.APIReader, d, into); err != nil || !found {
		return found, nil, err
	}
	if err := o.whyNotWrite(d.String(), into); err != nil {
		return true, nil, err
	}
	diffs, err = d.diff(into)
	return true, diffs, err
}

// Delete deletes the object if it exists and is ours. obj needs only its name, and its namespace if the owner has none.
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
		return nil // somebody else has deleted or replaced it
	}
	if err != nil {
		return fmt.Errorf("delete the %s: %w", d.String(), err)
	}
	o.pass.RecordPlan(engine.PlannedAction{Name: "Delete " + d.kind, Why: "the spec no longer asks for it"})
	o.pass.Normal(v1alpha1.ReasonRemoved, "Delete"+d.kind, "the %s, which the spec no longer asks for", d.String())
	return nil
}

func (o *Objects) read(ctx context.Context, from client.Reader, d declaration, into client.Object) (bool, error) {
	reset(into) // decoding would merge with the previous content
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

// whyNotWrite returns why an existing object must be left alone; nil if it can be written.
func (o *Objects) whyNotWrite(what string, obj client.Object) error {
	switch owner := metav1.GetControllerOf(obj); {
	case o.owns(obj) && obj.GetDeletionTimestamp() == nil:
		return nil
	case o.owns(obj), owner != nil && owner.Kind == o.ref.Kind && owner.APIVersion == o.ref.APIVersion &&
		owner.Name == o.ref.Name:
		return engine.Wait(v1alpha1.ReasonWaitingForDeletion, recheckAfter, "the previous %s is still being deleted",
			what)
	case owner != nil:
		return o.conflict(what, fmt.Sprintf("it belongs to the %s %s", owner.Kind, owner.Name))
	default:
		return o.conflict(what, "Portico did not make it")
	}
}

func (o *Objects) conflict(what, why string) error {
	if o.owner.GetNamespace() == "" {
		return engine.Blocked(v1alpha1.ReasonConflict, "%s exists already and is left alone: %s; delete it, or take "+
			"what asks for it out of the %s", spoken.A(what), why, o.ref.Kind)
	}
	return engine.Blocked(v1alpha1.ReasonConflict, "%s exists already and is left alone: %s; delete or rename it, or "+
		"request this %s under another name",
		spoken.A(what), why, o.ref.Kind)
}

// saveOwner saves the owner's status once in a pass, before the first write, which proves that the owner is current and
// not being deleted.
func (o *Objects) saveOwner(ctx context.Context) error {
	if o.saved {
		return nil
	}
	if err := o.pass.SaveStatus(ctx); err != nil {
		return err
	}
	o.saved = true
	return nil
}

func reset(obj client.Object) { reflect.ValueOf(obj).Elem().SetZero() }

func decode(from *unstructured.Unstructured, into client.Object) error {
	reset(into)
	return runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, into)
}

// ApplyPart makes an object of ours match a part of it that others may take over permanently, such as the number of
// replicas: while the part is declared we maintain it, and afterwards it stays as it is. part is the suffix of its
// field manager. The object must exist.
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
	found, diffs, err := o.check(ctx, d, into) // the cache may be stale
	switch {
	case err == nil && !found:
		return engine.Wait(v1alpha1.ReasonWaitingForDeletion, recheckAfter, "the %s is gone", d.String())
	case err != nil || len(diffs) == 0:
		return err
	}
	obj.SetUID(into.GetUID()) // fails for another object of this name
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

// namespace returns the namespace of an object declared in another: a namespaced owner owns nothing in other
// namespaces.
func (o *Objects) namespace(declared string) string { return cmp.Or(o.owner.GetNamespace(), declared) }

// Key returns the key of the owner's object with this name.
func (o *Objects) Key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: o.owner.GetNamespace(), Name: name}
}
