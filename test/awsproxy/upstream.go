package awsproxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// accountHeader passes the account of a call to moto; without it moto uses the account of the access key if moto
// created the key, otherwise 123456789012.
const accountHeader = "X-Moto-Account-Id"

// commitTimeout limits a call whose client may have disconnected: AWS, too, finishes calls that it has started.
const commitTimeout = 60 * time.Second

// reply is a response of the simulator or of the proxy itself.
type reply struct {
	status int
	header http.Header
	body   []byte
	stream io.ReadCloser // the rest of the body, if not nil
}

// load reads the body into memory.
func (r *reply) load() error {
	if r.stream == nil {
		return nil
	}
	stream := r.stream
	defer func() { _ = stream.Close() }()
	rest, err := io.ReadAll(stream)
	if err != nil {
		return fmt.Errorf("read the simulator's response: %w", err)
	}
	r.body, r.stream = append(r.body, rest...), nil
	r.header.Del("Content-Length")
	return nil
}

func (r *reply) discard() {
	if r != nil && r.stream != nil {
		_ = r.stream.Close()
	}
}

type upstream struct {
	base   *url.URL
	client *http.Client
}

func newUpstream(base *url.URL) *upstream {
	return &upstream{base: base, client: &http.Client{
		Transport: &http.Transport{
			DisableCompression:  true, // bodies and their lengths pass unchanged
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// close closes idle connections.
func (u *upstream) close() { u.client.CloseIdleConnections() }

// send passes a client's request on. Unless the operation streams, the call is completed even if the client
// disconnects, and the response is read into memory.
func (u *upstream) send(ctx context.Context, x *exchange) (*reply, error) {
	if x.streamed {
		return u.pass(ctx, x, x.in.Body, x.in.ContentLength)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	r, err := u.pass(ctx, x, bytes.NewReader(x.body), int64(len(x.body)))
	if err != nil {
		return nil, err
	}
	return r, r.load()
}

func (u *upstream) pass(ctx context.Context, x *exchange, body io.Reader, length int64) (*reply, error) {
	target := *u.base
	target.Path, target.RawPath, target.RawQuery = x.path, x.rawPath, x.rawQuery
	if length == 0 {
		body = http.NoBody
	}
	req, err := http.NewRequestWithContext(ctx, x.in.Method, target.String(), body)
	if err != nil {
		return nil, fmt.Errorf("pass the request on: %w", err)
	}
	req.ContentLength = length
	req.Header = x.in.Header.Clone()
	removeHopByHop(req.Header)
	x.setPrivateHeaders(req.Header)
	if !x.virtualHost { // queue URLs are built from the host
		req.Host = x.in.Host
	}
	return u.do(req)
}

// ask makes a call on the proxy's own behalf.
func (u *upstream) ask(ctx context.Context, q question) (*reply, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	target := *u.base
	target.Path, target.RawQuery = q.path, q.query
	req, err := http.NewRequestWithContext(ctx, q.method, target.String(), strings.NewReader(q.body))
	if err != nil {
		return nil, fmt.Errorf("ask the simulator: %w", err)
	}
	if q.host != "" {
		req.Host = q.host
	}
	for k, v := range q.header {
		req.Header.Set(k, v)
	}
	key := q.key
	if key == "" {
		key = "PROXY"
	}
	if q.account != "" {
		req.Header.Set(accountHeader, q.account)
	}
	req.Header.Set("Authorization", fmt.Sprintf(
		"AWS4-HMAC-SHA256 Credential=%s/20200101/%s/%s/aws4_request, SignedHeaders=host, Signature=0", key, q.region,
		q.service))
	r, err := u.do(req)
	if err != nil {
		return nil, err
	}
	return r, r.load()
}

// question is a call on the proxy's own behalf; without an account, moto uses the key's.
type question struct {
	service, region, account, key string
	method, path, query, body     string
	host                          string
	header                        map[string]string
}

func (u *upstream) do(req *http.Request) (*reply, error) {
	resp, err := u.client.Do(req) //nolint:bodyclose // the reply carries the body on, and whoever has the reply closes it
	if err != nil {
		return nil, fmt.Errorf("reach the simulator: %w", err)
	}
	removeHopByHop(resp.Header)
	return &reply{status: resp.StatusCode, header: resp.Header, stream: resp.Body}, nil
}

func removeHopByHop(h http.Header) {
	for _, k := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding",
		"Upgrade",
	} {
		h.Del(k)
	}
}
