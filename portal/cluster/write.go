package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// Result is what the API server made of a write.
type Result struct {
	Object   *unstructured.Unstructured // with defaults; nil after a delete that left nothing
	Was      *unstructured.Unstructured // before an edit; nil after other writes
	Warnings []string
}

// Began is the version of an object that somebody began to edit.
type Began struct {
	ETag   string
	Object *unstructured.Unstructured // as it was then
}

// Create makes obj as the caller, or with dryRun only says what would be made. Unknown fields are refused. Errors are
// *ForbiddenError, *UnavailableError or the API server's own (apierrors), see catalog.FromStatus.
func (c *Cluster) Create(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured, dryRun bool) (Result, error) {
	ref := Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	return c.write(ctx, id, change{verb: "create", ref: ref, dryRun: dryRun, deeds: always(activity.Requests)}, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		if err := k.Check(obj, nil); err != nil {
			return nil, err
		}
		return r.Create(ctx, catalog.Clean(obj),
			metav1.CreateOptions{FieldManager: auth.Way(ctx), DryRun: dryRunOf(dryRun), FieldValidation: metav1.FieldValidationStrict})
	})
}

// Update gives the object the labels, annotations and spec of obj, as the caller. etag, unless empty, must be the ETag
// of the version that the caller saw, or several of them separated by commas; a *ChangedError says that what users
// write of it is another by now, or that the object is not the one with obj's UID, if obj has one. Writes of the status
// in between do not matter.
func (c *Cluster) Update(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured, etag string, dryRun bool) (Result, error) {
	ref := Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	var was *unstructured.Unstructured
	ch := change{verb: "update", ref: ref, dryRun: dryRun, deeds: func(is *unstructured.Unstructured) []activity.Deed { return activity.Changes(was, is) }}
	return c.write(ctx, id, ch, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		return retryOnConflict(ctx, r, ref, Seen{UID: obj.GetUID(), ETag: etag}, func(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			was = live
			want := withUsersPart(live, obj)
			if err := k.Check(want, live); err != nil {
				return nil, err
			}
			return r.Update(ctx, want,
				metav1.UpdateOptions{FieldManager: auth.Way(ctx), DryRun: dryRunOf(dryRun), FieldValidation: metav1.FieldValidationStrict})
		})
	})
}

// Patch merges what is given (RFC 7396) into one object, as the caller. Nothing else of the object is sent, so that
// what others changed in the meantime stays. etag is as for Update.
func (c *Cluster) Patch(ctx context.Context, id auth.Identity, ref Ref, with map[string]any, etag string, dryRun bool) (Result, error) {
	return c.patch(ctx, id, ref, with, etag, dryRun, ref.Kind.Check)
}

// patch does what Patch does, with a check of what becomes of the object; nil is for what is ours and needs none.
func (c *Cluster) patch( //nolint:gocognit // three ways to send one patch
	ctx context.Context, id auth.Identity, ref Ref, with map[string]any, etag string, dryRun bool, check func(obj, old *unstructured.Unstructured) error,
) (Result, error) {
	ch := change{verb: "patch", ref: ref, dryRun: dryRun, deeds: always(func() []activity.Deed { return activity.Patches(with) })}
	return c.write(ctx, id, ch, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		send := func(with map[string]any) (*unstructured.Unstructured, error) {
			body, err := json.Marshal(with)
			if err != nil {
				return nil, fmt.Errorf("writing the patch: %w", err)
			}
			return r.Patch(ctx, ref.Name, types.MergePatchType, body,
				metav1.PatchOptions{FieldManager: auth.Way(ctx), DryRun: dryRunOf(dryRun), FieldValidation: metav1.FieldValidationStrict})
		}
		if check == nil {
			return send(with)
		}
		if etag == "" {
			live, err := r.Get(ctx, ref.Name, metav1.GetOptions{})
			if err == nil {
				err = check(withPatch(live, with), live)
			}
			if err != nil {
				return nil, err
			}
			return send(with)
		}
		return retryOnConflict(ctx, r, ref, Seen{ETag: etag}, func(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			if err := check(withPatch(live, with), live); err != nil {
				return nil, err
			}
			return send(bindTo(with, live))
		})
	})
}

// Edit gives the object the spec of obj, as the caller, and what obj changed of the labels and annotations that there
// were: those that others set in between stay. A *ChangedError says that the spec is
// another one by now, or that others gave the same label or annotation another value.
func (c *Cluster) Edit(ctx context.Context, id auth.Identity, k catalog.Kind, began Began, obj *unstructured.Unstructured, dryRun bool) (Result, error) {
	ref := Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	var was *unstructured.Unstructured
	ch := change{verb: "update", ref: ref, dryRun: dryRun, deeds: func(is *unstructured.Unstructured) []activity.Deed { return activity.Changes(was, is) }}
	got, err := c.write(ctx, id, ch, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		return retryOnConflict(ctx, r, ref, Seen{ETag: began.ETag, SpecOnly: true}, func(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			was = live
			want, err := mergeEdit(ref, live, began.Object, obj)
			if err != nil {
				return nil, err
			}
			if err := k.Check(want, live); err != nil {
				return nil, err
			}
			return r.Update(ctx, want, metav1.UpdateOptions{FieldManager: auth.Way(ctx), DryRun: dryRunOf(dryRun), FieldValidation: metav1.FieldValidationStrict})
		})
	})
	got.Was = was
	return got, err
}

