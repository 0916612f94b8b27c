// Package wire has what the services of the proxy build on: an exchange of a request and a reply in the protocols of
// AWS, its record in the journal, and the simulator, to which a service passes an exchange on and puts questions of its
// own.
package wire

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// Exchange is one request in progress, with what the proxy has parsed of it.
type Exchange struct {
	In       *http.Request
	Call     Call
	Protocol Protocol
	Scope    Scope
	Caller   *Principal // the principal whose permissions are judged; nil is the root user of the account
	Owner    string     // the account of the queue or topic that the call is about, if it names one
	Admitted bool       // the resource is another account's, whose policy allows the caller
	Deliver  []Delivery // deliveries that moto may make while it serves the call
	Policies map[string]*iampolicy.ResourcePolicy

	// The request that goes upstream; services may change it.
	Path, RawPath, RawQuery string
	Body                    []byte // if not streamed
	Streamed                bool   // an S3 object's content, in or out
	VirtualHost             bool   // path was rewritten from the bucket's host name

	Query  url.Values     // of the URL, parsed
	Form   url.Values     // query protocol
	JSON   map[string]any // JSON protocols
	Bucket string         // S3
}

// Forward passes on the exchange in its current state.
type Forward func(ctx context.Context) (*Reply, error)

// Protocol is a service's wire protocol; it decides the shape of errors.
type Protocol int

// The protocols.
const (
	S3 Protocol = iota
	Query
	EC2
	JSON
	RESTXML
	RESTJSON
)

// SetForm replaces the query protocol's parameters.
func (x *Exchange) SetForm(form url.Values) {
	x.Form, x.Body = form, []byte(form.Encode())
}

// Account returns the account that owns the resource of the call: the caller's, unless the call names another one.
func (x *Exchange) Account() string { return cmp.Or(x.Owner, x.Call.Account) }

// Foreign reports whether the call names a queue or topic of another account.
func (x *Exchange) Foreign() bool { return x.Account() != x.Call.Account }

// RootARN returns the ARN of the root user of the caller's account.
func (x *Exchange) RootARN() string { return x.GlobalARN("iam", x.Call.Account, "root") }

// Identity returns the caller's ARN.
func (x *Exchange) Identity() string {
	if x.Caller == nil {
		return x.RootARN()
	}
	return x.Caller.ARN
}

// Scope holds what a SigV4 credential says about a call.
type Scope struct {
	Key, Region, Service string
	Token                bool // the request has a session token
	Signed               time.Time
	Valid                time.Duration
}
