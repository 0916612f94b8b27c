package controllers

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/sweep"
	"github.com/portico-platform/portico/controllers/watch"
)

// sweeper returns a Sweeper for every AWS kind.
func sweeper(mgr ctrl.Manager, sessions *cloud.Sessions, e *enqueuer, every time.Duration) *sweep.Sweeper {
	s := &sweep.Sweeper{Reader: mgr.GetCache(), Sessions: sessions, Every: every}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[name]
		s.Kinds = append(s.Kinds, sweep.Kind{
			Name: name, List: k.list,
			Objects: func(ctx context.Context, each func(external.Object)) error {
				return watch.Each(ctx, mgr, k.object, func(o client.Object) { each(o.(external.Object)) })
			},
			Enqueue: func(ctx context.Context, obj external.Object) { e.enqueue(ctx, name, obj) },
		})
	}
	return s
}

// enqueuer enqueues objects, by kind.
type enqueuer struct {
	mu     sync.Mutex
	events map[string]chan event.GenericEvent
}

func newEnqueuer() *enqueuer { return &enqueuer{events: map[string]chan event.GenericEvent{}} }

func (e *enqueuer) of(kind string) chan event.GenericEvent {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.events[kind] == nil {
		e.events[kind] = make(chan event.GenericEvent)
	}
	return e.events[kind]
}

// source returns the event source for a kind's controller.
func (e *enqueuer) source(kind string) source.Source {
	return source.Channel(e.of(kind), &handler.EnqueueRequestForObject{})
}

// enqueue requests a reconciliation of obj. It blocks until the controller receives the event, or ctx ends.
func (e *enqueuer) enqueue(ctx context.Context, kind string, obj client.Object) {
	select {
	case e.of(kind) <- event.GenericEvent{Object: obj}:
	case <-ctx.Done():
	}
}
