package portal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// object is one of the objects. Some objects in each namespace have failed and some are in progress: lists show these
// first, so that their changes are visible.
type object struct {
	client.Object
	plural string
	i      int
}

const (
	failing  = 4
	underWay = 4
)

// changing reports whether the object's changes are visible on the first page of its list.
func (o object) changing() bool { return o.i < failing+underWay }

func newObject(namespace string, i int) object {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("thing-%04d", i)}
	ref := v1alpha1.LocalRef{Name: stack.Provider}
	switch i % 10 {
	case 0, 1, 2, 3:
		b := &v1alpha1.S3Bucket{ObjectMeta: meta}
		b.Spec.ProviderRef = ref
		return object{b, "s3buckets", i}
	case 4, 5, 6:
		q := &v1alpha1.SQSQueue{ObjectMeta: meta}
		q.Spec.ProviderRef = ref
		return object{q, "sqsqueues", i}
	default:
		a := &v1alpha1.WebApp{ObjectMeta: meta}
		a.Spec.Image = "registry.example.com/shop:1.0.0"
		return object{a, "webapps", i}
	}
}

// writeStatus writes the status that the operator would write; token is part of the message that lists show.
func (w *world) writeStatus(ctx context.Context, o object, token string) error {
	now := metav1.Now()
	condition := func(kind, status, reason, message string) metav1.Condition {
		return metav1.Condition{
			Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: message,
			LastTransitionTime: now, ObservedGeneration: 1,
		}
	}
	ready := condition(v1alpha1.ConditionReady, "True", "InSync", "everything is as described")
	switch {
	case o.i < failing:
		ready = condition(v1alpha1.ConditionReady, "False", "Failed", "the provider does not answer, seen as "+token)
	case o.i < failing+underWay:
		ready = condition(v1alpha1.ConditionReady, "Unknown", "Creating", "waiting for the provider, seen as "+token)
	}
	status := v1alpha1.CommonStatus{
		ObservedGeneration: 1, Ready: ready.Status == metav1.ConditionTrue,
		Conditions: []metav1.Condition{
			ready, condition("Planned", "True", "Planned", "the last plan had nothing to change in what was asked for"),
			condition("Observed", "True", "Observed", "what there is was compared with what was asked for a "+
				"moment ago"),
		},
	}
	if status.Ready {
		first := metav1.NewTime(now.Add(time.Duration(o.i) * time.Second))
		status.FirstReadyTime = &first
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	return w.Kube.Status().Patch(ctx, o.Object, client.RawPatch(types.MergePatchType, patch))
}

// event returns an event for every third object, and nil for the others.
func (o object) event() *corev1.Event {
	if o.i%3 != 0 {
		return nil
	}
	now := metav1.Now()
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), GenerateName: o.GetName() + "-"},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: map[string]string{
				"s3buckets": "S3Bucket", "sqsqueues": "SQSQueue", "webapps": "WebApp",
			}[o.plural],
			Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(),
		},
		Reason: "Created", Message: "what was asked for has been created", Type: corev1.EventTypeNormal,
		FirstTimestamp: now, LastTimestamp: now, Count: 1, Source: corev1.EventSource{Component: "bench-portal"},
	}
}

// path returns the path of the object's page.
func (o object) path() string {
	return "/teams/" + o.GetNamespace() + "/" + o.plural + "/" + o.GetName()
}
