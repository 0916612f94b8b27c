package awsproxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// maxBody is the largest request body that is held in memory: more than any AWS API accepts, except for the objects
// of S3, which are streamed.
const maxBody = 16 << 20

// protocol is a service's wire protocol; it decides the shape of errors.
type protocol int

const (
	protoS3 protocol = iota
	protoQuery
	protoEC2
	protoJSON
	protoRESTXML
	protoRESTJSON
)

// exchange is one request in progress, with what the proxy has parsed of it.
type exchange struct {
	in       *http.Request
	call     Call
	protocol protocol
	scope    scope
	caller   *principal // the principal whose permissions are judged; nil is the root user of the account
	owner    string     // the account of the queue or topic that the call is about, if it names one
	admitted bool       // the resource is another account's, whose policy allows the caller
	deliver  []delivery // deliveries that moto may make while it serves the call
	policies map[string]*iampolicy.ResourcePolicy

	// The request that goes upstream; strict parts may change it.
	path, rawPath, rawQuery string
	body                    []byte // if not streamed
	streamed                bool   // an S3 object's content, in or out
	virtualHost             bool   // path was rewritten from the bucket's host name

	query  url.Values     // of the URL, parsed
	form   url.Values     // query protocol
	json   map[string]any // JSON protocols
	bucket string         // S3
}

// read parses a request, without judging it.
func (p *Proxy) read(r *http.Request, actor Actor) (*exchange, error) {
	x := &exchange{
		in: r, scope: readScope(r), query: r.URL.Query(),
		path: r.URL.Path, rawPath: r.URL.RawPath, rawQuery: r.URL.RawQuery,
	}
	x.call = Call{Time: p.now(), Actor: actor, Service: x.scope.service, Region: x.scope.region}
	x.protocol = detectProtocol(r, x.scope.service)
	if x.protocol == protoS3 {
		readS3(x, p.s3Hosts)
	}
	if !x.streamed {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
		if len(body) > maxBody {
			return nil, fmt.Errorf("request larger than %d bytes", maxBody)
		}
		x.body = body
	}
	understand(x)
	x.call.Write = isWrite(x.call.Operation)
	x.call.Continued = continued(x)
	return x, nil
}

// understand finds the operation and the resource in the body or the path.
func understand(x *exchange) {
	switch x.protocol {
	case protoQuery, protoEC2:
		x.form = x.query
		if form, err := url.ParseQuery(string(x.body)); err == nil && len(x.body) > 0 {
			x.form = form
		}
		x.call.Operation = x.form.Get("Action")
		if x.scope.key == "" && unsigned[x.call.Operation] {
			x.call.Service = "sts"
		}
		x.call.Resource = resourceOfForm(x.call.Service, x.form)
	case protoJSON:
		target := x.in.Header.Get("X-Amz-Target")
		x.call.Operation = target[strings.LastIndex(target, ".")+1:]
		_ = json.Unmarshal(x.body, &x.json) // without an object there is no resource
		x.call.Resource = resourceOfJSON(x.call.Service, x.json)
	case protoRESTXML:
		x.call.Operation, x.call.Resource = route53Operation(x.in.Method, x.path)
	case protoRESTJSON:
		_ = json.Unmarshal(x.body, &x.json) // what is not an object is refused later
		x.call.Operation, x.call.Resource = eksOperation(x.in.Method, x.path, x.json)
	case protoS3: // done by readS3
	}
}

// setForm replaces the query protocol's parameters.
func (x *exchange) setForm(form url.Values) {
	x.form, x.body = form, []byte(form.Encode())
}

// detectProtocol detects the protocol from the request; the service decides only between those that look alike.
func detectProtocol(r *http.Request, service string) protocol {
	contentType := r.Header.Get("Content-Type")
	switch {
	case r.Header.Get("X-Amz-Target") != "":
		return protoJSON
	case service == "s3":
		return protoS3
	case service == "route53" || strings.HasPrefix(r.URL.Path, "/2013-04-01/"):
		return protoRESTXML
	case service == "eks":
		return protoRESTJSON
	case service == "ec2":
		return protoEC2
	case service != "" || strings.HasPrefix(contentType, "application/x-www-form-urlencoded") ||
		r.URL.Query().Has("Action"):
		return protoQuery
	default:
		return protoS3
	}
}

// readS3 finds the bucket in the host name or the path, and the operation.
func readS3(x *exchange, hosts []string) {
	x.call.Service = "s3"
	if strings.HasPrefix(x.path, "/v20180820/") {
		x.call.Service = "s3control"
		x.call.Operation, x.call.Resource = s3ControlOperation(x.in.Method, x.path)
		x.bucket = x.call.Resource
		return
	}
	if bucket := bucketOfHost(x.in.Host, hosts); bucket != "" {
		x.virtualHost = true
		x.path = "/" + bucket + x.path
		if x.rawPath != "" {
			x.rawPath = "/" + bucket + x.rawPath
		}
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(x.path, "/"), "/")
	x.bucket, x.call.Resource = bucket, bucket
	x.call.Operation = s3Operation(x.in, bucket, key, x.query)
	switch x.call.Operation {
	case "PutObject", "UploadPart", "GetObject", "PostObject":
		x.streamed = true
	}
}

// bucketOfHost returns the bucket of a virtual-host style name, or "".
func bucketOfHost(host string, hosts []string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if net.ParseIP(host) != nil {
		return ""
	}
	for _, base := range hosts {
		if bucket, ok := strings.CutSuffix(host, "."+base); ok {
			return strings.TrimSuffix(bucket, ".s3")
		}
	}
	if name, ok := strings.CutSuffix(host, ".amazonaws.com"); ok {
		if i := max(strings.LastIndex(name, ".s3."), strings.LastIndex(name, ".s3-")); i > 0 {
			return name[:i]
		}
		bucket, _ := strings.CutSuffix(name, ".s3")
		if bucket != name {
			return bucket
		}
	}
	return ""
}

// continued reports whether the request asks for a further page.
func continued(x *exchange) bool {
	for _, k := range []string{"continuation-token", "marker", "key-marker", "nexttoken", "nextToken", "name"} {
		if x.query.Get(k) != "" {
			return x.protocol == protoS3 || x.protocol == protoRESTXML || x.protocol == protoRESTJSON
		}
	}
	for _, k := range []string{"NextToken", "Marker", "nextToken", "PaginationToken"} {
		if s, _ := x.json[k].(string); s != "" || x.form.Get(k) != "" {
			return true
		}
	}
	return false
}
