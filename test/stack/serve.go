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

// serve answers on a loopback port until Close, by TLS when given a
// configuration, and returns the URL. The name is for the error when it ends by
// itself.
func (s *Stack) serve(ctx context.Context, name string, port int, h http.Handler, secure *tls.Config) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address(port))
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
