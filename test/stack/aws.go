package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/portico-platform/portico/test/stack/process"
)

// startAWS brings up moto and the proxy before it, or takes the endpoint given.
func (s *Stack) startAWS(ctx context.Context) error {
	if !s.opts.Parts.has(AWS) {
		return nil
	}
	if endpoint := s.opts.AWSEndpoint; endpoint != "" {
		s.AWSEndpoint, s.OutsideAWSEndpoint = endpoint, endpoint
		return nil
	}
	upstream := "http://" + address(s.ports.moto)
	operator, outside, err := newProxy(upstream)
	if err != nil {
		return err
	}
	if s.AWSEndpoint, err = s.serve(ctx, s.ports.awsOperator, operator); err != nil {
		return err
	}
	if s.OutsideAWSEndpoint, err = s.serve(ctx, s.ports.awsOutside, outside); err != nil {
		return err
	}
	return s.run(ctx, process.Spec{
		Name: "moto", Path: filepath.Join(s.opts.Root, ".venv", "bin", "moto_server"),
		Args:  []string{"-H", "127.0.0.1", "-p", strconv.Itoa(s.ports.moto)},
		Ready: answers(plain, upstream+"/moto-api/data.json"),
	})
}

// serve answers on a loopback port until Close, and returns the URL.
func (s *Stack) serve(ctx context.Context, port int, h http.Handler) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address(port))
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	s.mu.Lock()
	s.servers = append(s.servers, server)
	s.mu.Unlock()
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.fail(fmt.Errorf("the AWS proxy: %w", err))
		}
	}()
	return "http://" + l.Addr().String(), nil
}
