package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// tries bounds the attempts of one request, when the portal asks to retry later.
	tries = 5
	// longestWait bounds the wait before one retry.
	longestWait = 30 * time.Second
	// maxAnswer bounds a response that is read at once: 500 objects of the largest kind are smaller.
	maxAnswer = 64 << 20
)

// request is one call of the API.
type request struct {
	client       *Client
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
}

func (c *Client) request(method, path string) *request {
	return &request{client: c, method: method, path: path, query: url.Values{}, header: http.Header{}}
}

// serversOwn are the metadata fields that the server sets and refuses from clients.
var serversOwn = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"managedFields", "selfLink",
}

// send encodes v as the body. From an object it removes the fields in serversOwn, so that an object that was read can
// be sent back.
func (r *request) send(contentType string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("writing the request's body: %w", err)
	}
	if contentType == "application/json" {
		if b, err = withoutServersOwn(b); err != nil {
			return fmt.Errorf("writing the request's body: %w", err)
		}
	}
	r.body = b
	r.header.Set("Content-Type", contentType)
	return nil
}

func withoutServersOwn(object []byte) ([]byte, error) {
	var top, metadata map[string]json.RawMessage
	if err := json.Unmarshal(object, &top); err != nil {
		return nil, err
	}
	delete(top, "status")
	if json.Unmarshal(top["metadata"], &metadata) != nil {
		return json.Marshal(top) // the server reports what is wrong with its metadata
	}
	for _, name := range serversOwn {
		delete(metadata, name)
	}
	var err error
	if top["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(top)
}

// wire are the types of parameters.
type wire interface {
	string | bool | int64 | []string
}

func addQuery[V wire](r *request, name string, v V) {
	for _, text := range texts(v) {
		r.query.Add(name, text)
	}
}

func addHeader[V wire](r *request, name string, v V) {
	for _, text := range texts(v) {
		r.header.Add(name, text)
	}
}

// texts returns a parameter's values in the query, nil for zero, which is not sent.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case bool:
		if v {
			return []string{"true"}
		}
	case int64:
		if v != 0 {
			return []string{strconv.FormatInt(v, 10)}
		}
	case []string:
		return v
	}
	return nil
}

// do reads a whole response.
func do[A any](ctx context.Context, r *request) (*A, error) {
	out := new(A)
	if _, err := r.read(ctx, out); err != nil {
		return nil, err
	}
	return out, nil
}

// doObject decodes an object and the headers about it.
func doObject[T any](ctx context.Context, r *request) (*Result[T], error) {
	out := &Result[T]{}
	head, err := r.read(ctx, &out.Object)
	if err != nil {
		return nil, err
	}
	out.ETag, out.Created = head.header.Get("ETag"), head.status == http.StatusCreated
	for _, w := range head.header.Values("Warning") {
		out.Warnings = append(out.Warnings, warning(w))
	}
	return out, nil
}

// warning returns the text of a Warning header, which reads 299 - "text".
func warning(header string) string {
	_, quoted, _ := strings.Cut(header, "- ")
	if text, err := strconv.Unquote(quoted); err == nil {
		return text
	}
	return header
}

// doText reads a plain-text response.
func doText(ctx context.Context, r *request) (string, error) {
	resp, err := r.open(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or failed
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return "", r.failed(err)
	}
	return string(b), nil
}

// head is the status and the header of a response.
type head struct {
	status int
	header http.Header
}

func (r *request) read(ctx context.Context, into any) (*head, error) {
	r.header.Set("Accept", "application/json, application/problem+json")
	resp, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read, or failed
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, r.failed(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return nil, fmt.Errorf("%s answers %s %s with something else than JSON: is it the portal?",
			r.client.opts.Server, r.method, r.path)
	}
	return &head{resp.StatusCode, resp.Header}, nil
}

// open sends the request, retrying as long as the portal asks for that, and returns a successful response, which the
// caller closes, or an *APIError.
func (r *request) open(ctx context.Context) (*http.Response, error) {
	for try := 1; ; try++ {
		resp, err := r.once(ctx)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < http.StatusMultipleChoices {
			return resp, nil
		}
		p := problemOf(resp)
		if try == tries || !r.again(p) {
			return nil, p
		}
		timer := r.client.clock.NewTimer(p.RetryAfter)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w (while waiting to try again after: %w)", ctx.Err(), p)
		case <-timer.C():
		}
	}
}

// again reports whether the request can be sent again: 429 means that nothing was done; 503 does not, so only reads are
// retried after it.
func (r *request) again(p *APIError) bool {
	if p.RetryAfter <= 0 || p.RetryAfter > longestWait {
		return false
	}
	return p.Status == http.StatusTooManyRequests ||
		(p.Status == http.StatusServiceUnavailable && r.method == http.MethodGet)
}

func (r *request) once(ctx context.Context) (*http.Response, error) {
	target := r.client.base + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.body))
	if err != nil {
		return nil, r.failed(err)
	}
	req.Header = r.header.Clone()
	if r.client.opts.UserAgent != "" {
		req.Header.Set("User-Agent", r.client.opts.UserAgent)
	}
	if r.client.opts.Token != nil {
		token, err := r.client.opts.Token(ctx)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	ctx, stop := context.WithCancelCause(ctx)
	resp, err := r.client.http.Do(req.WithContext(ctx))
	if err != nil {
		stop(nil)
		return nil, r.failed(err)
	}
	resp.Body = watchSilence(ctx, resp.Body, stop)
	return resp, nil
}

// failed wraps err in an UnreachableError with the server's address, without the URL of net/http's error, which would
// repeat it.
func (r *request) failed(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return &UnreachableError{Server: r.client.opts.Server, Cause: err}
}
