// Package client calls Portico's REST API as one caller, with the types of package v1alpha1. For kinds that are known
// only at run time, use [Client.Of].
//
//	c, err := client.New(client.Options{Server: "https://portal.example.com", Token: client.StaticToken(token)})
//	made, err := c.S3Buckets("payments").Create(ctx, bucket, client.CreateOptions{})
//
// # Errors
//
// An error response of the API is an [*APIError], with the errors of each field; [StatusOf] returns its HTTP status. If
// the server does not respond, the error is an [*UnreachableError]. Any other error comes from the context, the token,
// or the arguments of a method.
//
// # Tries
//
// After a response with status 429 (too many requests), the request is sent again, up to five times in all, after the
// time in Retry-After, if that is at most 30 seconds. A read is also retried after status 503 (Kubernetes does not
// respond). Cancelling the context ends the wait.
//
// # Versions
//
// A change takes the version that it applies to: the ETag of a [Result], as IfMatch. If somebody else has changed the
// object since, the error has status 412. The portal's cache can lag behind a recent write: before you change an object
// or wait for it, read it with CacheControl no-cache.
//
// # Time
//
// A connection times out after 15 seconds, and a response that does not begin, or is silent, after a minute. Lists and
// streams have no other limit than the context.
//
// The methods and types of the API's operations are generated from its OpenAPI document; a portal has their reference
// at /api/docs.
package client

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
)

// Prefix is the path of the API on a server.
const Prefix = "/api/v1"

// timeout bounds the wait for the header of a response; streams and long lists continue after it.
const timeout = time.Minute

// Options are the options of a client. Only Server is required.
type Options struct {
	// Server is scheme and host of the portal, such as https://portal.example.com.
	Server string
	// Token returns the bearer token for each request; nil sends none, which only reading the login settings allows.
	Token func(ctx context.Context) (string, error)
	// PlainHTTP allows http to hosts other than this one: tokens can then be read in transit.
	PlainHTTP bool
	UserAgent string
	// Transport carries the requests; nil is Transport(nil).
	Transport http.RoundTripper
	// Clock waits between retries; nil is the real one.
	Clock clock.Clock
}

// StaticToken returns a source of a fixed token.
func StaticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// Client sends requests to one server as one caller. It is safe for concurrent use.
type Client struct {
	base  string
	opts  Options
	http  *http.Client
	clock clock.Clock
}

// New checks the options; it sends no requests.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.Server)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
		return nil, fmt.Errorf("%q is no address of a portal: want scheme and host, such as https://portal.example.com",
			o.Server)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return nil,
			fmt.Errorf(
				"the address of the portal is scheme and host alone, such as https://portal.example.com: %s has more",
				u.Redacted())
	case u.Scheme == "http" && !o.PlainHTTP && !loopback(u.Hostname()):
		return nil, fmt.Errorf("%s would send the token in the clear: use https", o.Server)
	}
	o.Transport = cmp.Or[http.RoundTripper](o.Transport, Transport(nil))
	o.Clock = cmp.Or[clock.Clock](o.Clock, clock.RealClock{})
	return &Client{
		base: u.Scheme + "://" + u.Host + Prefix, opts: o, clock: o.Clock,
		http: &http.Client{Transport: o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the API does not redirect: a token is sent to the server only
		}},
	}, nil
}

// Transport returns a client's default transport: it follows HTTPS_PROXY and NO_PROXY, and waits 15 s for a connection
// and a minute for a response to begin. roots are the trusted certificates, nil the system's.
func Transport(roots *x509.CertPool) *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, ResponseHeaderTimeout: timeout}
	t.DialContext = (&net.Dialer{Timeout: 15 * time.Second}).DialContext
	t.TLSHandshakeTimeout = 15 * time.Second
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return t
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// Kind is one kind of objects that the API serves.
type Kind struct {
	Name       string // such as S3Bucket
	Plural     string // such as s3buckets, as in URLs
	Namespaced bool
	ReadOnly   bool // such objects can only be read
}

// Objects accesses one kind's objects, in one namespace if the kind is namespaced. They are decoded into T.
type Objects[T any] struct {
	client *Client
	base   string
}

// Of returns access to the objects of a kind that is known only at run time. namespace is ignored for a cluster-scoped
// kind.
func (c *Client) Of(k Kind, namespace string) Objects[unstructured.Unstructured] {
	base := "/" + k.Plural
	if k.Namespaced {
		base = "/namespaces/" + url.PathEscape(namespace) + base
	}
	return Objects[unstructured.Unstructured]{client: c, base: base}
}

// Page is one page of a list.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // cursor of the next page; empty on the last one
	// Forbidden are the plurals of the kinds that the list omits because the caller cannot list them there.
	Forbidden []string `json:"forbidden,omitempty"`
}

// All returns the objects of all pages: read is List with its parameters, except for the cursor.
func All[T any](read func(cursor string) (*Page[T], error)) ([]T, error) {
	var all []T
	for cursor := ""; ; {
		p, err := read(cursor)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Items...)
		if p.Next == "" {
			return all, nil
		}
		if p.Next == cursor {
			return nil, errors.New("the portal gave the same page twice")
		}
		cursor = p.Next
	}
}

// Result is an object with the response's headers.
type Result[T any] struct {
	Object   T
	ETag     string   // version of the object's spec, for IfMatch
	Warnings []string // Kubernetes' warnings
	Created  bool     // the object is new
}
