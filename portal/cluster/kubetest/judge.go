// Package kubetest has Kubernetes for tests of the parts of a Cluster: access reviews, and an API server that records
// its requests.
package kubetest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

// Dev is a developer.
var Dev = auth.Identity{Username: "oidc:dev", Groups: []string{"oidc:b", "oidc:a"}}

// Judge answers access reviews.
type Judge struct {
	Clock *clocktesting.FakePassiveClock // of the caller
	// Allow decides; by default everything is allowed.
	Allow   func(authorizationv1.SubjectAccessReviewSpec) bool
	Denied  bool   // explicitly, which overrides Allow
	Err     error  // instead of an answer
	AuditID string // of every review, in the audit log of the API server

	mu    sync.Mutex
	asked []authorizationv1.SubjectAccessReviewSpec
}

// NewJudge returns a Judge who allows everything.
func NewJudge() *Judge {
	return &Judge{
		Clock: clocktesting.NewFakePassiveClock(clock.RealClock{}.Now()),
		Allow: func(authorizationv1.SubjectAccessReviewSpec) bool { return true },
	}
}

// Reviews returns the client of the Judge.
func (j *Judge) Reviews() authorizationclient.SubjectAccessReviewInterface { return j }

// Create implements the client.
func (j *Judge) Create(ctx context.Context, asked *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (
	*authorizationv1.SubjectAccessReview, error,
) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := asked.DeepCopy()
	j.asked = append(j.asked, r.Spec)
	if j.AuditID != "" {
		j.leaveTrail(ctx)
	}
	r.Status.Allowed, r.Status.Denied = j.Allow(r.Spec), j.Denied
	return r, j.Err
}

// leaveTrail records the audit ID of a review as its response would.
func (j *Judge) leaveTrail(ctx context.Context) {
	answer := roundTripper(func(*http.Request) *http.Response {
		return &http.Response{Header: http.Header{"Audit-Id": {j.AuditID}}, Body: http.NoBody}
	})
	resp, err := failure.LeavingTrail(failure.AsPortal)(answer).RoundTrip((&http.Request{}).WithContext(ctx))
	if err == nil {
		_ = resp.Body.Close()
	}
}

type roundTripper func(*http.Request) *http.Response

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r(req), nil }

// Refuse makes the Judge refuse everything from now on.
func (j *Judge) Refuse() { j.Change(Only(), nil) }

// Change makes the Judge decide by allow from now on, or fail with err if that is not nil.
func (j *Judge) Change(allow func(authorizationv1.SubjectAccessReviewSpec) bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Allow, j.Err = allow, err
}

// Asked returns the questions so far.
func (j *Judge) Asked() []authorizationv1.SubjectAccessReviewSpec {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.asked)
}

// Count returns the number of questions so far.
func (j *Judge) Count() int { return len(j.Asked()) }

// Only allows what allow lists, as "verb resource namespace".
func Only(allow ...string) func(authorizationv1.SubjectAccessReviewSpec) bool {
	return func(r authorizationv1.SubjectAccessReviewSpec) bool {
		at := r.ResourceAttributes
		return slices.Contains(allow, strings.TrimSpace(at.Verb+" "+at.Resource+" "+at.Namespace))
	}
}

// IsUnavailable reports whether err says that Kubernetes could not be reached.
func IsUnavailable(err error) bool {
	_, ok := errors.AsType[*failure.UnavailableError](err)
	return ok
}
