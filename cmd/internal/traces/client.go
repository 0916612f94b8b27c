package traces

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

const (
	tracesPath = "/v1/traces"
	// patience bounds one batch, retries included, unless OTEL_EXPORTER_OTLP_TIMEOUT is set.
	patience = 10 * time.Second
	// firstPause is the pause before the first retry. It doubles with each retry.
	firstPause = 500 * time.Millisecond
)

// client sends spans by OTLP over HTTP. OpenTelemetry's own client would link gRPC, and with it a library whose use of
// reflection disables the linker's dead code elimination: the operator would be more than twice as large.
type client struct {
	endpoint string
	headers  http.Header
	timeout  time.Duration
	zip      bool
	http     *http.Client
}

// newClient returns a client with the settings in OpenTelemetry's environment variables for exporters. Those for traces
// take precedence over the general ones.
func newClient(env func(string) string) (*client, error) {
	of := func(name string) string {
		if value := env("OTEL_EXPORTER_OTLP_TRACES_" + name); value != "" {
			return value
		}
		return env("OTEL_EXPORTER_OTLP_" + name)
	}
	c := &client{
		endpoint: env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), timeout: patience,
		zip: of("COMPRESSION") == "gzip",
	}
	if c.endpoint == "" {
		c.endpoint = strings.TrimRight(env("OTEL_EXPORTER_OTLP_ENDPOINT"), "/") + tracesPath
	}
	if u, err := url.Parse(c.endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL")
	}
	if text := of("TIMEOUT"); text != "" {
		ms, err := strconv.Atoi(text)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is %q: want milliseconds", text)
		}
		c.timeout = time.Duration(ms) * time.Millisecond
	}
	var err error
	if c.headers, err = headers(of("HEADERS")); err != nil {
		return nil, err
	}
	c.http, err = transport(of("CERTIFICATE"))
	return c, err
}

// headers parses comma-separated pairs such as api-key=a%20key. They can be secret, and no error shows them.
func headers(list string) (http.Header, error) {
	all := http.Header{}
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil {
			return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS: want name=value, with commas between")
		}
		all.Set(strings.TrimSpace(name), value)
	}
	return all, nil
}

// transport returns an HTTP client that trusts the roots in a file, or without a file the system's.
func transport(certificates string) (*http.Client, error) {
	if certificates == "" {
		return &http.Client{}, nil
	}
	pem, err := os.ReadFile(certificates) //nolint:gosec // whoever starts the process names it
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: no certificate in %s", certificates)
	}
	return &http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}, nil
}

// Start implements otlptrace.Client.
func (c *client) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. TracesData has the same encoding as a collector's request.
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	if c.zip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = packed.Bytes()
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for pause := firstPause; ; pause *= 2 {
		again, err := c.send(ctx, body)
		if !again {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// busy are the statuses after which OTLP allows a retry.
var busy = []int{
	http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
	http.StatusGatewayTimeout,
}

func (c *client) send(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header = c.headers.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	if c.zip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return false, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be reused
	if resp.StatusCode/100 == 2 {
		return false, nil
	}
	return slices.Contains(busy, resp.StatusCode), fmt.Errorf("the collector answers %s", resp.Status)
}
