package cloud

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/fair"
)

// Batch combines reads of single resources within a short time into one call for many. A call for several teams uses a
// share of the rate that all such calls have together. Safe for concurrent use.
type Batch[K comparable, V any] struct {
	Window time.Duration // how long the first key of a batch waits for others
	Most   int           // maximum number of keys in one call
	// Read reads many keys at once. A key that is missing from the result proves nothing: read it alone.
	Read func(ctx context.Context, keys []K) (map[K]V, error)

	mu   sync.Mutex
	open *batchCall[K, V]
}

// batchCall is a call that still collects keys.
type batchCall[K comparable, V any] struct {
	keys    []K
	members map[K]bool
	routine bool   // every read in it is routine
	team    string // whose share of the rate it uses
	start   sync.Once
	done    chan struct{}
	found   map[K]V
	err     error
}

// Get returns the batch's result for key; false if it has none. It returns early when ctx ends; the call continues for
// the others.
func (b *Batch[K, V]) Get(ctx context.Context, key K) (found V, ok bool, err error) {
	call := b.join(ctx, key)
	select {
	case <-call.done:
		found, ok = call.found[key]
		return found, ok, call.err
	case <-ctx.Done():
		return found, false, ctx.Err()
	}
}

// GetOne returns what Get does, but reads a missing key with alone.
func (b *Batch[K, V]) GetOne(ctx context.Context, key K, alone func(context.Context, K) (*V, error)) (*V, error) {
	found, ok, err := b.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	if !ok {
		return alone(ctx, key)
	}
	return &found, nil
}

func (b *Batch[K, V]) join(ctx context.Context, key K) *batchCall[K, V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		call := &batchCall[K, V]{
			done: make(chan struct{}), members: map[K]bool{}, routine: true,
			team: fair.TeamOf(ctx),
		}
		b.open = call
		time.AfterFunc(b.Window, func() { b.send(context.WithoutCancel(ctx), call) })
	}
	call := b.open
	if !call.members[key] {
		call.members[key] = true
		call.keys = append(call.keys, key)
	}
	call.routine = call.routine && engine.IsRoutine(ctx)
	call.team = fair.Joint(call.team, fair.TeamOf(ctx))
	if len(call.keys) >= b.Most {
		b.open = nil
		go b.send(context.WithoutCancel(ctx), call)
	}
	return call
}

// batchTimeout bounds a call that is shared by several callers.
const batchTimeout = time.Minute

func (b *Batch[K, V]) send(ctx context.Context, call *batchCall[K, V]) {
	call.start.Do(func() {
		b.mu.Lock()
		if b.open == call {
			b.open = nil
		}
		b.mu.Unlock()
		ctx = fair.WithTeam(engine.WithRoutine(ctx, call.routine), call.team)
		ctx, cancel := context.WithTimeout(ctx, batchTimeout)
		defer cancel()
		defer close(call.done)
		defer func() {
			if p := recover(); p != nil { // nobody else would recover it, and it must not crash the operator
				call.err = fmt.Errorf("read a batch: panic: %v", p)
			}
		}()
		call.found, call.err = b.Read(ctx, call.keys)
	})
}
