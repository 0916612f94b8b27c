package wire

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

// commitTimeout limits a call whose client may have disconnected: AWS, too, finishes calls that it has started.
const commitTimeout = 60 * time.Second

// Upstream is the simulator.
type Upstream struct {
	base   *url.URL
	client *http.Client
}

// NewUpstream returns the simulator at a base URL.
func NewUpstream(base *url.URL) *Upstream {
	return &Upstream{base: base, client: &http.Client{
		Transport: &http.Transport{
			DisableCompression:  true, // bodies and their lengths pass unchanged
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes idle connections.
func (u *Upstream) Close() { u.client.CloseIdleConnections() }

// Send passes a client's request on. Unless the operation streams, the call is completed even if the client
// disconnects, and the response is read into memory.
func (u *Upstream) Send(ctx context.Context, x *Exchange) (*Reply, error) {
	if x.Streamed {
		return u.pass(ctx, x, x.In.Body, x.In.ContentLength)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	r, err := u.pass(ctx, x, bytes.NewReader(x.Body), int64(len(x.Body)))
	if err != nil {
		return nil, err
	}
	return r, r.Load()
}

func (u *Upstream) pass(ctx context.Context, x *Exchange, body io.Reader, length int64) (*Reply, error) {
	target := *u.base
	target.Path, target.RawPath, target.RawQuery = x.Path, x.RawPath, x.RawQuery
	if length == 0 {
		body = http.NoBody
	}
	req, err := http.NewRequestWithContext(ctx, x.In.Method, target.String(), body)
	if err != nil {
		return nil, fmt.Errorf("pass the request on: %w", err)
	}
	req.ContentLength = length
	req.Header = x.In.Header.Clone()
	removeHopByHop(req.Header)
	x.SetPrivateHeaders(req.Header)
	if !x.VirtualHost { // queue URLs are built from the host
		req.Host = x.In.Host
	}
	return u.do(req)
}

// Ask makes a call on the proxy's own behalf.
func (u *Upstream) Ask(ctx context.Context, q Question) (*Reply, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	target := *u.base
	target.Path, target.RawQuery = q.Path, q.Query
	req, err := http.NewRequestWithContext(ctx, q.Method, target.String(), strings.NewReader(q.Body))
	if err != nil {
		return nil, fmt.Errorf("ask the simulator: %w", err)
	}
	if q.host != "" {
		req.Host = q.host
	}
	for k, v := range q.Header {
		req.Header.Set(k, v)
	}
	key := q.Key
	if key == "" {
		key = "PROXY"
	}
	if q.Account != "" {
		req.Header.Set(AccountHeader, q.Account)
	}
	req.Header.Set("Authorization", fmt.Sprintf(
		"AWS4-HMAC-SHA256 Credential=%s/20200101/%s/%s/aws4_request, SignedHeaders=host, Signature=0", key, q.Region,
		q.Service))
	r, err := u.do(req)
	if err != nil {
		return nil, err
	}
	return r, r.Load()
}

// Question is a call on the proxy's own behalf; without an account, moto uses the key's.
type Question struct {
	Service, Region, Account, Key string
	Method, Path, Query, Body     string
	host                          string
	Header                        map[string]string
}

func (u *Upstream) do(req *http.Request) (*Reply, error) {
	resp, err := u.client.Do(req) //nolint:bodyclose // the reply carries the body on, and whoever has the reply closes it
	if err != nil {
		return nil, fmt.Errorf("reach the simulator: %w", err)
	}
	removeHopByHop(resp.Header)
	return &Reply{Status: resp.StatusCode, Header: resp.Header, Stream: resp.Body}, nil
}

func removeHopByHop(h http.Header) {
	for _, k := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding",
		"Upgrade",
	} {
		h.Del(k)
	}
}
