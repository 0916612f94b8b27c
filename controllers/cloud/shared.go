package cloud

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/portico-platform/portico/controllers/engine"
)

// memo keeps one value of each type and region.
type memo struct{ values sync.Map }

type memoKey struct {
	region string
	of     reflect.Type
}

func remembered[V any](m *memo, region string, build func() V) V {
	key := memoKey{region, reflect.TypeFor[V]()}
	if found, ok := m.values.Load(key); ok {
		return found.(V)
	}
	kept, _ := m.values.LoadOrStore(key, build())
	return kept.(V)
}

// Shared returns the one V of this session and its region, built at the first call: a service's client with its batches,
// which all objects of the session use together. V must be safe for concurrent use.
func Shared[V any](s *Session, build func() V) V {
	if s.shared == nil {
		return build() // a session made by hand, in a test
	}
	return remembered(s.shared, s.Config.Region, build)
}

// Listed is the latest complete listing of one type of resource in a provider's account and region, by ARN. It is an
// old picture: good for routine checks that find nothing, never a reason to act.
type Listed[V any] struct {
	Now func() time.Time // nil: a listing never grows old, for tests

	mu  sync.RWMutex
	all map[string]V
	at  time.Time
}

// listedFor is how long a listing answers for: two sweeps at the default interval. If sweeps stop, routine checks must
// read for themselves again.
const listedFor = 10 * time.Minute

// Listing returns the listing of V's that all sessions of the provider share.
func Listing[V any](s *Session) *Listed[V] {
	if s.listings == nil {
		return &Listed[V]{}
	}
	return remembered(s.listings, s.Config.Region, func() *Listed[V] { return &Listed[V]{Now: s.paces.Now} })
}

// Replace makes all the listing; nil forgets it, which is what a failed listing asks for.
func (l *Listed[V]) Replace(all map[string]V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = all
	if l.Now != nil {
		l.at = l.Now()
	}
}

// Get returns the picture of the resource with this ARN, for routine work only, and if it is younger than what the
// object's last live look saw. false says nothing about whether the resource exists.
func (l *Listed[V]) Get(ctx context.Context, arn string) (V, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	v, ok := l.all[arn]
	old := l.Now != nil && (l.Now().Sub(l.at) > listedFor || !l.at.After(engine.LastLook(ctx)))
	return v, ok && !old && engine.IsRoutine(ctx)
}
