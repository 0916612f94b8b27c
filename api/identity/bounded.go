package identity

import (
	"fmt"
	"io"
	"net/http"
)

// maxAnswer is how much of one answer of an identity provider is read. Settings and keys have some kilobytes, tokens
// some dozens.
const maxAnswer = 1 << 20

// Bounded returns a transport to an identity provider whose answers end with an error where they are larger than any
// that is meant: who reads them to their end reads no more. nil is the default transport.
func Bounded(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		next = http.DefaultTransport
	}
	return bounded{next}
}

type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxAnswer}
	}
	return resp, err
}

type boundedBody struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("the answer of the identity provider is larger than %d KiB", maxAnswer>>10)
	}
	return n, err
}
