package operator

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/portico-platform/portico/api/operatorapi"
)

const (
	// dialTimeout leaves time to look up the operator's new address if the old one does not respond.
	dialTimeout = 700 * time.Millisecond
	// longest bounds a response; a record has a few hundred bytes.
	longest = 1 << 20
	// longestErrand bounds a response to users: the names and times of every key of a namespace.
	longestErrand = 8 << 20
	idle          = 90 * time.Second
)

// place is the operator's address. Address and certificate are those of its Lease, which only the operator can write:
// neither DNS nor a certificate authority is trusted, and no other server receives a token.
type place struct {
	url, ca   string
	holder    string // of the Lease
	transport *http.Transport
}

// placeOf reads the annotations of the Lease.
func placeOf(lease *coordinationv1.Lease) (*place, error) {
	holder := lease.Spec.HolderIdentity
	if holder == nil || *holder == "" {
		return nil, errors.New("nobody holds the operator's Lease")
	}
	p := &place{
		url: lease.Annotations[operatorapi.AnnotationURL], ca: lease.Annotations[operatorapi.AnnotationCA],
		holder: *holder,
	}
	if p.url == "" || p.ca == "" {
		return nil, fmt.Errorf("the operator's Lease has no annotation %s or %s", operatorapi.AnnotationURL,
			operatorapi.AnnotationCA)
	}
	u, err := url.Parse(p.url)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.Path != "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("the annotation %s of the operator's Lease is not https://host:port",
			operatorapi.AnnotationURL)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(p.ca)) {
		return nil, fmt.Errorf("the annotation %s of the operator's Lease is not a certificate",
			operatorapi.AnnotationCA)
	}
	p.transport = &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext, // without a proxy
		TLSHandshakeTimeout: dialTimeout, IdleConnTimeout: idle, MaxIdleConnsPerHost: 4, MaxConnsPerHost: 32,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, ServerName: operatorapi.ServerName},
	}
	return p, nil
}

func (p *place) same(q *place) bool { return p.url == q.url && p.ca == q.ca && p.holder == q.holder }

// response is what was read of a response.
type response struct {
	status  int
	words   string // who answers with which status, for errors
	problem bool   // an error in the operator's own words, and not one of its guard
	body    []byte
}

// roundTrip sends a request to the place with the portal's own token, and reads the response up to a number of bytes.
func (c *Client) roundTrip(ctx context.Context, at *place, e Errand, most int64) (out response, err error) {
	var body []byte
	if e.Body != nil {
		if body, err = json.Marshal(e.Body); err != nil {
			return out, errors.New("write what is asked as JSON") // the error could contain it
		}
	}
	token, err := c.kubernetes.Token(ctx)
	if err != nil {
		return out, err
	}
	req, err := http.NewRequestWithContext(ctx, e.Method, at.url+e.Path, bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if e.Token != "" {
		req.Header.Set(operatorapi.HeaderPerson, e.Token)
		req.Header.Set(operatorapi.HeaderRequest, e.Request)
		req.Header.Set(operatorapi.HeaderAddress, e.Address)
	}
	resp, err := at.transport.RoundTrip(req) // not through a client: redirects are not followed
	if err != nil {
		return out, fmt.Errorf("ask the operator at %s: %w", at.url, err)
	}
	defer func() { _ = resp.Body.Close() }()
	out.status, out.words = resp.StatusCode, fmt.Sprintf("the operator at %s answers %s", at.url, resp.Status)
	out.problem = resp.Header.Get("Content-Type") == "application/problem+json"
	if out.body, err = io.ReadAll(io.LimitReader(resp.Body, most)); err != nil {
		return out, fmt.Errorf("read the operator's answer: %w", err)
	}
	if out.status == http.StatusUnauthorized && !out.problem {
		c.kubernetes.Drop(token) // the ServiceAccount was replaced: the next request gets a new token
	}
	return out, nil
}
