//go:build integration

package integration

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// release deletes an object regardless of its finalizers.
func release(ctx context.Context, t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	err := dropFinalizer(ctx, c, obj)
	if err == nil {
		err = c.Patch(ctx, obj, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	}
	collector, failed := newCollector()
	if err = errors.Join(failed, client.IgnoreNotFound(err)); err == nil {
		err = client.IgnoreNotFound(collector.Delete(ctx, obj))
	}
	if err != nil {
		t.Error(err)
	}
}

// letGo removes the finalizer from a bucket of the namespace payments, as the operator does when nothing of it is
// left in AWS: without an operator, a deletion then finishes at once.
func letGo(t *testing.T, name string) {
	t.Helper()
	if err := dropFinalizer(t.Context(), admin(t), newBucket("payments", name)); err != nil {
		t.Fatal(err)
	}
}

// dropFinalizer reads obj and removes Portico's finalizer from it, as the operator: admission restores it for
// everybody else.
func dropFinalizer(ctx context.Context, c client.Client, obj client.Object) error {
	operator, err := newOperator()
	if err == nil {
		err = c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	}
	before := obj.DeepCopyObject().(client.Object)
	if err != nil || !controllerutil.RemoveFinalizer(obj, engine.Finalizer) {
		return err
	}
	return operator.Patch(ctx, obj, client.MergeFrom(before))
}

// newCollector returns a client that deletes as the garbage collector does, which needs no confirmation.
var newCollector = sync.OnceValues(func() (client.Client, error) {
	return inTheNameOf("system:serviceaccount:kube-system:generic-garbage-collector")
})

// newOperator returns a client that removes finalizers from objects that are not being deleted, as only the operator
// can.
var newOperator = sync.OnceValues(func() (client.Client, error) {
	return inTheNameOf("system:serviceaccount:portico-system:portico-operator")
})

func inTheNameOf(user string) (client.Client, error) {
	cfg := rest.CopyConfig(world.Admin)
	cfg.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:masters"}}
	return client.New(cfg, client.Options{Scheme: scheme()})
}

// erase deletes obj as its owner does with kubectl, with a confirmation if that is required.
func erase(t *testing.T, c client.Client, obj client.Object) error {
	t.Helper()
	err := c.Delete(t.Context(), obj)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), v1alpha1.AnnotationConfirmDeletion+"="+
		obj.GetName()) {
		return err
	}
	annotate(t, c, obj, v1alpha1.AnnotationConfirmDeletion, obj.GetName())
	return c.Delete(t.Context(), obj)
}

// collect deletes obj as the garbage collector does, which can delete what is in use, and waits until it no longer
// exists.
func collect(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	collector, err := newCollector()
	if err == nil {
		err = collector.Delete(t.Context(), obj)
	}
	if err != nil {
		t.Fatal(err)
	}
	awaitGone(t, c, obj)
}

// gone deletes obj and waits until it no longer exists.
func gone(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	if err := erase(t, c, obj); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	awaitGone(t, c, obj)
}

func awaitGone(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	await(t, obj.GetName()+" to be gone", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
		state := "there"
		if o, ok := obj.(engine.Object); ok {
			if found := meta.FindStatusCondition(o.Common().Conditions, v1alpha1.ConditionReady); found != nil {
				state = found.Reason + ": " + found.Message
			}
		}
		return apierrors.IsNotFound(err), state
	})
}
