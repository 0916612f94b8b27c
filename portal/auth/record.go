package auth

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// record is the log record of one request. Only the request's own goroutine writes the actor.
type record struct {
	id    string
	actor Identity
	notes notes
	log   *slog.Logger
	now   func() time.Time
}

// RequestID returns the ID that the portal gave the request and sends back as X-Request-Id, or "" outside a request.
func RequestID(ctx context.Context) string {
	if rec := recordOf(ctx); rec != nil {
		return rec.id
	}
	return ""
}

// note sets the caller in the record.
func note(ctx context.Context, actor Identity) {
	if rec := recordOf(ctx); rec != nil {
		rec.actor = actor
	}
}

// Record gives each request an ID and logs who did what with which result. Each write (NoteWrite), denial (NoteDenied)
// and read of a log (NoteLogRead) gets its own line. It logs no bodies, queries or headers. failed responds after a
// panic.
func Record(log *slog.Logger, now func() time.Time, failed http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := &record{id: rand.Text(), log: log, now: now}
			r = r.WithContext(context.WithValue(r.Context(), requestKey, rec))
			w.Header().Set("X-Request-Id", rec.id)
			out := &response{ResponseWriter: w}
			begin := now()
			defer func() { rec.finish(out, r, now().Sub(begin)) }()
			defer rescue(log, out, r, failed)
			next.ServeHTTP(out, r)
		})
	}
}

func (rec *record) finish(out *response, r *http.Request, took time.Duration) {
	rec.audit(r.Context(), out.status())
	rec.log.LogAttrs(r.Context(), slog.LevelInfo, "request", append([]slog.Attr{
		slog.String("actor", rec.actor.Username), slog.String("verb", r.Method),
		slog.String("object", r.URL.Path), slog.Int("status", out.status()),
		slog.String("decision", decision(out.status())),
		slog.String("requestID", rec.id), slog.Duration("duration", took),
	}, known(rec.actor)...)...)
}

// rescue turns a panic into an opaque response, unless one was begun. It must be deferred.
func rescue(log *slog.Logger, out *response, r *http.Request, failed http.HandlerFunc) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // the value that net/http documents
		panic(v)
	}
	log.ErrorContext(r.Context(), "panic", "value", v, "stack", string(debug.Stack()), "requestID",
		RequestID(r.Context()))
	if out.code == 0 {
		failed(out, r)
	}
}

func decision(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "deny"
	}
	return "allow"
}

// response records the status.
type response struct {
	http.ResponseWriter
	code int
}

func (r *response) WriteHeader(code int) {
	if r.code == 0 && code >= 200 {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

func (r *response) Write(b []byte) (int, error) {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	return r.ResponseWriter.Write(b)
}

// Flush flushes the wrapped writer, which streams need.
func (r *response) Flush() {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	if f, ok := r.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap lets http.ResponseController reach the wrapped writer.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *response) status() int {
	if r.code == 0 {
		return http.StatusOK
	}
	return r.code
}
