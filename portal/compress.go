package portal

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzhttp"
)

const (
	// compressLevel is the middle: higher ones take twice the time for some per cent.
	compressLevel = 5
	// compressFrom is the size below which nothing is won.
	compressFrom = 1 << 10
)

// gzipped is made once: it takes a compressor when an answer has its first bytes, and not while the answer is waited
// for.
var gzipped = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(compressLevel), gzhttp.MinSize(compressFrom),
		gzhttp.ContentTypes([]string{"text/html", "application/json", "application/problem+json", "application/vnd.oai.openapi+json"}))
	if err != nil {
		panic(fmt.Sprintf("compression: %v", err)) // cannot happen: the options are constants
	}
	return wrap
})

// compress sends pages and JSON compressed to who takes it. Streams pass by it: each message leaves at once, and
// hundreds of them would hold as many compressors of most of a megabyte. Compression can give away what a page holds
// beside what an attacker puts into its address (BREACH): what auth.Untransformed marks, passwords and logs, is sent as
// it is.
func compress(next http.Handler) http.Handler {
	packed := gzipped()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(&marked{ResponseWriter: w}, r) }))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			next.ServeHTTP(w, r)
			return
		}
		packed.ServeHTTP(w, r)
	})
}

// marked tells the compressor of the mark, once the answer has its headers.
type marked struct {
	http.ResponseWriter
	begun bool
}

// Unwrap returns what http.ResponseController looks for.
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
		m.Header().Set(gzhttp.HeaderNoCompression, "1") // which goes no further
	}
}
