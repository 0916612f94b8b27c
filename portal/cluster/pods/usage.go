package pods

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	quantities "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

const (
	// usageWait is how long a page waits for the figures; later ones are published as a change.
	usageWait = 100 * time.Millisecond
	// usageTimeout bounds reading all figures of one application.
	usageTimeout = 5 * time.Second
	// usageAtOnce bounds the Pods whose figures are read concurrently.
	usageAtOnce = 8
)

// Usage is what all containers of a Pod use.
type Usage struct{ CPU, Memory quantities.Quantity }

var (
	// ErrNoMetrics reports that the cluster has no metrics API.
	ErrNoMetrics = errors.New("the cluster does not serve metrics.k8s.io")
	// ErrNoUsageYet reports that the figures are being read: a change of the application is published when they are
	// available.
	ErrNoUsageYet = errors.New("the figures are being read")
)

var podMetrics = schema.GroupVersionResource{Group: rights.GetUsage.Group, Version: "v1beta1", Resource: "pods"}

// Usage returns what the Pods of app use, by Pod name, read as the caller; Pods without figures are left out. It waits
// for usageWait at most, and the figures can be usageTTL old, or older while the metrics API is slow. The caller needs
// the right to get pods.metrics.k8s.io in the namespace. Errors are *failure.ForbiddenError, ErrNoMetrics,
// ErrNoUsageYet or *failure.UnavailableError.
func (p *Pods) Usage(ctx context.Context, id auth.Identity, app *unstructured.Unstructured, pods []*corev1.Pod) (
	map[string]Usage, error,
) {
	namespace := app.GetNamespace()
	if err := p.rights.RequireRight(ctx, id, rights.GetUsage.In(namespace)); err != nil {
		return nil, err
	}
	running := runningPods(pods)
	if len(running) == 0 {
		return nil, nil
	}
	reading := p.usage.current(rights.QuestionOf(id, rights.GetUsage.In(namespace).To(app.GetName())),
		func(r *usageReading) {
			detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageTimeout) // others may wait for it
			defer cancel()
			usage, err := p.readUsage(detached, id, namespace, running)
			if r.end(usage, err) {
				p.feed.Changes.Publish(feed.Change{
					Kind: p.appPlural(), Namespace: namespace, Name: app.GetName(),
					Pods: true,
				})
			}
		})
	return reading.await(ctx)
}

func (p *Pods) appPlural() string {
	k, _ := p.feed.Kinds.Now().ByName(catalog.AppKind)
	return k.Plural
}

// runningPods returns the names of the Pods that can have figures.
func runningPods(pods []*corev1.Pod) []string {
	var out []string
	for _, p := range pods {
		for i := range p.Status.ContainerStatuses {
			if p.Status.ContainerStatuses[i].State.Running != nil {
				out = append(out, p.Name)
				break
			}
		}
	}
	return out
}

// readUsage reads each Pod's figures, because impersonated callers have no right to list them (docs/adr/0057-usage.md).
// It reads one Pod first, to see whether the API is served at all.
func (p *Pods) readUsage(ctx context.Context, id auth.Identity, namespace string, pods []string) (
	map[string]Usage, error,
) {
	client, _, err := p.impersonator.ClientFor(ctx, id)
	if err != nil {
		return nil, err
	}
	api := client.Resource(podMetrics).Namespace(namespace)
	var mu sync.Mutex
	out := map[string]Usage{}
	read := func(ctx context.Context, pod string) error {
		u, known, err := usageOf(ctx, api, pod)
		if err != nil {
			return p.explainUsage(ctx, id, namespace, err)
		}
		if known {
			mu.Lock()
			defer mu.Unlock()
			out[pod] = u
		}
		return nil
	}
	if err := read(ctx, pods[0]); err != nil {
		return nil, err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(usageAtOnce)
	for _, pod := range pods[1:] {
		g.Go(func() error { return read(ctx, pod) })
	}
	return out, g.Wait()
}

// usageOf reads the figures of one Pod; known is false while there are none.
func usageOf(ctx context.Context, api dynamic.ResourceInterface, pod string) (u Usage, known bool, err error) {
	if err := podNamed(pod); err != nil {
		return u, false, err
	}
	obj, err := api.Get(ctx, pod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return u, false, nil
	case apierrors.IsNotFound(err):
		return u, false, ErrNoMetrics // the API's own message is not for users
	case err != nil:
		return u, false, err
	}
	containers, _, _ := unstructured.NestedSlice(obj.Object, "containers")
	for _, one := range containers {
		c, _ := one.(map[string]any)
		for name, sum := range map[string]*quantities.Quantity{"cpu": &u.CPU, "memory": &u.Memory} {
			text, _, _ := unstructured.NestedString(c, "usage", name)
			q, err := quantities.ParseQuantity(text)
			if err != nil {
				return u, false, fmt.Errorf("usage of %s by Pod %s: %w", name, pod, err)
			}
			sum.Add(q)
		}
	}
	return u, len(containers) > 0, nil
}

// explainUsage does what explain does, and recognises errors of the metrics API that the API server passes on.
func (p *Pods) explainUsage(ctx context.Context, id auth.Identity, namespace string, err error) error {
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, ErrNoMetrics):
		return err
	case errors.As(err, &status) && status.Status().Code >= http.StatusInternalServerError:
		return &failure.UnavailableError{Doing: "reading what Pods use", Cause: err}
	}
	return p.impersonator.Explain(ctx, id, rights.GetUsage.In(namespace), err)
}
