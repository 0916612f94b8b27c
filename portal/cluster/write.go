package cluster

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
)

// Result is what the API server made of a write.
type Result struct {
	Object   *unstructured.Unstructured // with defaults; nil after a delete that left nothing
	Was      *unstructured.Unstructured // before an edit; nil after other writes
	Warnings []string
}

// Create makes obj as the caller, or with dryRun only says what would be made. Unknown fields are refused. Errors are
// *ForbiddenError, *UnavailableError or the API server's own (apierrors), see catalog.FromStatus.
func (c *Cluster) Create(ctx context.Context, id auth.Identity, k catalog.Kind, obj *unstructured.Unstructured, dryRun bool) (Result, error) {
	ref := Ref{Kind: k, Namespace: obj.GetNamespace(), Name: obj.GetName()}
	return c.write(ctx, id, change{"create", ref, dryRun}, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		return r.Create(ctx, catalog.Clean(obj),
			metav1.CreateOptions{DryRun: dryRunOf(dryRun), FieldValidation: metav1.FieldValidationStrict})
	})
}

// Seen is the object that a caller means to delete, as far as the caller says: empty members are not compared.
type Seen struct {
	UID  types.UID // a namesake made in between stays
	ETag string    // as Update takes it; a *ChangedError says that it is another version by now
	// SpecOnly says that labels and annotations may be others.
	SpecOnly bool
}

// Delete deletes the object as the caller, if it is the one that was seen. The result's object is what is left while
// finalizers work, nil when it is gone at once.
func (c *Cluster) Delete(ctx context.Context, id auth.Identity, ref Ref, seen Seen, dryRun bool) (Result, error) {
	return c.write(ctx, id, change{"delete", ref, dryRun}, func(ctx context.Context, r resource) (*unstructured.Unstructured, error) {
		if err := remove(ctx, r, ref, seen, dryRun); err != nil {
			return nil, err
		}
		left, err := r.Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil || left.GetUID() != seen.UID || left.GetDeletionTimestamp() == nil {
			return nil, nil //nolint:nilerr,nilnil // it is gone, or the caller may delete but not look
		}
		return left, nil
	})
}

// remove binds the deletion to the version that it compared; a status written in between means another try.
func remove(ctx context.Context, r resource, ref Ref, seen Seen, dryRun bool) (err error) {
	for range conflictRetries {
		opts := metav1.DeleteOptions{DryRun: dryRunOf(dryRun), Preconditions: &metav1.Preconditions{}}
		if seen.UID != "" {
			opts.Preconditions.UID = &seen.UID
		}
		if seen.ETag != "" {
			live, err := r.Get(ctx, ref.Name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if !seen.isVersion(live) {
				return changed(ref, live)
			}
			version := live.GetResourceVersion()
			opts.Preconditions.ResourceVersion = &version
		}
		if err = r.Delete(ctx, ref.Name, opts); seen.ETag == "" || !apierrors.IsConflict(err) {
			return err
		}
	}
	return err
}

// resource is what writes need of a dynamic client.
type resource interface {
	Get(ctx context.Context, name string, options metav1.GetOptions, subresources ...string) (*unstructured.Unstructured, error)
	Create(ctx context.Context, obj *unstructured.Unstructured, options metav1.CreateOptions, subresources ...string) (*unstructured.Unstructured, error)
	Update(ctx context.Context, obj *unstructured.Unstructured, options metav1.UpdateOptions, subresources ...string) (*unstructured.Unstructured, error)
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, name string, options metav1.DeleteOptions, subresources ...string) error
}

// change is a write to one object.
type change struct {
	verb   string
	ref    Ref
	dryRun bool
}

// write is send for what changes something; it is put on the record of the request.
func (c *Cluster) write(ctx context.Context, id auth.Identity, ch change,
	do func(context.Context, resource) (*unstructured.Unstructured, error),
) (Result, error) {
	got, err := c.send(ctx, id, ch.verb, ch.ref, do)
	name := ch.ref.Name
	if name == "" && got.Object != nil {
		name = got.Object.GetName() // the API server made one up
	}
	auth.NoteWrite(ctx, auth.Write{
		Verb: ch.verb, Resource: ch.ref.Kind.Plural, Namespace: ch.ref.Namespace, Name: name, DryRun: ch.dryRun, Outcome: outcomeOf(err),
	})
	return got, err
}

// acting is a client for one object that acts as a caller. It reads as all of the portal does, with the portal's own
// credentials and after an access review: nobody is impersonated for what no admission policy sees.
type acting struct {
	dynamic.ResourceInterface
	read func(ctx context.Context) (*unstructured.Unstructured, error)
}

// Get reads the one object.
func (a acting) Get(ctx context.Context, _ string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	return a.read(ctx)
}

// send runs do with a client that acts as id, and explains its error.
func (c *Cluster) send(ctx context.Context, id auth.Identity, verb string, ref Ref,
	do func(context.Context, resource) (*unstructured.Unstructured, error),
) (Result, error) {
	client, heard, err := c.writer.as(id)
	if err != nil {
		return Result{}, err
	}
	act := RightTo(verb, ref.Kind, ref.Namespace)
	if err := c.requireOne(ctx, id, verb, ref); err != nil {
		return Result{}, err
	}
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
