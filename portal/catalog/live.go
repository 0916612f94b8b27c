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

// Now returns the current catalog, which callers must not change. A function that needs it twice calls Now once: the
// catalog can change in between.
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

// Handler serves requests with a handler that it builds from the catalog, and rebuilds after the catalog has changed.
type Handler struct {
	kinds *Live
	write func(Catalog) (http.Handler, error)
	fail  func(error)

	mu   sync.Mutex
	of   *Catalog
	made http.Handler
}

// Handler returns a handler that serves by what write makes of the catalog. If that fails, it serves as before, and
// calls fail.
func (l *Live) Handler(write func(Catalog) (http.Handler, error), fail func(error)) *Handler {
	return &Handler{kinds: l, write: write, fail: fail}
}

// Now returns what is made of the catalog as it is; nil if that has never been possible.
func (h *Handler) Now() http.Handler {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.kinds.now.Load()
	if h.made != nil && now == h.of {
		return h.made
	}
	next, err := h.write(h.kinds.Now())
	if err != nil {
		h.fail(err)
		return h.made
	}
	h.of, h.made = now, next
	return next
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := h.Now()
	if now == nil {
		http.Error(w, "the catalog cannot be read", http.StatusServiceUnavailable)
		return
	}
	now.ServeHTTP(w, r)
}
