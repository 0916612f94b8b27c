package portal

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5/middleware"
)

// compressLevel is gzip's own middle: higher ones take twice the time for some per cent.
const compressLevel = 5

// compress sends pages and JSON compressed to who takes it. Streams are none of the types, so that each message leaves at
// once. Compression can give away what a page holds beside what an attacker puts into its address (BREACH): no answer
// holds a session, a token or a Secret's value, and logs, of which nobody knows what they hold, are sent as they are.
func compress(next http.Handler) http.Handler {
	packed := middleware.Compress(compressLevel, "text/html", "application/json", "application/problem+json", "application/openapi+json")(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(strings.Split(r.URL.Path, "/"), "logs") {
			next.ServeHTTP(w, r)
			return
		}
		packed.ServeHTTP(w, r)
	})
}
