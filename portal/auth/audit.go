package auth

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
)

// Outcome is how a caller's attempt ended.
type Outcome string

// The outcomes.
const (
	Done      Outcome = "done"
	Forbidden Outcome = "forbidden" // the caller lacks the right
	Refused   Outcome = "refused"   // invalid, exists already, exceeds a quota
	Conflict  Outcome = "conflict"  // somebody else wrote first
	Failed    Outcome = "failed"    // Kubernetes or the identity provider could not be reached
)

// Write is one write to an object, done or tried as the caller. It contains no content of the object.
type Write struct {
	Verb      string
	Resource  string
	Namespace string
	Name      string
	DryRun    bool
	Outcome   Outcome
	AuditID   string // of the request that decided it, see line
}

// Denial is a request for which the caller has no right.
type Denial struct {
	Verb      string
	Resource  string
	Namespace string
	Name      string
	Reason    string // as one word
	AuditID   string // of the request that decided it, see line
}

// Limits of one request's record.
const (
	maxWrites  = 100
	maxDenials = 10
)

// notes are the writes and denials of one request, in order.
type notes struct {
	mu      sync.Mutex
	attempt *Write // what the request is going to write, if it gets that far
	writes  []Write
	denials []Denial
	noLog   bool // a failed read of a log has been recorded
}

// Attempt records what the request is about to write. If the request is refused before NoteWrite, the log has the
// attempt with the outcome that the response's status implies.
func Attempt(ctx context.Context, w Write) {
	if rec := recordOf(ctx); rec != nil {
		rec.notes.mu.Lock()
		defer rec.notes.mu.Unlock()
		rec.notes.attempt = &w
	}
}

// NoteWrite adds w to the record of the request, which is logged when the request ends.
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

// NoteDenied adds d to the record of the request, which is logged when the request ends; duplicates are logged once. It
// is for the denial that made the request fail, and not for rights that only decide what a page shows.
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

// of reports whether the denial is the reason why w is forbidden.
func (d Denial) of(w Write) bool {
	return w.Outcome == Forbidden && d.Namespace == w.Namespace
}

// done returns the writes of the request or, if it made none and failed, the attempt with the outcome that status
// implies.
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

// audit logs a line for each write, and for each denial that is not the reason of a forbidden write. status is the
// response's.
func (rec *record) audit(ctx context.Context, status int) {
	rec.notes.mu.Lock()
	defer rec.notes.mu.Unlock()
	writes := rec.notes.done(status)
	for _, w := range writes {
		rec.tell(ctx, line{
			event: "write", verb: w.Verb, resource: w.Resource, namespace: w.Namespace, name: w.Name,
			more: []slog.Attr{slog.Bool("dryRun", w.DryRun)}, outcome: w.Outcome, denied: w.Outcome == Forbidden,
			auditID: w.AuditID,
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
