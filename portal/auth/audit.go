package auth

import (
	"context"
	"log/slog"
	"sync"
)

// Outcome is how a write ended.
type Outcome string

// The outcomes of writes.
const (
	Done      Outcome = "done"
	Forbidden Outcome = "forbidden" // the caller lacks the right
	Refused   Outcome = "refused"   // by Kubernetes: it is not valid, exists already, exceeds a quota
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
	mu  sync.Mutex
	all []Write
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

// log writes one line for each write.
func (rec *record) log(ctx context.Context, log *slog.Logger) {
	rec.writes.mu.Lock()
	defer rec.writes.mu.Unlock()
	for _, w := range rec.writes.all {
		decision := "allow"
		if w.Outcome == Forbidden {
			decision = "deny"
		}
		log.LogAttrs(ctx, slog.LevelInfo, "write", slog.String("actor", rec.actor), slog.String("verb", w.Verb),
			slog.String("resource", w.Resource), slog.String("namespace", short(w.Namespace)), slog.String("name", short(w.Name)),
			slog.Bool("dryRun", w.DryRun), slog.String("decision", decision), slog.String("outcome", string(w.Outcome)),
			slog.String("requestID", rec.id))
	}
}

func short(name string) string { return name[:min(len(name), longestName)] }
