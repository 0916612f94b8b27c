// Package fakeaws answers the operator's AWS calls from memory, faster than any simulator, so that a benchmark measures
// the operator and not AWS. It stores what requests set, including tags and attributes, and refuses requests as AWS
// does; it does nothing that AWS would not do. It requires a signature but does not verify it.
//
// It has one account. It answers with an error, which is counted, what it does not implement.
package fakeaws

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// AccountID is the account of every access key.
const AccountID = "123456789012"

// Call is one answered request.
type Call struct {
	At        time.Time // time of arrival
	Service   string    // the signing name: s3, sqs, sts, rds, ec2
	Operation string    // as in the API reference
	Resource  string    // the bucket or queue in the request
	ErrorCode string
}

// Write reports whether the call can change state.
func (c Call) Write() bool { return isWrite(c.Operation) }

func isWrite(operation string) bool {
	for _, prefix := range []string{"Get", "List", "Describe", "Head"} {
		if strings.HasPrefix(operation, prefix) {
			return false
		}
	}
	return true
}

// Server is a running fake of AWS.
type Server struct {
	URL string

	http    *http.Server
	latency atomic.Int64
	hook    atomic.Pointer[func(Call)]
	counter counter
	s3      s3Service
	sqs     sqsService
}

// Start listens on a free port of 127.0.0.1, until Close.
func Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the AWS fake: %w", err)
	}
	s := &Server{URL: "http://" + l.Addr().String()}
	s.s3.buckets = map[string]*bucket{}
	s.sqs.queues, s.sqs.deleted, s.sqs.url = map[queueKey]*queue{}, map[queueKey]time.Time{}, s.URL
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// Close closes the server and its connections.
func (s *Server) Close() error { return s.http.Close() }

// SetLatency sets the delay of each later call.
func (s *Server) SetLatency(d time.Duration) { s.latency.Store(int64(d)) }

// OnCall sets a function that is called for each request on arrival, before the latency and with an empty ErrorCode;
// nil removes it.
func (s *Server) OnCall(f func(Call)) {
	if f == nil {
		s.hook.Store(nil)
		return
	}
	s.hook.Store(&f)
}

// Counts returns the answered calls since the start.
func (s *Server) Counts() Counts { return s.counter.snapshot() }

// request is a request to a service.
type request struct {
	*http.Request
	service, region string
	operation       string
	resource        string
	body            []byte
	do              func() answer
}

// answer is a response. code is empty unless the request is refused.
type answer struct {
	status int
	kind   string // Content-Type
	header map[string]string
	body   []byte
	code   string
}

const longestBody = 1 << 20

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, longestBody))
	if err != nil {
		return // the client is gone
	}
	x := &request{Request: r, body: body}
	if x.service, x.region, err = scope(r.Header.Get("Authorization")); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		s.counter.add("unsigned", true)
		return
	}
	s.route(x)
	if hook := s.hook.Load(); hook != nil {
		(*hook)(Call{At: arrived, Service: x.service, Operation: x.operation, Resource: x.resource})
	}
	if d := time.Duration(s.latency.Load()); d > 0 {
		time.Sleep(d)
	}
	a := x.do()
	s.counter.add(x.service+" "+x.operation, a.code != "")
	a.write(w)
}

// route sets the request's operation, resource and handler.
func (s *Server) route(x *request) {
	switch x.service {
	case "s3":
		s.s3.route(x)
	case "sqs":
		s.sqs.route(x)
	default:
		routeQuery(x)
	}
}

func (a answer) write(w http.ResponseWriter) {
	if a.kind != "" {
		w.Header().Set("Content-Type", a.kind)
	}
	w.Header().Set("X-Amzn-Requestid", "00000000-0000-4000-8000-000000000000")
	for key, value := range a.header {
		w.Header().Set(key, value)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// scope parses the service and the region from a Signature Version 4 header.
func scope(authorization string) (service, region string, err error) {
	_, credential, ok := strings.Cut(authorization, "Credential=")
	credential, _, _ = strings.Cut(credential, ",")
	parts := strings.Split(credential, "/") // key, date, region, service, aws4_request
	if !ok || len(parts) != 5 {
		return "", "", errors.New("the request is not signed")
	}
	return parts[3], parts[2], nil
}
