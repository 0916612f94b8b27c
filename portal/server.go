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
	// headerTimeout and idleTimeout end connections that send nothing. There is no timeout of the server's for reading
	// or writing: either would cut streams. auth.LimitBody bounds the time that a body may take,
	// auth.LimitAnswer that for an answer.
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
	// When the server ends, requests have grace to finish before their contexts end, as long as a write may take, and
	// drain in all.
	grace = 15 * time.Second
	drain = 20 * time.Second
)

// Serve answers on l until ctx ends, and for delay longer, in which it is not ready, so that nobody is sent to it any
// more. Streams end within that time, for their clients come back elsewhere; then requests may finish.
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
		_ = s.Close() // what is left did not end in time
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	}
	return nil
}

// farewell closes connections after the next answer once the server leaves: a client that used one at the moment when
// the server ends would not know whether its request was heard.
func farewell(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sse.Leaving(r.Context()) {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}
