package auth

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
)

// Outcome is how something ended that a caller tried.
type Outcome string

// The outcomes.
const (
	Done      Outcome = "done"
	Forbidden Outcome = "forbidden" // the caller lacks the right
	Refused   Outcome = "refused"   // it is not valid, exists already, exceeds a quota
	Conflict  Outcome = "conflict"  // somebody else was faster
	Failed    Outcome = "failed"    // Kubernetes, or the identity provider, could not be asked
)

// Write is what was done, or tried, to one object as the caller. It has no content of the object.
type Write struct {
	Verb      string
	Resource  string
	Namespace string
	Name      string
	DryRun    bool
	Outcome   Outcome
	AuditID   string // of the request that decided it, see line
}

// Denial is what the caller asked for and lacks the right to.
type Denial struct {
	Verb      string
	Resource  string
	Namespace string
	Name      string
	Reason    string // in a word
	AuditID   string // of the request that decided it, see line
}

// What one request's record keeps at most.
const (
	maxWrites  = 100
	maxDenials = 10
)

// notes are those of one request, in their order.
type notes struct {
	mu      sync.Mutex
	attempt *Write // what it is about, if it comes to it
	writes  []Write
	denials []Denial
	noLog   bool // that a log could not be read was told
}

// Attempt puts on the record of the request what it is about to do. If it is refused before that is noted by NoteWrite,
// the log says so; the status of the answer tells its outcome.
func Attempt(ctx context.Context, w Write) {
	if rec := recordOf(ctx); rec != nil {
		rec.notes.mu.Lock()
		defer rec.notes.mu.Unlock()
		rec.notes.attempt = &w
	}
}

// NoteWrite puts w on the record of the request, which is logged when the request ends.
func NoteWrite(ctx context.Context, w Write) {
	rec := recordOf(ctx)
	if rec == nil {
		return
	}
	rec.notes.mu.Lock()
	defer rec.notes.mu.Unlock()
	if len(rec.notes.writes) < maxWrites {
		rec.notes.writes = append(rec.notes.writes, w)
	}
}

// NoteDenied puts d on the record of the request, which is logged when the request ends: once, however often it is
// noted. It is for what the request itself came to nothing for, and not for each right that merely decides what a page
// shows.
func NoteDenied(ctx context.Context, d Denial) {
	rec := recordOf(ctx)
	if rec == nil {
		return
	}
	rec.notes.mu.Lock()
	defer rec.notes.mu.Unlock()
	if len(rec.notes.denials) < maxDenials && !slices.ContainsFunc(rec.notes.denials, d.same) {
		rec.notes.denials = append(rec.notes.denials, d)
	}
}

// same reports whether other is about the same right.
func (d Denial) same(other Denial) bool {
	other.Reason, other.AuditID = d.Reason, d.AuditID
	return d == other
}

// of reports whether the denial is why w is forbidden.
func (d Denial) of(w Write) bool {
	return w.Outcome == Forbidden && d.Namespace == w.Namespace
}

// done returns the writes of the request or, if it made none and failed, the attempt with the outcome that status
// tells.
func (n *notes) done(status int) []Write {
	if len(n.writes) > 0 || n.attempt == nil || status < http.StatusBadRequest {
		return n.writes
	}
	w := *n.attempt
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
	if i := slices.IndexFunc(n.denials, func(d Denial) bool { return d.of(w) }); i >= 0 {
		w.AuditID = n.denials[i].AuditID
	}
	return []Write{w}
}

// audit logs a line for each write, and for each denial that is not why a write was forbidden. status is that of the
// answer.
func (rec *record) audit(ctx context.Context, status int) {
	rec.notes.mu.Lock()
	defer rec.notes.mu.Unlock()
	writes := rec.notes.done(status)
	for _, w := range writes {
		rec.tell(ctx, line{
			event: "write", verb: w.Verb, resource: w.Resource, namespace: w.Namespace, name: w.Name,
			more: []slog.Attr{slog.Bool("dryRun", w.DryRun)}, outcome: w.Outcome, denied: w.Outcome == Forbidden, auditID: w.AuditID,
		})
	}
	for _, d := range rec.notes.denials {
		if !slices.ContainsFunc(writes, d.of) {
			rec.tell(ctx, line{
				event: "denied", verb: d.Verb, resource: d.Resource, namespace: d.Namespace, name: d.Name,
				outcome: Forbidden, denied: true, reason: d.Reason, auditID: d.AuditID,
			})
		}
	}
}
