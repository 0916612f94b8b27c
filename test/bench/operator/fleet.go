package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// creators is the number of concurrent creations.
const creators = 20

// resource is any of Portico's custom resources.
type resource interface {
	client.Object
	Common() *v1alpha1.CommonStatus
}

func newBucket(namespace string, i int) resource {
	b := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("bucket-%04d", i)}}
	b.Spec.ProviderRef.Name = stack.Provider
	return b
}

func newQueue(namespace string, i int) resource {
	q := &v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("queue-%04d", i)}}
	q.Spec.ProviderRef.Name = stack.Provider
	return q
}

// fleet is the resources that a scenario creates, as seen through watches; nothing else creates objects of these kinds.
type fleet struct {
	kube       client.WithWatch
	namespaces []string
	watches    []watch.Interface

	mu      sync.Mutex
	created map[string]time.Time // when the request was sent, by kind and name
	ready   map[string]time.Time // when the watch first showed it
	gone    map[string]bool
	last    map[string]string // last message of the Ready condition
	changed chan struct{}     // closed at the next event
	stopped bool
	lost    error // set if the API server has ended a watch
}

// newFleet watches all kinds from now on, until stop. Its objects are spread over the namespaces.
func newFleet(ctx context.Context, kube client.WithWatch, namespaces []string) (*fleet, error) {
	f := &fleet{
		kube: kube, namespaces: namespaces, changed: make(chan struct{}),
		created: map[string]time.Time{}, ready: map[string]time.Time{}, gone: map[string]bool{},
		last: map[string]string{},
	}
	var within []client.ListOption
	if len(namespaces) == 1 {
		within = append(within, client.InNamespace(namespaces[0]))
	}
	for _, list := range []client.ObjectList{
		&v1alpha1.S3BucketList{}, &v1alpha1.SQSQueueList{}, &v1alpha1.WebAppList{},
		&v1alpha1.GatewayHostnameRequestList{},
	} {
		w, err := watching{kube, list, within}.begin(ctx)
		if err != nil {
			f.stop()
			return nil, fmt.Errorf("watch: %w", err)
		}
		f.watches = append(f.watches, w)
		go func() {
			for e := range w.ResultChan() {
				if o, ok := e.Object.(resource); ok {
					f.see(e.Type, o)
				}
			}
			f.ended()
		}()
	}
	return f, nil
}

// watching watches the objects of one kind. The API server ends the watch of a slow reader; watching then starts
// another one at the last event.
type watching struct {
	kube   client.WithWatch
	of     client.ObjectList
	within []client.ListOption
}

func (w watching) begin(ctx context.Context) (watch.Interface, error) {
	if err := w.kube.List(ctx, w.of, append(slices.Clone(w.within), client.Limit(1))...); err != nil {
		return nil, err
	}
	return watchtools.NewRetryWatcherWithContext(ctx, w.of.GetResourceVersion(), w)
}

// WatchWithContext implements cache.WatcherWithContext.
func (w watching) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return w.kube.Watch(ctx, w.of, append(slices.Clone(w.within), &client.ListOptions{Raw: &options})...)
}

func (f *fleet) stop() {
	f.mu.Lock()
	f.stopped = true
	f.mu.Unlock()
	for _, w := range f.watches {
		w.Stop()
	}
}

// ended records that a watch has ended unexpectedly, so that await fails: the awaited event would never arrive.
func (f *fleet) ended() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	f.lost = errors.New("the API server ended the benchmark's own watch")
	close(f.changed)
	f.changed = make(chan struct{})
}

func key(o resource) string {
	return fmt.Sprintf("%T %s", o, o.GetName())
}

func (f *fleet) see(event watch.EventType, o resource) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := key(o)
	if event == watch.Deleted {
		f.gone[name] = true
	}
	if _, before := f.ready[name]; o.Common().Ready && !before {
		f.ready[name] = time.Now()
	}
	for _, c := range o.Common().Conditions {
		if c.Type == v1alpha1.ConditionReady {
			f.last[name] = c.Reason + ": " + c.Message
		}
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// create creates all the objects, many at a time.
func (f *fleet) create(ctx context.Context, objects []resource) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(creators)
	for _, o := range objects {
		g.Go(func() error {
			f.mu.Lock()
			f.created[key(o)] = time.Now()
			f.mu.Unlock()
			return f.kube.Create(ctx, o, client.FieldOwner("bench-operator")) // as kubectl and the REST API say it
		})
	}
	return g.Wait()
}

// await waits until ok returns true. ok is called with the lock held.
func (f *fleet) await(ctx context.Context, ok func() bool) error {
	for {
		f.mu.Lock()
		met, changed, lost := ok(), f.changed, f.lost
		f.mu.Unlock()
		if met || lost != nil {
			return lost
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// allReady waits until every created object is Ready. Its error lists the objects that are not.
func (f *fleet) allReady(ctx context.Context) error {
	err := f.await(ctx, func() bool { return len(f.ready) == len(f.created) })
	if err == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.created {
		if _, ok := f.ready[name]; !ok {
			return fmt.Errorf("%d of %d did not become Ready: %w; %s says %q", len(f.created)-len(f.ready),
				len(f.created), err, name, cmp.Or(f.last[name], "nothing yet"))
		}
	}
	return err
}

// clear deletes everything and waits until all of it is gone.
func (f *fleet) clear(ctx context.Context) error {
	for _, o := range []client.Object{
		&v1alpha1.S3Bucket{}, &v1alpha1.SQSQueue{}, &v1alpha1.WebApp{},
		&v1alpha1.GatewayHostnameRequest{},
	} {
		for _, namespace := range f.namespaces {
			if err := f.deleteAll(ctx, o, namespace); err != nil {
				return fmt.Errorf("delete all: %w", err)
			}
		}
	}
	if err := f.await(ctx, func() bool { return len(f.gone) == len(f.created) }); err != nil {
		return fmt.Errorf("%d of %d are still there: %w", len(f.created)-len(f.gone), len(f.created), err)
	}
	return nil
}

// deleteAll deletes all objects of a kind. The API server ends a request after a minute, so deleting many objects takes
// several requests.
func (f *fleet) deleteAll(ctx context.Context, o client.Object, namespace string) error {
	var err error
	for range 10 {
		if err = f.kube.DeleteAllOf(ctx, o, client.InNamespace(namespace)); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// took returns the time from the first creation to the last Ready.
func (f *fleet) took() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	first, last := time.Time{}, time.Time{}
	for name, at := range f.created {
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if r := f.ready[name]; r.After(last) {
			last = r
		}
	}
	return last.Sub(first)
}

// waits returns how long each object took from its creation to Ready.
func (f *fleet) waits() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]time.Duration, 0, len(f.ready))
	for name, at := range f.ready {
		all = append(all, at.Sub(f.created[name]))
	}
	return all
}
