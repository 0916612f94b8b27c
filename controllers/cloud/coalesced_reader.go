package cloud

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// joinedTimeout bounds one read, which is shared by several callers.
const joinedTimeout = 30 * time.Second

// Joined reads past every cache, and lets concurrent callers for the same object share a read. A read serves only
// callers that arrived before it was sent, so each sees the state after its call.
type Joined struct {
	client.Reader

	mu   sync.Mutex
	next map[joinedKey]*joinedRead // not sent yet
	sent map[joinedKey]bool        // reads in flight
}

// NewJoined returns a Joined that reads from r.
func NewJoined(r client.Reader) *Joined {
	return &Joined{Reader: r, next: map[joinedKey]*joinedRead{}, sent: map[joinedKey]bool{}}
}

type joinedKey struct {
	kind string
	client.ObjectKey
}

type joinedRead struct {
	ctx  context.Context //nolint:containedctx // of the first caller, without its deadline
	obj  client.Object
	err  error
	done chan struct{}
}

// Get implements client.Reader.
func (j *Joined) Get(ctx context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	k := joinedKey{fmt.Sprintf("%T %s", obj, obj.GetObjectKind().GroupVersionKind()), key}
	j.mu.Lock()
	r := j.next[k]
	if r == nil {
		r = &joinedRead{
			ctx: context.WithoutCancel(ctx), obj: obj.DeepCopyObject().(client.Object),
			done: make(chan struct{}),
		}
		j.next[k] = r
		if !j.sent[k] {
			j.send(k) //nolint:contextcheck // the read uses the context of its first caller
		}
	}
	j.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.err == nil {
		reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(r.obj.DeepCopyObject()).Elem())
	}
	return r.err
}

// send sends the next read, and the following one after it. The caller holds the lock.
func (j *Joined) send(k joinedKey) {
	r := j.next[k]
	if r == nil {
		delete(j.sent, k)
		return
	}
	delete(j.next, k)
	j.sent[k] = true
	go func() {
		ctx, cancel := context.WithTimeout(r.ctx, joinedTimeout)
		defer cancel()
		r.err = j.Reader.Get(ctx, k.ObjectKey, r.obj)
		close(r.done)
		j.mu.Lock()
		defer j.mu.Unlock()
		j.send(k)
	}()
}
