package stack

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// serve serves on a port until Close, with TLS when given a configuration, and returns the URL. The name is
// for the error when it ends by itself.
func (s *Stack) serve(ctx context.Context, name string, port int, h http.Handler, secure *tls.Config) (string, error) {
	address := s.address(port)
	if secure != nil {
		return "https://" + address, s.serveAt(ctx, name, address, h, secure)
	}
	return "http://" + address, s.serveAt(ctx, name, address, h, nil)
}

// serveAt does the same at an address.
func (s *Stack) serveAt(ctx context.Context, name, address string, h http.Handler, secure *tls.Config) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	s.mu.Lock()
	s.servers = append(s.servers, server)
	s.mu.Unlock()
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("%s: %w", name, err))
		}
	}()
	return nil
}

// background runs f until Close, which waits until f returns.
func (s *Stack) background(ctx context.Context, f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the context of a start ends with the start
	done := make(chan struct{})
	s.mu.Lock()
	s.stops = append(s.stops, func() { cancel(); <-done })
	s.mu.Unlock()
	go func() {
		defer close(done)
		if err := f(ctx); err != nil {
			s.fail(err)
		}
	}()
}
