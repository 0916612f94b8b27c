package cloud

import (
	"reflect"
	"sync"
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
	mu  sync.RWMutex
	all map[string]V
}

// Listing returns the listing of V's that all sessions of the provider share.
func Listing[V any](s *Session) *Listed[V] {
	if s.listings == nil {
		return &Listed[V]{}
	}
	return remembered(s.listings, s.Config.Region, func() *Listed[V] { return &Listed[V]{} })
}

// Replace makes all the listing; nil forgets it, which is what a failed listing asks for.
func (l *Listed[V]) Replace(all map[string]V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = all
}

// Get returns the picture of the resource with this ARN. false says nothing about whether it exists.
func (l *Listed[V]) Get(arn string) (V, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	v, ok := l.all[arn]
	return v, ok
}
