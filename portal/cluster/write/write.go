// Package write changes objects as the caller, bound to the version that the caller saw.
package write

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
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/impersonate"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// Writer writes as callers. It is safe for concurrent use.
type Writer struct {
	rights       *rights.Rights
	objects      *objects.Objects
	impersonator *impersonate.Impersonator
	activity     *activity.Recorder
}

// New returns a Writer that records what it did in the activity.
func New(may *rights.Rights, from *objects.Objects, as *impersonate.Impersonator, to *activity.Recorder) *Writer {
	return &Writer{rights: may, objects: from, impersonator: as, activity: to}
}

// Result is the API server's result of a write.
type Result struct {
	Object   *unstructured.Unstructured // with defaults; nil after a delete that left nothing
	Was      *unstructured.Unstructured // before an edit; nil after other writes
	Warnings []string
}

// Began is the version of an object at which a user began to edit it.
type Began struct {
	ETag   string
	Object *unstructured.Unstructured // as it was then
}

// Create creates obj as the caller, or with dryRun only returns what would be created. Unknown fields are refused.
// Errors are *failure.ForbiddenError, *failure.UnavailableError or the API server's own (apierrors), see
// catalog.FromStatus.
func (w *Writer) Create(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured,
	dryRun bool,
) (Result, error) {
	ref := catalog.Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	return w.write(ctx, id, change{verb: "create", ref: ref, dryRun: dryRun, deeds: always(activity.Requests)},
		func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
			if err := k.Check(obj, nil); err != nil {
				return nil, err
			}
			return r.Create(ctx, catalog.Clean(obj),
				metav1.CreateOptions{
					FieldManager: auth.Way(ctx), DryRun: dryRunOf(dryRun),
					FieldValidation: metav1.FieldValidationStrict,
				})
		})
}

// Update replaces the object's labels, annotations and spec by those of obj, as the caller. etag, unless empty, must be
// the ETag of the version that the caller saw, or a comma-separated list of them; a *failure.ChangedError reports that
// what users write of the object has changed, or that its UID is not that of obj, if obj has one. Writes of the status
// in between do not matter.
func (w *Writer) Update(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured,
	etag string, dryRun bool,
) (Result, error) {
	ref := catalog.Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	var was *unstructured.Unstructured
	ch := change{verb: "update", ref: ref, dryRun: dryRun, deeds: func(is *unstructured.Unstructured) []activity.Deed {
		return activity.Changes(was, is)
	}}
	return w.write(ctx, id, ch, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		return retryOnConflict(ctx, r, ref, Seen{UID: obj.GetUID(), ETag: etag}, func(live *unstructured.Unstructured) (
			*unstructured.Unstructured, error,
		) {
			was = live
			want := withUsersPart(live, obj)
			if err := k.Check(want, live); err != nil {
				return nil, err
			}
			return r.Update(ctx, want,
				metav1.UpdateOptions{
					FieldManager: auth.Way(ctx), DryRun: dryRunOf(dryRun),
					FieldValidation: metav1.FieldValidationStrict,
				})
		})
	})
}

// Patch merges with into one object (RFC 7396), as the caller. Only the patch is sent, so that changes that others made
// meanwhile stay. etag is as for Update.
func (w *Writer) Patch(ctx context.Context, id auth.Identity, ref catalog.Ref, with map[string]any, etag string,
	dryRun bool,
) (Result, error) {
	return w.patch(ctx, id, ref, with, etag, dryRun, ref.Kind.Check)
}

// patch does what Patch does, with a check of the result; nil is for our own patches, which need none.
func (w *Writer) patch( //nolint:gocognit // three ways to send one patch
	ctx context.Context, id auth.Identity, ref catalog.Ref, with map[string]any, etag string, dryRun bool,
	check func(obj, old *unstructured.Unstructured) error,
) (Result, error) {
	ch := change{
		verb: "patch", ref: ref, dryRun: dryRun,
		deeds: always(func() []activity.Deed { return activity.Patches(with) }),
	}
	return w.write(ctx, id, ch, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		send := func(with map[string]any) (*unstructured.Unstructured, error) {
			body, err := json.Marshal(with)
			if err != nil {
				return nil, fmt.Errorf("writing the patch: %w", err)
			}
			return r.Patch(ctx, ref.Name, types.MergePatchType, body,
				metav1.PatchOptions{
					FieldManager: auth.Way(ctx), DryRun: dryRunOf(dryRun),
					FieldValidation: metav1.FieldValidationStrict,
				})
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
		return retryOnConflict(ctx, r, ref, Seen{ETag: etag}, func(live *unstructured.Unstructured) (
			*unstructured.Unstructured, error,
		) {
			if err := check(withPatch(live, with), live); err != nil {
				return nil, err
			}
			return send(bindTo(with, live))
		})
	})
}

