package operator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
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

// get sends a GET request to the place.
func (c *Client) get(ctx context.Context, at *place, r request) (answer, error) {
	token, err := c.kubernetes.Token(ctx)
	if err != nil {
		return answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.url+r.path, nil)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := at.transport.RoundTrip(req) // not through a client: redirects are not followed
	if err != nil {
		return answer{}, fmt.Errorf("ask the operator at %s: %w", at.url, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, longest))
	if err != nil {
		return answer{}, fmt.Errorf("read the operator's answer: %w", err)
	}
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusBadRequest, http.StatusTemporaryRedirect: // the operator is up
		body = nil
	case http.StatusUnauthorized:
		c.kubernetes.Drop(token) // the ServiceAccount was replaced: the next request gets a new token
		fallthrough
	default:
		return answer{}, fmt.Errorf("the operator at %s answers %s", at.url, resp.Status)
	}
	words, err := r.read(body)
	return answer{words, len(body)}, err
}
