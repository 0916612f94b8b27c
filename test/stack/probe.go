package stack

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"time"
)

// answers returns a readiness probe: a GET of url must be answered with 200.
func answers(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("GET %s: %s", url, resp.Status)
		}
		return nil
	}
}

// Probes keep no connection open, because that would delay a stop.
var plain = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// httpClient returns a client for the stack's own servers, with the administrator's certificate.
func (p *pki) httpClient() (*http.Client, error) {
	pair, err := tls.X509KeyPair(p.adminCertPEM, p.adminKeyPEM)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(p.ca)
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{
			RootCAs: pool, Certificates: []tls.Certificate{pair},
			MinVersion: tls.VersionTLS12,
		},
	}}, nil
}

// Answers returns a probe that succeeds once the URL answers with 200.
func Answers(url string) func(context.Context) error { return answers(plain, url) }
