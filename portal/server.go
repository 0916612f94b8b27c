package portal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	// headerTimeout and idleTimeout end connections that send nothing. There is no timeout of the server's for reading
	// or writing: either would cut streams. auth.LimitBody bounds the time that a body may take,
	// auth.LimitAnswer that for an answer.
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
	// When the server ends, requests have grace to finish before their contexts end, which is what ends streams, and
	// drain in all.
	grace = 2 * time.Second
	drain = 10 * time.Second
)

// Serve answers on l until ctx ends, then lets requests finish and ends streams.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	base, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
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
