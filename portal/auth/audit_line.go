package auth

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// line is one line of the audit log; docs/audit.md lists the fields. It contains no content of the object.
type line struct {
	event                           string // the message: write, denied, log-read, log-read-ended, sign-in, sign-out
	verb, resource, namespace, name string
	more                            []slog.Attr // attributes of this event only
	outcome                         Outcome
	denied                          bool
	reason                          string // as one word; "" if the outcome says everything
	// auditID is the ID in the API server's audit log of the request that decided; of several that were sent for one
	// write, the last. "" if no request was sent.
	auditID string
}

// longestName is the length limit of object names; a name from a request can be longer.
const longestName = 253

// recordOf returns the record of the request, nil outside one.
func recordOf(ctx context.Context) *record {
	rec, _ := ctx.Value(requestKey).(*record)
	return rec
}

// tell logs l now.
func (rec *record) tell(ctx context.Context, l line) {
	decision := "allow"
	if l.denied {
		decision = "deny"
	}
	all := append([]slog.Attr{
		slog.String("actor", rec.actor.Username), slog.String("verb", l.verb),
		slog.String("resource", l.resource), slog.String("namespace", short(l.namespace)),
		slog.String("name", short(l.name)),
	}, l.more...)
	all = append(all, slog.String("decision", decision), slog.String("outcome", string(l.outcome)))
	for _, optional := range []struct{ key, value string }{{"reason", l.reason}, {"auditID", l.auditID}} {
		if optional.value != "" {
			all = append(all, slog.String(optional.key, short(optional.value)))
		}
	}
	all = append(all, slog.String("requestID", rec.id), slog.Bool("audit", true))
	rec.log.LogAttrs(ctx, slog.LevelInfo, l.event, append(all, known(rec.actor)...)...)
}

// known returns the user's display names, for the log only. Rights depend on the username: a provider may let users
// choose these names.
func known(id Identity) (out []slog.Attr) {
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

// LogRead is a read of a container's log, as the caller.
type LogRead struct {
	Namespace, Pod, Container string
	Follow                    bool // until the container ends
	Outcome                   Outcome
	AuditID                   string // see line
}

// NoteLogRead logs that reading a log begins, or why it fails; failures are logged once per request, even if it
// retries. For a followed log, call the returned function at the end: it logs the duration.
func NoteLogRead(ctx context.Context, l LogRead) (ended func()) {
	rec := recordOf(ctx)
	if rec == nil || l.Outcome != Done && rec.notes.toldNoLog() {
		return func() {}
	}
	begin := rec.now()
	said := line{
		event: "log-read", verb: "get", resource: "pods/log", namespace: l.Namespace, name: l.Pod,
		more: []slog.Attr{slog.String("container", l.Container), slog.Bool("follow", l.Follow)}, outcome: l.Outcome,
		auditID: l.AuditID,
	}
	rec.tell(ctx, said)
	if l.Outcome != Done || !l.Follow {
		return func() {}
	}
	return sync.OnceFunc(func() {
		said.event = "log-read-ended"
		said.more = append(said.more, slog.Duration("duration", rec.now().Sub(begin).Round(time.Millisecond)))
		rec.tell(ctx, said)
	})
}

// toldNoLog reports whether a failed read of a log has already been recorded, and records it.
func (n *notes) toldNoLog() (before bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before, n.noLog = n.noLog, true
	return before
}

// The verbs of session lines.
const (
	signIn  = "sign-in"
	renewal = "renew"   // of a lapsed session
	confirm = "confirm" // a fresh sign-in of the session's user
	signOut = "sign-out"
)

// noteSession logs the outcome of a sign-in, a renewal, a confirmation or a sign-out. subject is the user's subject at
// the identity provider, if the request is the provider's and not the user's.
func noteSession(ctx context.Context, verb, subject string, outcome Outcome, reason string) {
	rec := recordOf(ctx)
	if rec == nil {
		return
	}
	event := verb
	if verb == renewal || verb == confirm {
		event = signIn
	}
	rec.tell(ctx, line{
		event: event, verb: verb, resource: "sessions", name: subject, outcome: outcome, denied: outcome != Done,
		reason: reason,
	})
}

// refusalOf returns the outcome and the reason of a failed sign-in.
func refusalOf(err error) (Outcome, string) {
	var refused *RefusedError
	var answer *AnswerError
	switch {
	case errors.Is(err, errAnother):
		return Forbidden, "another"
	case errors.Is(err, errNotAsked):
		return Forbidden, "notFresh"
	case errors.As(err, &refused):
		return Forbidden, "notAllowed"
	case errors.As(err, &answer):
		return Forbidden, "provider"
	case errors.Is(err, errNotStarted):
		return Forbidden, "notBegunHere"
	case errors.Is(err, ErrBadToken), errors.Is(err, errMalforms):
		return Forbidden, "badToken"
	case errors.Is(err, errEnded), errors.Is(err, errNoSession):
		return Forbidden, "ended"
	}
	return Failed, ""
}
