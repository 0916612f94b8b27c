package feed

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

// Change says that an object, the events about it or its Pods changed. It carries no content: read the object with the
// caller's rights.
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

// lose reports the pending changes as lost.
func (s *Subscription) lose() {
	s.mu.Lock()
	s.pending, s.lost = map[Change]struct{}{}, true
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default: // already signalled
	}
}

// Concerning returns a channel that receives when there is a relevant change, or lost some, until ctx ends.
func (s *Subscription) Concerning(ctx context.Context, relevant func(Change) bool) <-chan struct{} {
	s.only(relevant) // few of hundreds of subscribers need to wake
	out := make(chan struct{}, 1)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.ready:
			}
			changes, lost := s.Take()
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

// Changes passes the cache's changes to subscribers.
type Changes struct {
	mu   sync.RWMutex
	subs map[*Subscription]struct{}
}

// NewChanges returns Changes without subscribers.
func NewChanges() *Changes { return &Changes{subs: map[*Subscription]struct{}{}} }

// Subscribe follows the changes of all kinds until ctx ends. The changed objects must be read as the caller, after an
// access check.
func (c *Changes) Subscribe(ctx context.Context) *Subscription {
	s := &Subscription{ready: make(chan struct{}, 1), pending: map[Change]struct{}{}}
	c.mu.Lock()
	c.subs[s] = struct{}{}
	c.mu.Unlock()
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.subs, s)
	})
	return s
}

// Publish passes a change to the subscribers that it concerns.
func (c *Changes) Publish(one Change) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for s := range c.subs {
		s.add(one)
	}
}

// Everything tells every subscriber to read everything again: the catalog has changed.
func (c *Changes) Everything() {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for s := range c.subs {
		s.lose()
	}
}

// named publishes the changes of the objects of one resource.
func (c *Changes) named(plural string) toolscache.ResourceEventHandler {
	tell := func(obj any) {
		if m, err := meta.Accessor(LastState(obj)); err == nil {
			c.Publish(Change{Kind: plural, Namespace: m.GetNamespace(), Name: m.GetName()})
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    tell,
		DeleteFunc: tell,
		UpdateFunc: func(before, after any) {
			if !SameVersion(before, after) { // a resync changes nothing
				tell(after)
			}
		},
	}
}

// events publishes that the events about an object changed.
func (c *Changes) events(kinds *catalog.Live) toolscache.ResourceEventHandler {
	tell := func(obj any) {
		e, ok := LastState(obj).(*corev1.Event)
		if !ok {
			return
		}
		of := e.InvolvedObject.GroupVersionKind().GroupKind()
		if e.InvolvedObject.APIVersion == "" { // written by hand
			of.Group = v1alpha1.GroupVersion.Group
		}
		if k, ok := kinds.Now().ByGroupKind(of); ok {
			c.Publish(Change{
				Kind: k.Plural, Namespace: e.InvolvedObject.Namespace, Name: e.InvolvedObject.Name, Events: true,
				Activity: e.ReportingController == activity.Controller,
			})
		}
	}
	return toolscache.ResourceEventHandlerFuncs{AddFunc: tell, UpdateFunc: func(_, after any) { tell(after) }}
}

// pods publishes that Pods of a WebApp changed.
func (c *Changes) pods(kinds *catalog.Live) toolscache.ResourceEventHandler {
	tell := func(obj any) {
		m, err := meta.Accessor(LastState(obj))
		if err != nil {
			return
		}
		k, known := kinds.Now().ByName(catalog.AppKind)
		if name := m.GetLabels()[v1alpha1.LabelWebApp]; name != "" && known {
			c.Publish(Change{Kind: k.Plural, Namespace: m.GetNamespace(), Name: name, Pods: true})
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: tell, DeleteFunc: tell,
		UpdateFunc: func(before, after any) {
			if !SameVersion(before, after) {
				tell(after)
			}
		},
	}
}

// LastState returns the last known state of what may be a tombstone.
func LastState(obj any) any {
	if t, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		return t.Obj
	}
	return obj
}

// SameVersion reports whether an update changed nothing, as a resync does.
func SameVersion(before, after any) bool {
	a, errA := meta.Accessor(before)
	b, errB := meta.Accessor(after)
	return errA == nil && errB == nil && a.GetResourceVersion() == b.GetResourceVersion()
}
