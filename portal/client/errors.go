package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxProblem bounds the body of an error.
const maxProblem = 1 << 20

// APIError is an error of the API: a problem document (RFC 9457).
type APIError struct {
	Status   int          `json:"status"`
	Title    string       `json:"title"`
	Detail   string       `json:"detail"`
	Instance string       `json:"instance"` // the request's ID, as in the portal's log
	Errors   []FieldError `json:"errors"`
	// RetryAfter is the wait that the response requests, or 0.
	RetryAfter time.Duration `json:"-"`
}

// FieldError is the error at one location of a request.
type FieldError struct {
	Location string `json:"location"` // such as body.spec.engine, or query.limit
	Message  string `json:"message"`
	Value    any    `json:"value,omitempty"`
}

// Field returns the path within the object, such as spec.engine, or Location if the error is about something else.
func (e FieldError) Field() string {
	return strings.TrimPrefix(strings.TrimPrefix(e.Location, "body"), ".")
}

func (p *APIError) Error() string {
	if p.Detail == "" {
		return fmt.Sprintf("%d %s", p.Status, p.Title)
	}
	return p.Detail
}

// UnreachableError reports that a server did not respond.
type UnreachableError struct {
	Server string
	Cause  error
}

func (e *UnreachableError) Error() string { return e.Server + " cannot be reached: " + e.Cause.Error() }

func (e *UnreachableError) Unwrap() error { return e.Cause }

// StatusOf returns the HTTP status of an error of the API, or 0 for any other error.
func StatusOf(err error) int {
	if p, ok := errors.AsType[*APIError](err); ok {
		return p.Status
	}
	return 0
}

// problemOf returns the error of a response and closes it. A body that is no problem document, such as a proxy's page,
// is not included.
func problemOf(resp *http.Response) *APIError {
	defer func() { _ = resp.Body.Close() }() // it was read, or failed
	p := &APIError{}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err != nil || kind != "application/problem+json" || json.Unmarshal(b, p) != nil {
		p = &APIError{Detail: fmt.Sprintf("%s answers %d %s without saying why: is it the portal?",
			resp.Request.URL.Host, resp.StatusCode, http.StatusText(resp.StatusCode))}
	}
	p.Status = resp.StatusCode
	if p.Title == "" {
		p.Title = http.StatusText(resp.StatusCode)
	}
	p.RetryAfter = max(retryAfter(resp.Header), 0)
	return p
}

// retryAfter parses both forms of RFC 9110: seconds, and a date, as proxies send it. The date is compared with the
// response's own Date header, because two machines' clocks differ; every server with a clock sends one.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if s, err := strconv.Atoi(text); err == nil {
		return time.Duration(s) * time.Second
	}
	at, err := http.ParseTime(text)
	sent, errSent := http.ParseTime(h.Get("Date"))
	if err != nil || errSent != nil {
		return 0
	}
	return at.Sub(sent)
}
