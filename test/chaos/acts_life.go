package chaos

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// annotate returns an act that sets an annotation, or removes it if value is empty; "now" sets a new value each time.
func annotate(key, value string) func(*world, context.Context, *target) error {
	return func(_ *world, ctx context.Context, t *target) error {
		v := value
		if v == "now" {
			v = strconv.Itoa(t.lot.Int())
		}
		return setAnnotation(ctx, t.user, t.now, key, v)
	}
}

func setAnnotation(ctx context.Context, c client.Client, o *unstructured.Unstructured, key, value string) error {
	quoted := strconv.Quote(value)
	if value == "" {
		quoted = "null"
	}
	return c.Patch(ctx, o, client.RawPatch(types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"`+key+`":`+quoted+`}}}`)))
}

// erase deletes the object, with a confirmation if that is required.
func (w *world) erase(ctx context.Context, t *target) error {
	if t.fixed {
		return errIdle
	}
	if t.id != "" {
		w.ledger.deleting(t.kind, t.now, t.now.GetDeletionTimestamp() == nil)
	}
	err := t.user.Delete(ctx, t.now)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), v1alpha1.AnnotationConfirmDeletion+"="+t.slot) {
		return err
	}
	if err := setAnnotation(ctx, t.user, t.now, v1alpha1.AnnotationConfirmDeletion, t.slot); err != nil {
		return err
	}
	return t.user.Delete(ctx, t.now)
}

// keep cancels a deletion that is in progress.
func (w *world) keep(ctx context.Context, t *target) error {
	if t.now.GetDeletionTimestamp() == nil || t.id == "" {
		return errIdle
	}
	return setAnnotation(ctx, t.user, t.now, v1alpha1.AnnotationKeep, "true")
}

// acknowledge confirms that a resource that was deleted outside the operator can be created again.
func (w *world) acknowledge(ctx context.Context, t *target) error {
	if ready(t.now).Reason != v1alpha1.ReasonExternallyDeleted {
		return errIdle
	}
	return acknowledge(ctx, t.user, t.now)
}

func acknowledge(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
	done, _, _ := unstructured.NestedInt64(o.Object, "status", "recreations")
	return setAnnotation(ctx, c, o, v1alpha1.AnnotationAcknowledgeRecreate, strconv.FormatInt(done+1, 10))
}

// reached returns the ID of the object's resource, or "" if the object has no resource of its own.
func (t *target) reached() string {
	if t.id == "" || t.slot == theirs || field(t.now, "status", "arn") == "" {
		return ""
	}
	return field(t.now, "status", t.id)
}

// drift changes the resource outside the operator.
func (w *world) drift(ctx context.Context, t *target) error {
	if t.reached() == "" {
		return errIdle
	}
	return w.services[t.name].drift(ctx, t.lot, t.reached())
}

// destroy deletes the resource outside the operator.
func (w *world) destroy(ctx context.Context, t *target) error {
	if t.reached() == "" {
		return errIdle
	}
	return w.services[t.name].destroy(ctx, t.reached())
}

// putObject puts an object into a bucket.
func (w *world) putObject(ctx context.Context, t *target) error {
	if t.name != "S3Bucket" || t.reached() == "" {
		return errIdle
	}
	return w.account.put(ctx, t.reached(), fmt.Sprintf("some/key-%d", t.lot.IntN(9)))
}

// youngAPIServer is how long a restarted kube-apiserver may not yet serve all resources; see killAPIServer.
const youngAPIServer = 15 * time.Second

// trial creates a namespace with a few resources, or deletes the existing one with everything in it.
func (w *world) trial(ctx context.Context, t *target) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("trial-%d", w.trials)}}
	err := w.admin.Get(ctx, client.ObjectKeyFromObject(ns), ns)
	switch {
	case apierrors.IsNotFound(err):
		w.trials++
		ns = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("trial-%d", w.trials),
			Labels: map[string]string{
				v1alpha1.LabelAWS: v1alpha1.AWSAllowed, v1alpha1.LabelConfirmDeletion: v1alpha1.ConfirmOptional,
			},
		}}
		if err := w.admin.Create(ctx, ns); err != nil {
			return err
		}
		return w.fillTrial(ctx, t, ns.Name)
	case err != nil:
		return err
	case ns.DeletionTimestamp != nil:
		return errIdle
	}
	w.spaces.Lock()
	defer w.spaces.Unlock()
	if time.Since(w.apiServerBegan) < youngAPIServer {
		return errIdle
	}
	for _, k := range kinds {
		if k.id == "" {
			continue
		}
		all := k.list()
		if err := w.admin.List(ctx, all, client.InNamespace(ns.Name)); err != nil {
			return err
		}
		for i := range all.Items {
			w.ledger.deleting(k, &all.Items[i], true)
		}
	}
	return w.admin.Delete(ctx, ns)
}

func (w *world) fillTrial(ctx context.Context, t *target, namespace string) error {
	for _, k := range kinds {
		if k.id == "" || t.lot.IntN(2) == 0 {
			continue
		}
		in := &target{kind: k, lot: t.lot, namespace: namespace, slot: k.slots[0], user: w.admin}
		if err := w.create(ctx, in); err != nil {
			return err
		}
	}
	return nil
}
