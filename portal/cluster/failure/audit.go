package failure

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/portico-platform/portico/portal/auth"
)

// auditHeader is the response header in which the API server returns a request's ID in its audit log.
const auditHeader = "Audit-Id"

// Sender is the identity with which a request goes to the API server.
type Sender int

// The identities: the portal itself, and the caller by impersonation.
const (
	AsPortal Sender = iota
	AsCaller
)

// Trail holds the audit ID of the last request that was sent.
type Trail struct {
	mu   sync.Mutex
	last string
}

// WithTrail returns a context whose requests with the given identity record their audit IDs in the returned trail, and
// in no trail of a parent context.
func WithTrail(ctx context.Context, as Sender) (context.Context, *Trail) {
	t := &Trail{}
	return context.WithValue(ctx, as, t), t
}

// AuditID returns the ID; "" if there is none.
func (t *Trail) AuditID() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// trailed records a response's audit ID in the trail of the request's context.
type trailed struct {
	as   Sender
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r trailed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if t, ok := req.Context().Value(r.as).(*Trail); ok && err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.last = resp.Header.Get(auditHeader)
	}
	return resp, err
}

// LeavingTrail returns a wrapper of transports that records audit IDs in trails of the identity.
func LeavingTrail(as Sender) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper { return trailed{as: as, next: next} }
}

// NoteDenied records in the request's audit event that it was denied for a missing right, if err says so.
func NoteDenied(ctx context.Context, err error) {
	if forbidden, ok := errors.AsType[*ForbiddenError](err); ok {
		auth.NoteDenied(ctx, auth.Denial{
			Verb: forbidden.Verb, Resource: forbidden.Resource, Namespace: forbidden.Namespace, Name: forbidden.Name,
			Reason: "noRight", AuditID: forbidden.AuditID,
		})
	}
	if person, ok := errors.AsType[*PersonError](err); ok && person.outcome() == auth.Forbidden {
		auth.NoteDenied(ctx, auth.Denial{
			Verb: person.Verb, Resource: person.Resource, Namespace: person.Namespace,
			Name: person.Name, Reason: "noRight",
		})
	}
	if tool, ok := errors.AsType[*ToolError](err); ok {
		auth.NoteDenied(ctx, auth.Denial{
			Verb: "impersonate", Resource: "serviceaccounts", Namespace: tool.Namespace,
			Reason: "toolsNotLetIn",
		})
	}
}

// NotingDenied wraps a check that a stream repeats: when the right has been lost, it is recorded in the request's audit
// event.
func NotingDenied(allowed func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := allowed(ctx)
		NoteDenied(ctx, err)
		return err
	}
}

// AuditIDOf returns the audit ID of the deciding request: the last one sent as the caller, or else the access review
// that denied it.
func AuditIDOf(sent *Trail, err error) string {
	if id := sent.AuditID(); id != "" {
		return id
	}
	if forbidden, ok := errors.AsType[*ForbiddenError](err); ok {
		return forbidden.AuditID
	}
	return ""
}
