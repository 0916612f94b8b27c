package portal

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"
)

// head handles HEAD like GET, without a body (RFC 9110, 9.3.2): probes use it. Long responses, such as streams, end
// after the header.
func head(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		ctx, end := context.WithCancel(r.Context())
		defer end()
		next.ServeHTTP(&headed{w, end}, r.WithContext(ctx))
	})
}

// headed ends the request after the header. The server drops writes to the body.
type headed struct {
	http.ResponseWriter
	end context.CancelFunc
}

func (h *headed) WriteHeader(status int) {
	h.ResponseWriter.WriteHeader(status)
	if status >= http.StatusOK {
		h.end()
	}
}

func (h *headed) Write(b []byte) (int, error) {
	defer h.end()
	return h.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the wrapped writer.
func (h *headed) Unwrap() http.ResponseWriter { return h.ResponseWriter }
