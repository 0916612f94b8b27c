package contract

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
)

// Transport returns a RoundTripper that compares every response of the API, whose paths begin with prefix, with the
// document, and calls complain for each difference. It returns responses unchanged, and does not check the document
// itself.
func (d *Document) Transport(prefix string, next http.RoundTripper, complain func(error)) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		path, ours := strings.CutPrefix(r.URL.EscapedPath(), prefix)
		if err != nil || !ours || path == "/openapi.json" {
			return resp, err
		}
		a := Answer{Method: r.Method, Path: path, Status: resp.StatusCode, Header: resp.Header}
		if contentType(resp.Header) != "text/event-stream" {
			var closing error
			a.Body, err = io.ReadAll(resp.Body)
			if closing = resp.Body.Close(); errors.Join(err, closing) != nil {
				return nil, errors.Join(err, closing)
			}
			resp.Body = io.NopCloser(bytes.NewReader(a.Body))
		}
		if err := d.Check(a); err != nil {
			complain(err)
		}
		return resp, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
