package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"

	"k8s.io/client-go/util/cert"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/portico-platform/portico/api/authz"
	"github.com/portico-platform/portico/cmd/internal/program"
	"github.com/portico-platform/portico/portal"
)

// listeners are the portal's listeners. metrics is nil if metrics are off.
type listeners struct {
	pages, metrics net.Listener
	certificate    *certwatcher.CertWatcher // of pages; nil if something in front ends TLS
}

// bind opens the ports before anything else starts, so that a port in use is reported at once.
func (f *flags) bind(ctx context.Context) (l listeners, err error) {
	if f.certFile != "" {
		if l.certificate, err = certwatcher.New(f.certFile, f.keyFile); err != nil {
			return l, fmt.Errorf("--tls-cert-file, --tls-private-key-file: %w", err)
		}
	}
	var lc net.ListenConfig
	if l.pages, err = lc.Listen(ctx, "tcp", f.listen); err != nil {
		return l, fmt.Errorf("--listen: %w", err)
	}
	if l.certificate != nil {
		l.pages = tls.NewListener(l.pages, serving(l.certificate.GetCertificate))
	}
	if f.metricsOff() {
		return l, nil
	}
	if l.metrics, err = f.bindMetrics(ctx); err != nil {
		_ = l.pages.Close()
		return l, fmt.Errorf("--metrics-listen: %w", err)
	}
	return l, nil
}

// bindMetrics serves HTTPS with the process's own certificate if metrics are secure: clients send a token, which must
// not be readable on the network.
func (f *flags) bindMetrics(ctx context.Context) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.metrics)
	if err != nil || !f.metricsSecure {
		return l, err
	}
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey("portico-portal", nil, nil)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return tls.NewListener(l, serving(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil })), nil
}

func serving(certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *tls.Config {
	return &tls.Config{GetCertificate: certificate, MinVersion: tls.VersionTLS12, NextProtos: []string{
		"h2", "http/1.1",
	}}
}

// watchCertificate reads the certificate again whenever its files change, until ctx ends.
func (l listeners) watchCertificate(ctx context.Context) error {
	if l.certificate == nil {
		return nil
	}
	return l.certificate.Start(ctx)
}

// metricsHandler serves metrics: to everybody or, if metrics are secure, to callers with the right to get /metrics.
func (f *flags) metricsHandler() (http.Handler, error) {
	handler := portal.Metrics(f.profiling)
	if f.metricsOff() || !f.metricsSecure {
		return handler, nil
	}
	cfg, err := program.Cluster(f.kubeconfig)
	if err != nil {
		return nil, err
	}
	readers, err := authz.For(cfg, "", clock.RealClock{}.Now)
	if err != nil {
		return nil, fmt.Errorf("protect the metrics: %w", err)
	}
	return readers.Over(handler), nil
}

func (f *flags) metricsOff() bool { return f.metrics == "" || f.metrics == "0" }
