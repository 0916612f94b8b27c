package pages

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/podlogs"
)

// running is the fake's state of Pods. The rights to them are denied as "list pods payments", "get pods/log payments".
type running struct {
	pods      []*corev1.Pod
	podEvents []*corev1.Event
	logs      func(q pods.LogQuery) (io.ReadCloser, error)
	asked     []pods.LogQuery
	policy    error       // refuses patches
	noLogs    atomic.Bool // the right to logs was lost
	usage     map[string]pods.Usage
	noUsage   error
}

func (f *fakeCluster) Usage(context.Context, auth.Identity, *unstructured.Unstructured, []*corev1.Pod) (
	map[string]pods.Usage, error,
) {
	return f.usage, f.noUsage
}

func (f *fakeCluster) pod(text string) *corev1.Pod {
	p := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(text), p); err != nil {
		panic(err)
	}
	return p
}

// fakePods is the part about Pods, which lists them as the real one.
type fakePods struct {
	*fakeCluster
	real *pods.Pods
}

func (f fakePods) List(ctx context.Context, id auth.Identity, app *unstructured.Unstructured) ([]*corev1.Pod, error) {
	return f.real.List(ctx, id, app)
}

// Events returns the same events for every Pod.
func (f fakePods) Events(ctx context.Context, id auth.Identity, pod *corev1.Pod) ([]*corev1.Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.podEvents, f.Rights.RequireRight(ctx, id, rights.ListEvents.In(pod.Namespace))
}

func (f *fakeCluster) Logs(ctx context.Context, id auth.Identity, q pods.LogQuery) (*podlogs.Lines, error) {
	if err := f.MayReadLogs(ctx, id, q.Namespace); err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.asked = append(f.asked, q)
	f.mu.Unlock()
	if f.logs == nil {
		return podlogs.NewLines(io.NopCloser(strings.NewReader("")), nil), nil
	}
	body, err := f.logs(q)
	if err != nil {
		return nil, err
	}
	return podlogs.NewLines(body, nil), nil
}

func (f *fakeCluster) MayReadLogs(ctx context.Context, id auth.Identity, ns string) error {
	if f.noLogs.Load() {
		return &failure.ForbiddenError{Verb: "get", Resource: "pods/log", Namespace: ns}
	}
	return f.Rights.RequireRight(ctx, id, rights.GetLogs.In(ns))
}

// Scale refuses more than 10 Pods with the CRD's message.
func (f *fakeCluster) Scale(ctx context.Context, id auth.Identity, ref catalog.Ref, replicas int64) (
	*unstructured.Unstructured, error,
) {
	if f.policy != nil {
		return nil, f.policy
	}
	if replicas > 10 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: ref.Kind.Name}, ref.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "replicas"), replicas, "spec.replicas in body should be less than or "+
				"equal to 10"),
		})
	}
	if err := f.Rights.Require(ctx, id, "patch", ref); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		if o.GetKind() == ref.Kind.Name && o.GetNamespace() == ref.Namespace && o.GetName() == ref.Name {
			return o, unstructured.SetNestedField(o.Object, replicas, "spec", "replicas")
		}
	}
	return nil, apierrors.NewNotFound(ref.Kind.Resource.GroupResource(), ref.Name)
}

// notStarted returns the API server's error for a log that does not exist yet.
func notStarted() error {
	return &failure.NoLogError{
		Why: fmt.Sprintf("container %q in pod %q is waiting to start: ContainerCreating", "app", "shop-1"),
	}
}
