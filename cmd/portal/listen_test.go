package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"
)

// writeCertificate writes a certificate for a name and its key, as a renewal does.
func writeCertificate(t *testing.T, certFile, keyFile, name string) {
	t.Helper()
	certPEM, keyPEM, err := cert.GenerateSelfSignedCertKey(name, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{keyFile: keyPEM, certFile: certPEM} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// shown returns the name in the served certificate.
func shown(t *testing.T, address string) string {
	t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].DNSNames[0]
}

func TestARenewedCertificateIsServed(t *testing.T) {
	dir := t.TempDir()
	f := &flags{listen: "127.0.0.1:0", certFile: filepath.Join(dir, "tls.crt"), keyFile: filepath.Join(dir, "tls.key")}
	writeCertificate(t, f.certFile, f.keyFile, "old.example")
	l, err := f.bind(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.watchCertificate(ctx) }()
	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(l.pages) }()
	t.Cleanup(func() { _ = server.Close() })

	if got := shown(t, l.pages.Addr().String()); got != "old.example" {
		t.Fatalf("serves %s", got)
	}
	writeCertificate(t, f.certFile, f.keyFile, "new.example")
	for deadline := time.Now().Add(time.Minute); shown(t, l.pages.Addr().String()) != "new.example"; time.Sleep(
		50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the renewed certificate is not served")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestSecureMetricsAreServedOverHTTPSAlone(t *testing.T) {
	f := &flags{listen: "127.0.0.1:0", metrics: "127.0.0.1:0", metricsSecure: true}
	l, err := f.bind(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.pages.Close() }()
	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(l.metrics) }()
	defer func() { _ = server.Close() }()
	if got := shown(t, l.metrics.Addr().String()); got != "portico-portal" {
		t.Errorf("serves %s", got)
	}
	if _, plain := l.pages.(*net.TCPListener); !plain {
		t.Error("pages over HTTPS without a certificate")
	}
}
