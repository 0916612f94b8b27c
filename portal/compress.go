package portal

import (
	"fmt"
	"net/http"
	"slices"
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

// gzipped is made once: it takes a compressor when an answer has its first bytes, and not while the answer is waited for.
var gzipped = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.CompressionLevel(compressLevel), gzhttp.MinSize(compressFrom),
		gzhttp.ContentTypes([]string{"text/html", "application/json", "application/problem+json", "application/vnd.oai.openapi+json"}))
	if err != nil {
		panic(fmt.Sprintf("compression: %v", err)) // cannot happen: the options are constants
	}
	return wrap
})

// compress sends pages and JSON compressed to who takes it. Streams pass by it: each message leaves at once, and hundreds of
// them would hold as many compressors of most of a megabyte. Compression can give away what a page holds beside what an attacker puts into its address (BREACH): no answer
// holds a session, a token or a Secret's value, and logs, of which nobody knows what they hold, are sent as they are.
func compress(next http.Handler) http.Handler {
	packed := gzipped()(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stream := strings.Contains(r.Header.Get("Accept"), "text/event-stream")
		if stream || slices.Contains(strings.Split(r.URL.Path, "/"), "logs") {
			next.ServeHTTP(w, r)
			return
		}
		packed.ServeHTTP(w, r)
	})
}
