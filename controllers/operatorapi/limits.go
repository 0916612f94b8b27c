package operatorapi

import "net/http"

// limitRequests serves at most n requests at a time, and asks other clients to retry later.
func limitRequests(n int, h http.Handler) http.Handler {
	room := make(chan struct{}, n)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
			h.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			writeProblem(w, http.StatusServiceUnavailable, "")
		}
	})
}
