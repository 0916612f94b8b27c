package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/podlogs"
)

func TestErrorsBecomeProblems(t *testing.T) {
	buckets := schema.GroupResource{Group: "portico.dev", Resource: "s3buckets"}
	status := func(code int32, reason metav1.StatusReason) error {
		return &apierrors.StatusError{
			ErrStatus: metav1.Status{Code: code, Reason: reason, Message: "etcd at 10.0.0.7 says no"},
		}
	}
	for _, c := range []struct {
		reason string
		err    error
		status int
		detail string
		retry  string
	}{
		{"no right", &failure.ForbiddenError{Verb: "get", Resource: "s3buckets", Namespace: "payments"}, 403, "you are not allowed to get s3buckets in namespace payments", ""},
		{"wrapped", fmt.Errorf("x: %w", &failure.ForbiddenError{Verb: "get", Resource: "s3buckets"}), 403, "you are not allowed to get s3buckets", ""},
		{
			"too many logs at once", fmt.Errorf("x: %w", &podlogs.TooManyReadsError{}), 429,
			"4 logs are being read for you already, and there can be no more at a time; wait until one of them is done",
			"2",
		},
		{"changed", &failure.ChangedError{Resource: "s3buckets", Name: "logs"}, 412, "somebody else", ""},
		{"unavailable", &failure.UnavailableError{Doing: "asking 10.0.0.7", Cause: errors.New("x")}, 503, "try again", "2"},
		{"unavailable, whatever the cause", &failure.UnavailableError{Doing: "x", Cause: apierrors.NewForbidden(buckets, "x", errors.New("y"))}, 503, "try again", "2"},
		{"not found", apierrors.NewNotFound(buckets, "logs"), 404, `"logs" not found`, ""},
		{"exists", apierrors.NewAlreadyExists(buckets, "logs"), 409, "already exists; choose another name", ""},
		{"conflict", apierrors.NewConflict(buckets, "logs", errors.New("the UID differs")), 409, "the UID differs", ""},
		{"a quota", apierrors.NewForbidden(buckets, "logs", errors.New("exceeded quota: buckets")), 403, "exceeded quota", ""},
		{"busy", apierrors.NewTooManyRequests("x", 7), 429, "busy", "7"},
		{"busy for an unknown time", status(429, metav1.StatusReasonTooManyRequests), 429, "busy", "1"},
		{"a timeout of the API server", apierrors.NewTimeoutError("etcd at 10.0.0.7", 9), 503, "try again", "9"},
		{"its timeout with a server behind it", apierrors.NewServerTimeout(buckets, "create", 0), 503, "try again", "2"},
		{"its unavailability", apierrors.NewServiceUnavailable("etcd at 10.0.0.7"), 503, "try again", "2"},
		{"our own timeout", fmt.Errorf("asking 10.0.0.7: %w", context.DeadlineExceeded), 503, "try again", "2"},
		{"too large", apierrors.NewRequestEntityTooLargeError("x"), 413, "too large", ""},
		{"unknown field", apierrors.NewBadRequest(`strict decoding error: unknown field "spec.x"`), 422, "spec.x: no such field", ""},
		{"bad", apierrors.NewBadRequest("name is required"), 400, "name is required", ""},
		{"an internal error of Kubernetes", status(500, metav1.StatusReasonInternalError), 500, "logged", ""},
		{"an error of our own", errors.New("panic at 10.0.0.7"), 500, "logged", ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var log bytes.Buffer
			a := &API{cluster: &cluster.Cluster{}, log: slog.New(slog.NewTextHandler(&log, nil))}
			err := a.fail(t.Context(), c.err)
			var p *huma.ErrorModel
			if !errors.As(err, &p) || p.Status != c.status || !strings.Contains(p.Detail, c.detail) {
				t.Fatalf("%+v, want %d %q", err, c.status, c.detail)
			}
			if strings.Contains(p.Detail, "10.0.0.7") || (c.status >= 500) != (log.Len() > 0) {
				t.Errorf("told %q, logged %q", p.Detail, log.String())
			}
			var headers huma.HeadersError
			if errors.As(err, &headers) != (c.retry != "") ||
				(c.retry != "" && headers.GetHeaders().Get("Retry-After") != c.retry) {
				t.Errorf("headers of %v", err)
			}
		})
	}
}

func TestFieldErrorsHaveTheirPlace(t *testing.T) {
	err := invalid(t.Context(), catalog.FieldErrors{{Field: "spec.bucketName", Message: "too short", Value: "a"}, {
		Message: "no",
	}})
	var p *huma.ErrorModel
	if !errors.As(err, &p) || p.Status != 422 || p.Detail != "the request is not valid: spec.bucketName: too short" {
		t.Fatalf("%+v", p)
	}
	if *p.Errors[0] != (huma.ErrorDetail{Location: "body.spec.bucketName", Message: "too short", Value: "a"}) ||
		p.Errors[1].Location != "body" {
		t.Errorf("%+v %+v", p.Errors[0], p.Errors[1])
	}
}

func TestProblemsNameTheRequest(t *testing.T) {
	h := auth.Record(slog.New(slog.DiscardHandler), nowZero, nil)(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			WriteProblem(w, r, http.StatusTeapot, "short and stout")
		}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody))
	var p huma.ErrorModel
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	if p.Instance != "urn:portico:request:"+w.Header().Get("X-Request-Id") || p.Title != "I'm a teapot" ||
		w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%+v %v", p, w.Header())
	}
}

func TestDocument(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	provider, err := auth.NewProvider(auth.Config{
		IssuerURL: "https://i.example", ClientID: "c", PublicURL: "https://p.example",
		UsernameClaim: "u", GroupsClaim: "g", Prefix: "p:", Audiences: []string{"a"},
	}, nowZero)
	if err != nil {
		t.Fatal(err)
	}
	h := New(&cluster.Cluster{Kinds: catalog.NewLive(kinds)},
		auth.NewBearer(provider, nil, nil, fixedClock{}, slog.New(slog.DiscardHandler)), nil,
		slog.New(slog.DiscardHandler))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/openapi.json", http.NoBody))
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, w.Body.Bytes(), "", " "); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"operationId": "createS3Bucket"`, `"$ref": "#/components/schemas/S3Bucket"`,
		`"kmsKeyID"`, `"bearer"`,
	} {
		if !strings.Contains(pretty.String(), want) {
			t.Errorf("no %s in the document", want)
		}
	}
	if strings.Contains(pretty.String(), "$schema") {
		t.Error("bodies carry $schema")
	}
	for path, want := range map[string]int{"/catalog": 401, "/nothing": 401, "/openapi.yaml": 401} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, http.NoBody))
		if w.Code != want || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", path, w.Code, w.Header().Get("Content-Type"))
		}
	}
}
