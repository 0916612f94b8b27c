package portal

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzhttp"
)

const (
	// compressLevel is a compromise: higher levels take twice the time for a few per cent.
	compressLevel = 5
	// compressFrom is the size below which compression gains nothing.
	compressFrom = 1 << 10
)

// gzipped is created once: it allocates a compressor at a response's first bytes, and not before.
var gzipped = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(compressLevel), gzhttp.MinSize(compressFrom),
		gzhttp.ContentTypes([]string{
			"text/html", "application/json", "application/problem+json",
			"application/vnd.oai.openapi+json",
		}))
	if err != nil {
		panic(fmt.Sprintf("compression: %v", err)) // cannot happen: the options are constants
	}
	return wrap
})

// compress compresses pages and JSON for clients that accept it. Streams are not compressed: each message is sent at
// once, and hundreds of streams would hold as many compressors of most of a megabyte. Compression can reveal the
// content of a page beside text that an attacker puts into its URL (BREACH): responses marked by auth.Untransformed,
// such as passwords and logs, are sent uncompressed.
func compress(next http.Handler) http.Handler {
	packed := gzipped()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&marked{ResponseWriter: w}, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			next.ServeHTTP(w, r)
			return
		}
		packed.ServeHTTP(w, r)
	})
}

// marked passes the mark to the compressor, once the response has its headers.
type marked struct {
	http.ResponseWriter
	begun bool
}

// Unwrap lets http.ResponseController reach the wrapped writer.
func (m *marked) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (m *marked) WriteHeader(status int) {
	m.begin()
	m.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (m *marked) Write(b []byte) (int, error) {
	m.begin()
	return m.ResponseWriter.Write(b)
}

func (m *marked) begin() {
	if !m.begun && strings.Contains(m.Header().Get("Cache-Control"), "no-transform") {
		m.begun = true
		m.Header().Set(gzhttp.HeaderNoCompression, "1") // which is removed before sending
	}
}
