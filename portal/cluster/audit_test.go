package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/auth"
)

// logged calls do within a request and returns the audit lines, as text of the relevant fields. Lines of events other
// than writes begin with the event.
func logged(t *testing.T, do func(r *http.Request)) []string {
	t.Helper()
	var log bytes.Buffer
	h := auth.Record(slog.New(slog.NewJSONHandler(&log, nil)), time.Now, nil)(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { do(r) }))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/teams/payments/s3buckets", http.NoBody))
	if strings.Contains(log.String(), "s3cret") {
		t.Errorf("content is logged: %s", log.String())
	}
	var out []string
	for line := range strings.Lines(log.String()) {
		var l struct {
			Msg, Verb, Resource, Namespace, Name, Container string
			Decision, Outcome, Reason, RequestID, AuditID   string
			DryRun, Audit, Follow                           bool
			Duration                                        *time.Duration
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if !l.Audit {
			continue
		}
		if l.RequestID != w.Header().Get("X-Request-Id") {
			t.Errorf("request ID %q", l.RequestID)
		}
		what := []string{l.Verb, l.Resource, l.Namespace, l.Name, l.Decision, l.Outcome}
		if l.Msg != "write" {
			what = append([]string{l.Msg}, what...)
		}
		for _, more := range []struct {
			word string
			is   bool
		}{
			{"dry", l.DryRun},
			{l.Container, l.Container != ""},
			{"follow", l.Follow},
			{l.Reason, l.Reason != ""},
			{"as " + l.AuditID, l.AuditID != ""},
			{"ended", l.Duration != nil},
		} {
			if more.is {
				what = append(what, more.word)
			}
		}
		out = append(out, strings.Join(what, " "))
	}
	return out
}

func TestWritesAreOnTheRecord(t *testing.T) {
	j, a, _ := newJudge(t)
	w, s, _ := newTestImpersonator(t)
	c := &Cluster{access: a, reader: s.reader(t), impersonator: w}
	ref := bucketRef(t)
	obj := &unstructured.Unstructured{
		Object: map[string]any{"spec": map[string]any{"providerRef": map[string]any{"name": "s3cret"}}},
	}
	obj.SetNamespace("payments")
	obj.SetName("logs")
	yes := "s3cret"
	for _, step := range []struct {
		reason string
		answer int // of the API server
		denied bool
		do     func(r *http.Request)
		want   string
	}{
		{"a preview", 201, false, func(r *http.Request) { _, _ = c.Create(r.Context(), dev, ref.Kind, obj, true) }, "create s3buckets payments logs allow done dry as audit-POST"},
		{"a create", 201, false, func(r *http.Request) { _, _ = c.Create(r.Context(), dev, ref.Kind, obj, false) }, "create s3buckets payments logs allow done as audit-POST"},
		{"invalid", 422, false, func(r *http.Request) { _, _ = c.Create(r.Context(), dev, ref.Kind, obj, false) }, "create s3buckets payments logs allow refused as audit-POST"},
		{"no right", 201, true, func(r *http.Request) { _, _ = c.Update(r.Context(), dev, ref.Kind, obj, "", false) }, "update s3buckets payments logs deny forbidden"},
		{"changed by others", 200, false, func(r *http.Request) { _, _ = c.Update(r.Context(), dev, ref.Kind, obj, "old", false) }, "update s3buckets payments logs allow conflict"},
		{"annotated", 200, false, func(r *http.Request) {
			_, _ = c.Annotate(r.Context(), dev, ref, map[string]*string{"portico.dev/paused": &yes})
		}, "patch s3buckets payments logs allow done as audit-PATCH"},
		{"Kubernetes is down", 401, false, func(r *http.Request) { _, _ = c.Delete(r.Context(), dev, ref, Seen{}, false) }, "delete s3buckets payments logs allow failed as audit-DELETE"},
		{"reading", 200, false, func(r *http.Request) { _, _ = c.Current(r.Context(), dev, ref) }, ""},
	} {
		t.Run(step.reason, func(t *testing.T) {
			a.forget(dev, RightTo(strings.Fields(step.want + " x")[0], ref.Kind, ref.Namespace))
			j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return !step.denied }
			s.answer = func(w http.ResponseWriter) {
				if step.answer >= 400 {
					reply(w, step.answer, metav1.Status{
						Status: "Failure", Code: int32(step.answer),
						Reason: metav1.StatusReason("Invalid"),
					})
					return
				}
				reply(w, step.answer, map[string]any{
					"kind": "S3Bucket", "apiVersion": "portico.dev/v1alpha1",
					"metadata": map[string]any{"name": "logs"},
				})
			}
			got := strings.Join(logged(t, step.do), "\n")
			if got != step.want {
				t.Errorf("%q, want %q", got, step.want)
			}
		})
	}
}

