package auth

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
)

// Outcome is how a write ended.
type Outcome string

// The outcomes of writes.
const (
	Done      Outcome = "done"
	Forbidden Outcome = "forbidden" // the caller lacks the right
	Refused   Outcome = "refused"   // it is not valid, exists already, exceeds a quota
	Conflict  Outcome = "conflict"  // somebody else was faster
	Failed    Outcome = "failed"    // Kubernetes could not be asked
)

// Write is what was done, or tried, to one object as the caller. It has no content of the object.
type Write struct {
	Verb      string
	Resource  string
	Namespace string
	Name      string
	DryRun    bool
	Outcome   Outcome
}

// longestName is that of an object; what a caller made up may be longer.
const longestName = 253

// maxWrites bounds what one request's record keeps.
const maxWrites = 100

// writes are those of one request, in their order.
type writes struct {
	mu      sync.Mutex
	attempt *Write // what it is about, if it comes to it
	all     []Write
}

// Attempt puts on the record of the request what it is about to do. If it is refused before that is noted by NoteWrite, the
// log says so; the status of the answer tells its outcome.
func Attempt(ctx context.Context, w Write) {
	if rec, ok := ctx.Value(requestKey).(*record); ok {
		rec.writes.mu.Lock()
		defer rec.writes.mu.Unlock()
		rec.writes.attempt = &w
	}
}

// done returns the writes of the request or, if it made none and failed, the attempt with the outcome that status tells.
func (all *writes) done(status int) []Write {
	if len(all.all) > 0 || all.attempt == nil || status < http.StatusBadRequest {
		return all.all
	}
	w := *all.attempt
	switch {
	case status == http.StatusForbidden:
		w.Outcome = Forbidden
	case status == http.StatusConflict || status == http.StatusPreconditionFailed:
		w.Outcome = Conflict
	case status >= http.StatusInternalServerError:
		w.Outcome = Failed
	default:
		w.Outcome = Refused
	}
	return []Write{w}
}

// NoteWrite puts w on the record of the request, which is logged when the request ends.
func NoteWrite(ctx context.Context, w Write) {
	rec, ok := ctx.Value(requestKey).(*record)
	if !ok {
		return
	}
	rec.writes.mu.Lock()
	defer rec.writes.mu.Unlock()
	if len(rec.writes.all) < maxWrites {
		rec.writes.all = append(rec.writes.all, w)
	}
}

// log writes one line for each write. status is that of the answer.
func (rec *record) log(ctx context.Context, log *slog.Logger, status int) {
	rec.writes.mu.Lock()
	defer rec.writes.mu.Unlock()
	for _, w := range rec.writes.done(status) {
		decision := "allow"
		if w.Outcome == Forbidden {
			decision = "deny"
		}
		log.LogAttrs(ctx, slog.LevelInfo, "write", append([]slog.Attr{
			slog.String("actor", rec.actor.Username), slog.String("verb", w.Verb),
			slog.String("resource", w.Resource), slog.String("namespace", short(w.Namespace)), slog.String("name", short(w.Name)),
			slog.Bool("dryRun", w.DryRun), slog.String("decision", decision), slog.String("outcome", string(w.Outcome)),
			slog.String("requestID", rec.id),
		}, rec.actor.known()...)...)
	}
}

// known returns the names by which people know the user, for the log only. Rights go by the username: a provider may let anybody
// choose these names.
func (id Identity) known() (out []slog.Attr) {
	if id.ServiceAccount {
		return nil
	}
	if id.Name != "" {
		out = append(out, slog.String("actorName", short(id.Name)))
	}
	if id.Email != "" {
		out = append(out, slog.String("actorEmail", short(id.Email)))
	}
	return out
}

func short(name string) string { return name[:min(len(name), longestName)] }
