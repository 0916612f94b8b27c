package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/catalog"
)

// maxPending bounds the pending changes of one subscriber; beyond it Take reports lost.
const maxPending = 1000

// Change says that an object, the events about it or its Pods changed. It carries no content: read the object through
// the Cluster, which checks access.
type Change struct {
	Kind      string // plural, e.g. s3buckets
	Namespace string
	Name      string
	Events    bool // only the events about the object changed
	Activity  bool // and they record what somebody did through the portal
	Pods      bool // only Pods that run for the object changed
}

// Subscription holds the pending changes for one subscriber, coalesced. A slow subscriber delays no other.
type Subscription struct {
	ready    chan struct{}
	mu       sync.Mutex
	pending  map[Change]struct{}
	lost     bool
	relevant func(Change) bool // nil: all
}

// only restricts the subscription, from now on, to relevant changes: no other change wakes the subscriber.
func (s *Subscription) only(relevant func(Change) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.relevant = relevant
}

// Ready receives when Take has something to return.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take returns every change since the last call, each once. lost means that there were too many to keep: read
// everything again.
func (s *Subscription) Take() (changes []Change, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changes, lost = slices.Collect(maps.Keys(s.pending)), s.lost
	s.pending, s.lost = map[Change]struct{}{}, false
	return changes, lost
}

func (s *Subscription) add(c Change) {
	s.mu.Lock()
	if s.relevant != nil && !s.relevant(c) {
		s.mu.Unlock()
		return
	}
	if len(s.pending) >= maxPending {
		s.pending, s.lost = map[Change]struct{}{}, true
	}
	if !s.lost {
		s.pending[c] = struct{}{}
	}
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default: // already signalled
	}
}

// Feed is implemented by Subscription, and by fakes in tests.
type Feed interface {
	Ready() <-chan struct{}
	Take() (changes []Change, lost bool)
}

// Follow returns Subscribe's result as a Feed.
func (c *Cluster) Follow(ctx context.Context) Feed { return c.Subscribe(ctx) }

// Concerning returns a channel that receives when the feed has a relevant change, or lost some, until ctx ends.
func Concerning(ctx context.Context, feed Feed, relevant func(Change) bool) <-chan struct{} {
	if s, ok := feed.(*Subscription); ok {
		s.only(relevant) // few of hundreds of subscribers need to wake
	}
	out := make(chan struct{}, 1)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-feed.Ready():
			}
			changes, lost := feed.Take()
			if !lost && !slices.ContainsFunc(changes, relevant) {
				continue
			}
			select {
			case out <- struct{}{}:
			default: // already signalled
			}
		}
	}()
	return out
}

// Subscribe follows the changes of all kinds until ctx ends. The changed objects must be read through the Cluster, as
// the caller.
func (c *Cluster) Subscribe(ctx context.Context) *Subscription { return c.feed.subscribe(ctx) }

// feed passes the cache's changes to subscribers.
type feed struct {
	mu   sync.RWMutex
	subs map[*Subscription]struct{}
}

func newFeed() *feed { return &feed{subs: map[*Subscription]struct{}{}} }

func (f *feed) subscribe(ctx context.Context) *Subscription {
	s := &Subscription{ready: make(chan struct{}, 1), pending: map[Change]struct{}{}}
	f.mu.Lock()
	f.subs[s] = struct{}{}
	f.mu.Unlock()
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subs, s)
	})
	return s
}

func (f *feed) publish(c Change) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for s := range f.subs {
		s.add(c)
	}
}

// objects publishes the changes of one kind.
func (f *feed) objects(k catalog.Kind) toolscache.ResourceEventHandler { return f.named(k.Plural) }

// named publishes the changes of the objects of one resource.
func (f *feed) named(plural string) toolscache.ResourceEventHandler {
	tell := func(obj any) {
		if m, err := meta.Accessor(lastState(obj)); err == nil {
			f.publish(Change{Kind: plural, Namespace: m.GetNamespace(), Name: m.GetName()})
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    tell,
		DeleteFunc: tell,
		UpdateFunc: func(before, after any) {
			if !sameVersion(before, after) { // a resync changes nothing
				tell(after)
			}
		},
	}
}

// events publishes that the events about an object changed.
func (f *feed) events(kinds catalog.Catalog) toolscache.ResourceEventHandler {
	tell := func(obj any) {
		e, ok := lastState(obj).(*corev1.Event)
		if !ok {
			return
		}
		if k, ok := kinds.ByName(e.InvolvedObject.Kind); ok {
			f.publish(Change{
				Kind: k.Plural, Namespace: e.InvolvedObject.Namespace, Name: e.InvolvedObject.Name, Events: true,
				Activity: e.ReportingController == activity.Controller,
			})
		}
	}
	return toolscache.ResourceEventHandlerFuncs{AddFunc: tell, UpdateFunc: func(_, after any) { tell(after) }}
}

// pods publishes that Pods of a WebApp changed.
func (f *feed) pods(kinds catalog.Catalog) toolscache.ResourceEventHandler {
	k, known := kinds.ByName(catalog.AppKind)
	tell := func(obj any) {
		m, err := meta.Accessor(lastState(obj))
		if err != nil || !known {
			return
		}
		if name := m.GetLabels()[v1alpha1.LabelWebApp]; name != "" {
			f.publish(Change{Kind: k.Plural, Namespace: m.GetNamespace(), Name: name, Pods: true})
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: tell, DeleteFunc: tell,
		UpdateFunc: func(before, after any) {
			if !sameVersion(before, after) {
				tell(after)
			}
		},
	}
}

// lastState returns the last known state of what may be a tombstone.
func lastState(obj any) any {
	if t, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		return t.Obj
	}
	return obj
}

func sameVersion(before, after any) bool {
	a, errA := meta.Accessor(before)
	b, errB := meta.Accessor(after)
	return errA == nil && errB == nil && a.GetResourceVersion() == b.GetResourceVersion()
}
