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
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.address(port))
	if err != nil {
		return "", err
	}
	url := "http://" + l.Addr().String()
	if secure != nil {
		l, url = tls.NewListener(l, secure), "https://"+l.Addr().String()
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
	return url, nil
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