// Edit sets the object's spec to that of obj, as the caller, and applies obj's changes of labels and annotations since
// began: those that others set meanwhile stay. A *failure.ChangedError reports that the spec has changed meanwhile, or
// that others set the same label or annotation to another value.
func (w *Writer) Edit(ctx context.Context, id auth.Identity, k catalog.Kind, began Began,
	obj *unstructured.Unstructured, dryRun bool,
) (Result, error) {
	ref := catalog.Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	var was *unstructured.Unstructured
	ch := change{verb: "update", ref: ref, dryRun: dryRun, deeds: func(is *unstructured.Unstructured) []activity.Deed {
		return activity.Changes(was, is)
	}}
	got, err := w.write(ctx, id, ch, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		return retryOnConflict(ctx, r, ref, Seen{ETag: began.ETag, SpecOnly: true},
			func(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				was = live
				want, err := mergeEdit(ref, live, began.Object, obj)
				if err != nil {
					return nil, err
				}
				if err := k.Check(want, live); err != nil {
					return nil, err
				}
				return r.Update(ctx, want, metav1.UpdateOptions{
					FieldManager: auth.Way(ctx), DryRun: dryRunOf(dryRun),
					FieldValidation: metav1.FieldValidationStrict,
				})
			})
	})
	got.Was = was
	return got, err
}

// Annotate sets annotations of one object as the caller, who needs the right to patch it; nil removes one. Only the
// annotations are sent, so that changes that others made meanwhile stay. It returns the object after the write.
func (w *Writer) Annotate(ctx context.Context, id auth.Identity, ref catalog.Ref, annotations map[string]*string) (
	*unstructured.Unstructured, error,
) {
	for key := range annotations {
		if v1alpha1.WrittenByAdmission(key) || len(validation.IsQualifiedName(key)) > 0 {
			return nil, fmt.Errorf("annotation %q: it is not one to be set", key)
		}
	}
	got, err := w.patch(ctx, id, ref, map[string]any{"metadata": map[string]any{"annotations": annotations}}, "", false,
		nil)
	return got.Object, err
}

// Scale sets the object's number of Pods, as the caller, who needs the right to patch it. Nothing else is sent.
func (w *Writer) Scale(ctx context.Context, id auth.Identity, ref catalog.Ref, replicas int64) (
	*unstructured.Unstructured, error,
) {
	got, err := w.patch(ctx, id, ref, map[string]any{"spec": map[string]any{"replicas": replicas}}, "", false, nil)
	return got.Object, err
}

// Delete deletes the object as the caller, if it is the one in seen. If the deletion needs a confirmation, it first
// annotates the object with seen.Confirmed, which needs the right to patch it. The result's object is the one that
// remains while finalizers run, nil if it is gone at once.
func (w *Writer) Delete(ctx context.Context, id auth.Identity, ref catalog.Ref, seen Seen, dryRun bool) (
	Result, error,
) {
	ch := change{verb: "delete", ref: ref, dryRun: dryRun, uid: seen.UID, deeds: always(activity.Deletes)}
	return w.write(ctx, id, ch, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
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
	ref    catalog.Ref
	uid    types.UID // of an object that may be gone afterwards
	dryRun bool
	deeds  func(is *unstructured.Unstructured) []activity.Deed // what the write did; is may be nil
}

func always(deeds func() []activity.Deed) func(*unstructured.Unstructured) []activity.Deed {
	return func(*unstructured.Unstructured) []activity.Deed { return deeds() }
}

// write sends a changing request, and records it in the request's audit event and, if it succeeded, in the team's
// activity.
func (w *Writer) write(ctx context.Context, id auth.Identity, ch change,
	do func(context.Context, resource) (*unstructured.Unstructured, error),
) (Result, error) {
	ctx, sent := failure.WithTrail(ctx, failure.AsCaller)
	got, err := w.send(ctx, id, ch.verb, ch.ref, do)
	name := ch.ref.Name
	if name == "" && got.Object != nil {
		name = got.Object.GetName() // the API server generated one
	}
	auth.NoteWrite(ctx, auth.Write{
		Verb: ch.verb, Resource: ch.ref.Kind.Plural, Namespace: ch.ref.Namespace, Name: name, DryRun: ch.dryRun,
		Outcome: failure.OutcomeOf(err),
		AuditID: failure.AuditIDOf(sent, err),
	})
	if err == nil && !ch.dryRun {
		w.activity.Note(id, ch.object(name, got.Object), ch.deeds(got.Object))
	}
	return got, err
}

// object returns the object of the change; is may be nil.
func (ch change) object(name string, is *unstructured.Unstructured) activity.Object {
	k := ch.ref.Kind
	o := activity.Object{
		APIVersion: k.GVK().GroupVersion().String(), Kind: k.Name, Namespace: ch.ref.Namespace,
		Name: name, UID: ch.uid,
	}
	if is != nil {
		o.UID = is.GetUID()
	}
	return o
}

// send calls do with a client that acts as id, and translates its error into one for the caller.
func (w *Writer) send(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref,
	do func(context.Context, resource) (*unstructured.Unstructured, error),
) (Result, error) {
	client, heard, err := w.impersonator.ClientFor(ctx, id)
	if err != nil {
		return Result{}, err
	}
	if err := w.rights.RequireOne(ctx, id, verb, ref); err != nil {
		return Result{}, err
	}
	act := w.rights.RightTo(ctx, id, verb, ref)
	ctx, cancel := context.WithTimeout(ctx, impersonate.Timeout)
	defer cancel()
	out, err := do(ctx, acting{objects.In(client, ref), func(ctx context.Context) (*unstructured.Unstructured, error) {
		return w.objects.Current(ctx, id, ref)
	}})
	if err != nil {
		return Result{Warnings: heard.All()}, w.impersonator.Explain(ctx, id, act, err)
	}
	if out != nil {
		if _, err := feed.Strip(out); err != nil {
			return Result{}, err
		}
	}
	return Result{Object: out, Warnings: heard.All()}, nil
}
