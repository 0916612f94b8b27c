package awsproxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/eks"
	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/route53"
	"github.com/portico-platform/portico/test/awsproxy/s3"
	"github.com/portico-platform/portico/test/awsproxy/sqs"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// maxBody is the largest request body that is held in memory: more than any AWS API accepts, except for the objects
// of S3, which are streamed.
const maxBody = 16 << 20

// read parses a request, without judging it.
func (p *Proxy) read(r *http.Request, actor Actor) (*wire.Exchange, error) {
	x := &wire.Exchange{
		In: r, Scope: readScope(r), Query: r.URL.Query(),
		Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery,
	}
	x.Call = Call{Time: p.now(), Actor: actor, Service: x.Scope.Service, Region: x.Scope.Region}
	x.Protocol = detectProtocol(r, x.Scope.Service)
	if x.Protocol == wire.S3 {
		readS3(x, p.s3Hosts)
	}
	if !x.Streamed {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
		if err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
		if len(body) > maxBody {
			return nil, fmt.Errorf("request larger than %d bytes", maxBody)
		}
		x.Body = body
	}
	understand(x)
	x.Call.Write = isWrite(x.Call.Operation)
	x.Call.Continued = continued(x)
	return x, nil
}

// understand finds the operation and the resource in the body or the path.
func understand(x *wire.Exchange) {
	switch x.Protocol {
	case wire.Query, wire.EC2:
		x.Form = x.Query
		if form, err := url.ParseQuery(string(x.Body)); err == nil && len(x.Body) > 0 {
			x.Form = form
		}
		x.Call.Operation = x.Form.Get("Action")
		if x.Scope.Key == "" && unsigned[x.Call.Operation] {
			x.Call.Service = "sts"
		}
		x.Call.Resource = resourceOfForm(x.Call.Service, x.Form)
	case wire.JSON:
		target := x.In.Header.Get("X-Amz-Target")
		x.Call.Operation = target[strings.LastIndex(target, ".")+1:]
		_ = json.Unmarshal(x.Body, &x.JSON) // without an object there is no resource
		x.Call.Resource = resourceOfJSON(x.Call.Service, x.JSON)
	case wire.RESTXML:
		x.Call.Operation, x.Call.Resource = route53.Operation(x.In.Method, x.Path)
	case wire.RESTJSON:
		_ = json.Unmarshal(x.Body, &x.JSON) // what is not an object is refused later
		x.Call.Operation, x.Call.Resource = eks.Operation(x.In.Method, x.Path, x.JSON)
	case wire.S3: // done by readS3
	}
}

// detectProtocol detects the protocol from the request; the service decides only between those that look alike.
func detectProtocol(r *http.Request, service string) wire.Protocol {
	contentType := r.Header.Get("Content-Type")
	switch {
	case r.Header.Get("X-Amz-Target") != "":
		return wire.JSON
	case service == "s3":
		return wire.S3
	case service == "route53" || strings.HasPrefix(r.URL.Path, "/2013-04-01/"):
		return wire.RESTXML
	case service == "eks":
		return wire.RESTJSON
	case service == "ec2":
		return wire.EC2
	case service != "" || strings.HasPrefix(contentType, "application/x-www-form-urlencoded") ||
		r.URL.Query().Has("Action"):
		return wire.Query
	default:
		return wire.S3
	}
}

// readS3 finds the bucket in the host name or the path, and the operation.
func readS3(x *wire.Exchange, hosts []string) {
	x.Call.Service = "s3"
	if strings.HasPrefix(x.Path, "/v20180820/") {
		x.Call.Service = "s3control"
		x.Call.Operation, x.Call.Resource = s3.ControlOperation(x.In.Method, x.Path)
		x.Bucket = x.Call.Resource
		return
	}
	if bucket := bucketOfHost(x.In.Host, hosts); bucket != "" {
		x.VirtualHost = true
		x.Path = "/" + bucket + x.Path
		if x.RawPath != "" {
			x.RawPath = "/" + bucket + x.RawPath
		}
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(x.Path, "/"), "/")
	x.Bucket, x.Call.Resource = bucket, bucket
	x.Call.Operation = s3.Operation(x.In, bucket, key, x.Query)
	switch x.Call.Operation {
	case "PutObject", "UploadPart", "GetObject", "PostObject":
		x.Streamed = true
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
func continued(x *wire.Exchange) bool {
	for _, k := range []string{"continuation-token", "marker", "key-marker", "nexttoken", "nextToken", "name"} {
		if x.Query.Get(k) != "" {
			return x.Protocol == wire.S3 || x.Protocol == wire.RESTXML || x.Protocol == wire.RESTJSON
		}
	}
	for _, k := range []string{"NextToken", "Marker", "nextToken", "PaginationToken"} {
		if s, _ := x.JSON[k].(string); s != "" || x.Form.Get(k) != "" {
			return true
		}
	}
	return false
}

// readPrefixes are the prefixes of operations that change nothing a user could see.
var readPrefixes = []string{
	"Get", "List", "Describe", "Head", "BatchGet", "Lookup", "Select", "Test", "Simulate",
	"AssumeRole", "DecodeAuthorization",
}

func isWrite(operation string) bool {
	for _, p := range readPrefixes {
		if strings.HasPrefix(operation, p) {
			return false
		}
	}
	return true
}

// namedOwner returns the account in the queue's URL, or the topic's ARN; "" if there is none.
func namedOwner(x *wire.Exchange) string {
	switch x.Call.Service {
	case "sqs":
		if account, _ := sqs.QueueOf(x); permit.AccountNumber.MatchString(account) {
			return account
		}
	case "sns":
		for _, name := range []string{"TopicArn", "ResourceArn", "TargetArn", "SubscriptionArn"} {
			if account := wire.SplitARN(x.Form.Get(name)).Account; permit.AccountNumber.MatchString(account) {
				return account
			}
		}
	case "kms":
		key, _ := x.JSON["KeyId"].(string)
		return wire.SplitARN(key).Account
	}
	return ""
}
