// Package keep cancels deletions, which Kubernetes cannot do. The request is recorded, the object is deleted, and a new
// object is created from the record, which adopts the resources of the old one. The record is a ConfigMap in the
// operator's own namespace, where it survives a restart of the operator.
package keep

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

const (
	// Label is the label of every record.
	Label = "portico.dev/kept"
	// Prefix is the prefix of every record's name; the UID of the object follows.
	Prefix = "portico-kept-"

	requestKey = "request" // the object to create, as JSON
	poll       = time.Second
)

// dropped are annotations that request something once, or concern the deletion: the new object has none of them.
var dropped = []string{
	v1alpha1.AnnotationKeep, v1alpha1.AnnotationConfirmDeletion, v1alpha1.AnnotationAcknowledgeRecreate,
	v1alpha1.AnnotationRotatePassword,
	v1alpha1.AnnotationReconcileRequestedAt,
}

// Keeper records requests and creates objects from the records.
type Keeper struct {
	Client    client.Client
	APIReader client.Reader // uncached
	Namespace string        // the operator's own
}

// Record saves the request of obj, so that obj is created again when it is gone. On an error nothing is saved: the API
// server would not accept the request again, for example because a policy changed.
func (k Keeper) Record(ctx context.Context, kind string, obj client.Object) error {
	again, err := requestOf(kind, obj)
	if err != nil {
		return err
	}
	// The name is taken, which the API server checks last: if it reports nothing else, it would accept the rest.
	err = k.Client.Create(ctx, again.DeepCopy(), client.DryRunAll)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return external.ErrNamespaceLeaves
	case err != nil && !apierrors.IsAlreadyExists(err):
		return engine.Blocked(v1alpha1.ReasonKeepRefused, "the resource could not be created again: %w. The deletion "+
			"waits until it could; nothing was deleted since", err)
	}
	text, err := json.Marshal(again)
	if err != nil {
		return fmt.Errorf("record the request: %w", err)
	}
	record := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: Prefix + string(obj.GetUID()), Labels: map[string]string{Label: "true"}},
		Data:       map[string]string{requestKey: string(text)},
	}
	err = k.Client.Create(ctx, record)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	// An earlier pass was interrupted. The request may have been edited since.
	if err := k.Client.Delete(ctx, record.DeepCopy()); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("replace the record: %w", err)
	}
	return k.Client.Create(ctx, record)
}

// requestOf returns the object to create: what users write, and the annotation with the requester.
func requestOf(kind string, obj client.Object) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("record the request: %w", err)
	}
	again := &unstructured.Unstructured{Object: map[string]any{"spec": fields["spec"]}}
	again.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	again.SetNamespace(obj.GetNamespace())
	again.SetName(obj.GetName())
	again.SetLabels(obj.GetLabels())
	notes := map[string]string{}
	maps.Copy(notes, obj.GetAnnotations())
	for _, key := range dropped {
		delete(notes, key)
	}
	notes[v1alpha1.AnnotationKeptFrom] = string(obj.GetUID())
	again.SetAnnotations(notes)
	return again, nil
}

// Reconcile processes one record: it creates the object once the old one is gone, and then deletes the record.
func (k Keeper) Reconcile(ctx context.Context, record *corev1.ConfigMap) (ctrl.Result, error) {
	again := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(record.Data[requestKey]), again); err != nil {
		return ctrl.Result{}, fmt.Errorf("read the record %s: %w", record.Name, err)
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(again.GroupVersionKind())
	err := k.APIReader.Get(ctx, client.ObjectKeyFromObject(again), live)
	switch {
	case apierrors.IsNotFound(err):
		return k.makeAgain(ctx, record, again)
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("look for %s %s/%s: %w", again.GetKind(), again.GetNamespace(),
			again.GetName(), err)
	case Prefix+string(live.GetUID()) == record.Name: // it is about to be deleted
		return ctrl.Result{RequeueAfter: poll}, nil
	}
	return ctrl.Result{}, k.forget(ctx, record) // it exists, created from the record or by somebody else
}

func (k Keeper) makeAgain(ctx context.Context, record *corev1.ConfigMap, again *unstructured.Unstructured) (
	ctrl.Result, error,
) {
	what := again.GetKind() + " " + again.GetNamespace() + "/" + again.GetName()
	err := k.Client.Create(ctx, again.DeepCopy())
	switch {
	case err == nil, apierrors.IsAlreadyExists(err):
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), apierrors.IsNotFound(err):
		log.FromContext(ctx).Info("what was to be kept is not made again: its namespace is deleted; the AWS resource "+
			"stays, with its ownership tags", "object", what)
		return ctrl.Result{}, k.forget(ctx, record)
	}
	return ctrl.Result{}, fmt.Errorf("make %s again, which was to be kept: %w", what, err)
}

func (k Keeper) forget(ctx context.Context, record *corev1.ConfigMap) error {
	if err := client.IgnoreNotFound(k.Client.Delete(ctx, record)); err != nil {
		return fmt.Errorf("delete the record %s: %w", record.Name, err)
	}
	return nil
}
