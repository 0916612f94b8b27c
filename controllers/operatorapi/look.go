package operatorapi

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/portico-platform/portico/api/expiring"
)

// lookWait is how long a response waits for a read from AWS: clients time out after two seconds, and the rest of the
// response is ready at once. A read that takes longer continues, and the next request gets its result.
const lookWait = time.Second

// looks shares reads from AWS among concurrent requests with the same key, and caches the results.
type looks[K interface {
	comparable
	String() string
}, V any] struct {
	timeout time.Duration // of one read
	recent  *expiring.Cache[K, V]
	flights singleflight.Group
}

// get returns the result of read, cached or new; false if AWS does not answer within lookWait.
func (l *looks[K, V]) get(ctx context.Context, key K, read func(context.Context) V) (V, bool) {
	if one, ok := l.recent.Get(key); ok {
		return one, true
	}
	flight := l.flights.DoChan(key.String(), func() (any, error) {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.timeout)
		defer cancel()
		one := read(detached)
		l.recent.Put(key, one, liveFor)
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
