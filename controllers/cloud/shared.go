package cloud

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/portico-platform/portico/controllers/engine"
)

// sharedValues keeps one value of each type and region.
type sharedValues struct{ values sync.Map }

type sharedKey struct {
	region string
	of     reflect.Type
}

func loadOrBuild[V any](m *sharedValues, region string, build func() V) V {
	key := sharedKey{region, reflect.TypeFor[V]()}
	if found, ok := m.values.Load(key); ok {
		return found.(V)
	}
	kept, _ := m.values.LoadOrStore(key, build())
	return kept.(V)
}

// Shared returns the one V of this session and its region, built at the first call: a service's client with its
// batches, which all objects of the session use together. V must be safe for concurrent use.
func Shared[V any](s *Session, build func() V) V {
	if s.shared == nil {
		return build() // a session made by hand, in a test
	}
	return loadOrBuild(s.shared, s.Config.Region, build)
}

// Listing is the latest complete listing of one type of resource in a provider's account and region, by ARN. It is an
// old state: good for routine checks that find nothing, never a reason to act.
type Listing[V any] struct {
	Now func() time.Time // nil: a listing never grows old, for tests

	mu  sync.RWMutex
	all map[string]V
	at  time.Time
}

// listingMaxAge is how long a listing answers for: two sweeps at the default interval. If sweeps stop, routine checks
// must read for themselves again.
const listingMaxAge = 10 * time.Minute

// ListingOf returns the listing of V's that all sessions of the provider share.
func ListingOf[V any](s *Session) *Listing[V] {
	if s.listings == nil {
		return &Listing[V]{}
	}
	return loadOrBuild(s.listings, s.Config.Region, func() *Listing[V] { return &Listing[V]{Now: s.limiters.Now} })
}

// Replace makes all the listing and returns its ARNs, sorted. An error of the call that lists forgets it.
func (l *Listing[V]) Replace(all map[string]V, err error) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.all = nil
		return nil, err
	}
	l.all = all
	if l.Now != nil {
		l.at = l.Now()
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// Get returns the state of the resource with this ARN, for routine work only, and if it is younger than what the
// object's last live look saw. false says nothing about whether the resource exists.
func (l *Listing[V]) Get(ctx context.Context, arn string) (V, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	v, ok := l.all[arn]
	old := l.Now != nil && (l.Now().Sub(l.at) > listingMaxAge || !l.at.After(engine.LastObserved(ctx)))
	return v, ok && !old && engine.IsRoutine(ctx)
}

// ShareCall makes those who ask for the same at the same time share one call, which no single caller's time bounds. It
// is in the share of the rate of who asked first.
func ShareCall[V any](ctx context.Context, flights *singleflight.Group, key string, timeout time.Duration, call func(context.Context) (V, error)) (none V, err error) {
	flight := flights.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
		defer cancel()
		return call(ctx)
	})
	select {
	case landed := <-flight:
		if landed.Err != nil {
			return none, landed.Err
		}
		return landed.Val.(V), nil
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
