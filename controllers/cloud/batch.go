package cloud

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/fair"
)

// Batch turns reads of single resources that come close together into one call for many. A call for several teams is in
// nobody's share of the rate, but in one that such calls have together. Safe for concurrent use.
type Batch[K comparable, V any] struct {
	Window time.Duration // how long the first of a batch waits for others
	Most   int           // how many keys one call takes
	// Read fetches many at once. A key that is not in the answer proves nothing: read it alone.
	Read func(ctx context.Context, keys []K) (map[K]V, error)

	mu   sync.Mutex
	open *batchCall[K, V]
}

// batchCall is one call in the making.
type batchCall[K comparable, V any] struct {
	keys    []K
	members map[K]bool
	routine bool   // nobody waits for any of them
	team    string // whose share it is
	start   sync.Once
	done    chan struct{}
	found   map[K]V
	err     error
}

// Get returns what the batch's call found for key; false if the answer did not have it. It returns early when ctx
// ends; the call goes on for the others.
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

// GetOne does what Get does, and reads alone what the answer did not have.
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
		call := &batchCall[K, V]{done: make(chan struct{}), members: map[K]bool{}, routine: true, team: fair.TeamOf(ctx)}
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

// batchTimeout bounds a call that no single caller's time bounds.
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
			if p := recover(); p != nil { // nobody above would catch it, and it must not end the others' work
				call.err = fmt.Errorf("read a batch: panic: %v", p)
			}
		}()
		call.found, call.err = b.Read(ctx, call.keys)
	})
}
