package catalog

import (
	"net/http"
	"sync"
	"sync/atomic"
)

// Live is the catalog of a cluster, which changes while the portal runs. It is safe for concurrent use.
type Live struct{ now atomic.Pointer[Catalog] }

// NewLive returns a Live with the kinds.
func NewLive(kinds Catalog) *Live {
	l := &Live{}
	l.now.Store(&kinds)
	return l
}

// Now returns the catalog as it is, which callers must not change. An answer is made from one catalog: whoever needs it
// twice keeps it.
func (l *Live) Now() Catalog {
	if l == nil { // of a part that needs none
		return nil
	}
	if now := l.now.Load(); now != nil {
		return *now
	}
	return nil
}

// Set replaces the catalog.
func (l *Live) Set(kinds Catalog) {
	l.now.Store(&kinds)
	parts.Clear() // an answer that is under way can add a part of the old catalog: it goes with the next change
}

// Handler serves requests by what make makes of the catalog, anew after it has changed. If that fails, it serves as
// before, and calls fail.
func (l *Live) Handler(make func(Catalog) (http.Handler, error), fail func(error)) http.Handler {
	var (
		mu   sync.Mutex
		of   *Catalog
		made http.Handler
	)
	current := func() http.Handler {
		mu.Lock()
		defer mu.Unlock()
		now := l.now.Load()
		if made != nil && now == of {
			return made
		}
		next, err := make(l.Now())
		if err != nil {
			fail(err)
			return made
		}
		of, made = now, next
		return made
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := current()
		if h == nil {
			http.Error(w, "the catalog cannot be read", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}
