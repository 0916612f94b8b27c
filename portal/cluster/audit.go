package cluster

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/portico-platform/portico/portal/auth"
)

// auditHeader is how the API server names a request in its own audit log, and tells so with each answer.
const auditHeader = "Audit-Id"

// sender is as whom a request goes to the API server.
type sender int

const (
	asPortal sender = iota
	asCaller
)

// trail keeps by what the API server's audit log has the last request that was sent.
type trail struct {
	mu   sync.Mutex
	last string
}

// withTrail returns a context whose requests, as one of the two, leave a trail: those of contexts around it do not hear
// of them.
func withTrail(ctx context.Context, as sender) (context.Context, *trail) {
	t := &trail{}
	return context.WithValue(ctx, as, t), t
}

func (t *trail) auditID() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// trailed notes for the trail of a request's context what the API server calls it.
type trailed struct {
	as   sender
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r trailed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if t, ok := req.Context().Value(r.as).(*trail); ok && err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.last = resp.Header.Get(auditHeader)
	}
	return resp, err
}

func leavingTrail(as sender) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper { return trailed{as: as, next: next} }
}

// NoteDenied puts on the record of the request that it came to nothing for want of a right, if err says so.
func NoteDenied(ctx context.Context, err error) {
	if forbidden, ok := errors.AsType[*ForbiddenError](err); ok {
		auth.NoteDenied(ctx, auth.Denial{
			Verb: forbidden.Verb, Resource: forbidden.Resource, Namespace: forbidden.Namespace, Name: forbidden.Name,
			Reason: "noRight", AuditID: forbidden.AuditID,
		})
	}
	if person, ok := errors.AsType[*PersonError](err); ok && person.outcome() == auth.Forbidden {
		auth.NoteDenied(ctx, auth.Denial{Verb: person.Verb, Resource: person.Resource, Namespace: person.Namespace, Name: person.Name, Reason: "noRight"})
	}
	if tool, ok := errors.AsType[*ToolError](err); ok {
		auth.NoteDenied(ctx, auth.Denial{Verb: "impersonate", Resource: "serviceaccounts", Namespace: tool.Namespace, Reason: "toolsNotLetIn"})
	}
}

// NotingDenied returns allowed as a stream asks it again and again: that a right was lost is put on the record of its
// request.
func NotingDenied(allowed func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		err := allowed(ctx)
		NoteDenied(ctx, err)
		return err
	}
}

// auditIDOf returns by what the API server's audit log has the request that decided: the last one as the caller, or the
// access review that refused it.
func auditIDOf(sent *trail, err error) string {
	if id := sent.auditID(); id != "" {
		return id
	}
	if forbidden, ok := errors.AsType[*ForbiddenError](err); ok {
		return forbidden.AuditID
	}
	return ""
}
