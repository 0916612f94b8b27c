package portal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/portico-platform/portico/portal/sse"
)

const (
	// headerTimeout and idleTimeout close connections that send nothing. The server has no timeouts for reading or
	// writing, which would end streams: auth.LimitBody bounds the time for a request's body, auth.LimitAnswer that for
	// a response.
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
	// At shutdown, requests have grace, as long as a write may take, before their contexts end, and drain in total.
	grace = 15 * time.Second
	drain = 20 * time.Second
)

// Serve serves on l until ctx ends, and for delay longer, in which it is not ready, so that no new requests are routed
// to it. Streams end within that time, because their clients reconnect elsewhere; then requests can finish.
func Serve(ctx context.Context, l net.Listener, h http.Handler, delay time.Duration, log *slog.Logger) error {
	base, endRequests := context.WithCancel(sse.WithLeaving(context.WithoutCancel(ctx), ctx, delay))
	defer endRequests()
	s := &http.Server{
		Handler: farewell(h), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return base },
		ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-time.After(delay):
	}
	defer time.AfterFunc(grace, endRequests).Stop()
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	if err := s.Shutdown(bounded); err != nil {
		_ = s.Close() // the rest did not end in time
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	}
	return nil
}

// farewell closes connections after their next response once the server shuts down: a client that used one at the
// moment of the shutdown would not know whether its request was processed.
func farewell(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sse.Leaving(r.Context()) {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}