// Annotate sets annotations of one object as the caller, who needs the right to patch it; nil removes one. Nothing else
// of the object is sent, so that what others changed in the meantime stays. The result is the object after that.
func (c *Cluster) Annotate(ctx context.Context, id auth.Identity, ref Ref, annotations map[string]*string) (*unstructured.Unstructured, error) {
	for key := range annotations {
		if v1alpha1.WrittenByAdmission(key) || len(validation.IsQualifiedName(key)) > 0 {
			return nil, fmt.Errorf("annotation %q: it is not one to be set", key)
		}
	}
	got, err := c.patch(ctx, id, ref, map[string]any{"metadata": map[string]any{"annotations": annotations}}, "", false, nil)
	return got.Object, err
}

// Scale sets how many Pods the object wants, as the caller, who needs the right to patch it. Nothing else is sent.
func (c *Cluster) Scale(ctx context.Context, id auth.Identity, ref Ref, replicas int64) (*unstructured.Unstructured, error) {
	got, err := c.patch(ctx, id, ref, map[string]any{"spec": map[string]any{"replicas": replicas}}, "", false, nil)
	return got.Object, err
}

// Delete deletes the object as the caller, if it is the one that was seen. Where that is asked for, seen.Confirmed is
// noted as the confirmation first, which needs the right to patch the object. The result's object is what is left while
// finalizers work, nil when it is gone at once.
func (c *Cluster) Delete(ctx context.Context, id auth.Identity, ref Ref, seen Seen, dryRun bool) (Result, error) {
	ch := change{verb: "delete", ref: ref, dryRun: dryRun, uid: seen.UID, deeds: always(activity.Deletes)}
	return c.write(ctx, id, ch, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		err := deleteSeen(ctx, r, ref, seen, dryRun)
		if AsksToConfirm(err) && seen.Confirmed == ref.Name {
			err = deleteConfirmed(ctx, r, ref, seen, dryRun)
		}
		if err != nil {
			return nil, err
		}
		left, err := r.Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil || left.GetUID() != seen.UID || left.GetDeletionTimestamp() == nil {
			return nil, nil //nolint:nilerr,nilnil // it is gone, or the caller may delete but not look
		}
		return left, nil
	})
}

// change is a write to one object.
type change struct {
	verb   string
	ref    Ref
	uid    types.UID // of what may be gone after it
	dryRun bool
	deeds  func(is *unstructured.Unstructured) []activity.Deed // that it comes to; is may be nil
}

func always(deeds func() []activity.Deed) func(*unstructured.Unstructured) []activity.Deed {
	return func(*unstructured.Unstructured) []activity.Deed { return deeds() }
}

// write sends what changes something, and notes it for the audit log of the request and, if it was done, for the team.
func (c *Cluster) write(ctx context.Context, id auth.Identity, ch change,
	do func(context.Context, resource) (*unstructured.Unstructured, error),
) (Result, error) {
	ctx, sent := withTrail(ctx, asCaller)
	got, err := c.send(ctx, id, ch.verb, ch.ref, do)
	name := ch.ref.Name
	if name == "" && got.Object != nil {
		name = got.Object.GetName() // the API server made one up
	}
	auth.NoteWrite(ctx, auth.Write{
		Verb: ch.verb, Resource: ch.ref.Kind.Plural, Namespace: ch.ref.Namespace, Name: name, DryRun: ch.dryRun, Outcome: outcomeOf(err),
		AuditID: auditIDOf(sent, err),
	})
	if err == nil && !ch.dryRun {
		c.activity.Note(id, ch.object(name, got.Object), ch.deeds(got.Object))
	}
	return got, err
}

// object returns what was written; is may be nil.
func (ch change) object(name string, is *unstructured.Unstructured) activity.Object {
	k := ch.ref.Kind
	o := activity.Object{APIVersion: k.GVK().GroupVersion().String(), Kind: k.Name, Namespace: ch.ref.Namespace, Name: name, UID: ch.uid}
	if is != nil {
		o.UID = is.GetUID()
	}
	return o
}

// send runs do with a client that acts as id, and turns its error into what it means for the caller.
func (c *Cluster) send(ctx context.Context, id auth.Identity, verb string, ref Ref,
	do func(context.Context, resource) (*unstructured.Unstructured, error),
) (Result, error) {
	client, heard, err := c.impersonator.clientFor(id)
	if err != nil {
		return Result{}, err
	}
	if err := c.RequireOne(ctx, id, verb, ref); err != nil {
		return Result{}, err
	}
	act := c.rightTo(ctx, id, verb, ref)
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	out, err := do(ctx, acting{in(client, ref), func(ctx context.Context) (*unstructured.Unstructured, error) {
		return c.Current(ctx, id, ref)
	}})
	if err != nil {
		return Result{Warnings: heard.all()}, c.explain(ctx, id, act, err)
	}
	if out != nil {
		if _, err := strip(out); err != nil {
			return Result{}, err
		}
	}
	return Result{Object: out, Warnings: heard.all()}, nil
}
