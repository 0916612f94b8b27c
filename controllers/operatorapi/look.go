package operatorapi

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/portico-platform/portico/api/expiring"
)

// lookWait is how long an answer waits for a look at AWS: callers give up after two seconds, and the rest of the answer
// is there at once. A look that takes longer goes on, for the next one who asks.
const lookWait = time.Second

// looks shares looks at AWS among all who ask the same, and what they found for a while.
type looks[K interface {
	comparable
	String() string
}, V any] struct {
	timeout time.Duration // of one look
	recent  *expiring.Cache[K, V]
	flights singleflight.Group
}

// get returns what read finds, now or a moment ago; false while AWS has not answered.
func (l *looks[K, V]) get(ctx context.Context, key K, read func(context.Context) V) (V, bool) {
	if one, ok := l.recent.Get(key); ok {
		return one, true
	}
	flight := l.flights.DoChan(key.String(), func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.timeout)
		defer cancel()
		one := read(detached)
		l.recent.Put(key, one)
		return one, nil
	})
	patience := time.NewTimer(lookWait)
	defer patience.Stop()
	select {
	case done := <-flight:
		return done.Val.(V), true
	case <-patience.C:
	case <-ctx.Done():
	}
	var none V
	return none, false
}