// TestAReviewThatRefusesIsKnownToTheAuditLog: also when the decision was cached.
func TestAReviewThatRefusesIsKnownToTheAuditLog(t *testing.T) {
	reviews := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reviews++
		w.Header().Set("Audit-Id", fmt.Sprint("review-", reviews))
		reply(w, http.StatusCreated, authorizationv1.SubjectAccessReview{
			TypeMeta: metav1.TypeMeta{Kind: "SubjectAccessReview", APIVersion: "authorization.k8s.io/v1"},
		})
	}))
	t.Cleanup(srv.Close)
	own := &rest.Config{Host: srv.URL}
	own.Wrap(leavingTrail(asPortal))
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		t.Fatal(err)
	}
	w, _, _ := newTestImpersonator(t)
	c := &Cluster{
		access:       newAccess(client.AuthorizationV1().SubjectAccessReviews(), clock.RealClock{}),
		impersonator: w,
	}
	ref := bucketRef(t)
	for range 2 {
		got := logged(t, func(r *http.Request) {
			for range 3 { // a stream repeats the check
				_, err := c.Get(r.Context(), dev, ref)
				NoteDenied(r.Context(), err)
			}
			NoteDenied(r.Context(), c.Require(r.Context(), dev, "list", Ref{Kind: ref.Kind, Namespace: "search"}))
			NoteDenied(r.Context(), &UnavailableError{Doing: "x", Cause: context.Canceled})
			NoteDenied(r.Context(), &ToolError{Namespace: "payments"})
		})
		want := []string{
			"denied get s3buckets payments logs deny forbidden noRight as review-1",
			"denied list s3buckets search  deny forbidden noRight as review-2",
			"denied impersonate serviceaccounts payments  deny forbidden toolsNotLetIn",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	got := logged(t, func(r *http.Request) {
		_, err := c.Patch(r.Context(), dev, ref, map[string]any{}, "", false)
		NoteDenied(r.Context(), err)
	})
	if want := []string{"patch s3buckets payments logs deny forbidden as review-3"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestReadsOfLogsAreOnTheRecord(t *testing.T) {
	for reason, c := range map[string]struct {
		follow, denied bool
		answer         int
		tries          int
		want           []string
	}{
		"the last lines": {false, false, 200, 1, []string{"log-read get pods/log payments shop-1 allow done app as audit-GET"}},
		"followed": {true, false, 200, 1, []string{
			"log-read get pods/log payments shop-1 allow done app follow as audit-GET",
			"log-read-ended get pods/log payments shop-1 allow done app follow as audit-GET ended",
		}},
		"there is none yet, asked again and again": {true, false, 400, 3, []string{"log-read get pods/log payments shop-1 allow refused app follow as audit-GET"}},
		"no right":           {true, true, 200, 2, []string{"denied get pods/log payments shop-1 deny forbidden noRight"}},
		"Kubernetes is down": {false, false, 503, 1, []string{"log-read get pods/log payments shop-1 allow failed app as audit-GET"}},
	} {
		t.Run(reason, func(t *testing.T) {
			j, a, _ := newJudge(t)
			j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return !c.denied }
			w, s, _ := newTestImpersonator(t)
			s.answer = func(w http.ResponseWriter) {
				if c.answer == http.StatusOK {
					_, _ = w.Write([]byte("s3cret\n"))
					return
				}
				reply(w, c.answer, metav1.Status{Status: "Failure", Code: int32(c.answer), Message: "s3cret"})
			}
			cl := &Cluster{access: a, impersonator: w}
			got := logged(t, func(r *http.Request) {
				for range c.tries {
					lines, err := cl.Logs(r.Context(), dev,
						LogQuery{Namespace: "payments", Pod: "shop-1", Container: "app", Follow: c.follow, Tail: 1})
					if NoteDenied(r.Context(), err); err == nil {
						_ = lines.Close()
					}
				}
			})
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
