package cloud

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/portico-platform/portico/controllers/engine"
)

// Batch turns reads of single resources that come close together into one call for many. Safe for concurrent use.
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
	routine bool // nobody waits for any of them
	start   sync.Once
	done    chan struct{}
	found   map[K]V
	err     error
}

// Get returns what the batch's call found for key; false if the answer did not have it. It returns early when ctx
// ends; the call goes on for the others.
func (b *Batch[K, V]) Get(ctx context.Context, key K) (found V, ok bool, err error) {
	r := b.join(ctx, key)
	select {
	case <-r.done:
		found, ok = r.found[key]
		return found, ok, r.err
	case <-ctx.Done():
		return found, false, ctx.Err()
	}
}

func (b *Batch[K, V]) join(ctx context.Context, key K) *batchCall[K, V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		r := &batchCall[K, V]{done: make(chan struct{}), members: map[K]bool{}, routine: true}
		b.open = r
		time.AfterFunc(b.Window, func() { b.send(context.WithoutCancel(ctx), r) })
	}
	r := b.open
	if !r.members[key] {
		r.members[key] = true
		r.keys = append(r.keys, key)
	}
	r.routine = r.routine && engine.IsRoutine(ctx)
	if len(r.keys) >= b.Most {
		b.open = nil
		go b.send(context.WithoutCancel(ctx), r)
	}
	return r
}

// batchTimeout bounds a call that no single caller's time bounds.
const batchTimeout = time.Minute

func (b *Batch[K, V]) send(ctx context.Context, r *batchCall[K, V]) {
	r.start.Do(func() {
		b.mu.Lock()
		if b.open == r {
			b.open = nil
		}
		b.mu.Unlock()
		ctx, cancel := context.WithTimeout(engine.WithRoutine(ctx, r.routine), batchTimeout)
		defer cancel()
		defer close(r.done)
		defer func() {
			if p := recover(); p != nil { // nobody above would catch it, and it must not end the others' work
				r.err = fmt.Errorf("read a batch: panic: %v", p)
			}
		}()
		r.found, r.err = b.Read(ctx, r.keys)
	})
}
