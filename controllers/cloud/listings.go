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

// sharedValues holds one value of each type and region.
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

// Shared returns the V of this session and its region, built at the first call: a service's client with its batches,
// which all objects of the session share. V must be safe for concurrent use.
func Shared[V any](s *Session, build func() V) V {
	if s.shared == nil {
		return build() // a session built by a test
	}
	return loadOrBuild(s.shared, s.Config.Region, build)
}

// Listing is the latest complete listing of one type of resource in a provider's account and region, by ARN. It may be
// outdated: routine checks that find nothing to do can use it, but it is never a reason to act.
type Listing[V any] struct {
	Now func() time.Time // nil: a listing never expires, for tests

	mu  sync.RWMutex
	all map[string]V
	at  time.Time
}

// listingMaxAge is how long a listing is used: two sweeps at the default interval. If sweeps stop, routine checks must
// read for themselves again.
const listingMaxAge = 10 * time.Minute

// ListingOf returns the listing of V that all sessions of the provider share.
func ListingOf[V any](s *Session) *Listing[V] {
	if s.listings == nil {
		return &Listing[V]{}
	}
	return loadOrBuild(s.listings, s.Config.Region, func() *Listing[V] { return &Listing[V]{Now: s.limiters.Now} })
}

// Replace replaces the listing and returns its ARNs, sorted. If the listing call failed, it drops the listing.
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

// Get returns the state of the resource with this ARN, for routine work only, and only if it is newer than the object's
// last live observation. false says nothing about whether the resource exists.
func (l *Listing[V]) Get(ctx context.Context, arn string) (V, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	v, ok := l.all[arn]
	old := l.Now != nil && (l.Now().Sub(l.at) > listingMaxAge || !l.at.After(engine.LastObserved(ctx)))
	return v, ok && !old && engine.IsRoutine(ctx)
}

// ShareCall lets concurrent callers with the same key share one call, bounded by timeout and not by a caller's context.
// It uses the rate share of the first caller.
func ShareCall[V any](ctx context.Context, flights *singleflight.Group, key string, timeout time.Duration,
	call func(context.Context) (V, error),
) (none V, err error) {
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
