package planted

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// mostOfAnAnswer limits what is stored of a response body, because streams have no end.
const mostOfAnAnswer = 4 << 20

// Transport stores the responses of next: their headers, except for cookies, and what is read of their bodies.
func (s *Search) Transport(next http.RoundTripper) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		k := &kept{ReadCloser: resp.Body}
		header := resp.Header.Clone()
		header.Del("Set-Cookie")
		_ = header.Write(&k.text) // writing to memory does not fail
		k.done = func() { s.Write("answers", r.Method+" "+r.URL.Path, k.text.String()) }
		resp.Body = k
		return resp, nil
	})
}

type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// kept is a response body that is stored while it is read.
type kept struct {
	io.ReadCloser
	text bytes.Buffer
	once sync.Once
	done func()
}

// Read implements io.Reader.
func (k *kept) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	if k.text.Len() < mostOfAnAnswer {
		k.text.Write(p[:n])
	}
	return n, err
}

// Close implements io.Closer.
func (k *kept) Close() error {
	k.once.Do(k.done)
	return k.ReadCloser.Close()
}
