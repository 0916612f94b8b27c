package wire

import (
	"net/http"
	"strings"
)

// AccountHeader passes the account of a call to moto; without it moto uses the account of the access key if moto
// created the key, otherwise 123456789012.
const AccountHeader = "X-Moto-Account-Id"

// PlainHTTPHeader is a header that makes a call to Proxy.Workload or Proxy.Outside count as one without TLS. All other
// calls count as calls with TLS: the proxy stands in for AWS's HTTPS endpoints, which tests and `make run` reach
// without it.
const PlainHTTPHeader = "X-Portico-Plain-Http"

// The proxy sends its decisions to test/moto/server.py in these headers. Clients cannot set them.
const (
	DeliverHeader  = "X-Portico-Deliver"
	callerHeader   = "X-Portico-Caller"
	EndpointHeader = "X-Portico-Endpoint"
)

// SetPrivateHeaders passes to moto the account that owns the resource, the caller's account, and the deliveries that
// are allowed during the call.
func (x *Exchange) SetPrivateHeaders(h http.Header) {
	for _, name := range []string{AccountHeader, DeliverHeader, callerHeader, EndpointHeader, PlainHTTPHeader} {
		h.Del(name)
	}
	if x.Call.Account != "" {
		h.Set(AccountHeader, x.Account())
		h.Set(callerHeader, x.Call.Account)
	}
	ways := make([]string, len(x.Deliver))
	for i, d := range x.Deliver {
		ways[i] = d.From + ">" + d.To
	}
	if len(ways) > 0 {
		h.Set(DeliverHeader, strings.Join(ways, " "))
	}
}
