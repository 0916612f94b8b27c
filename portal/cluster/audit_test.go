package cluster

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
)

// logged runs do within a request; what comes back are the lines about writes, as text of the fields that matter.
func logged(t *testing.T, do func(r *http.Request)) []string {
	t.Helper()
	var log bytes.Buffer
	h := auth.Record(slog.New(slog.NewJSONHandler(&log, nil)), time.Now, nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { do(r) }))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/teams/payments/s3buckets", http.NoBody))
	if strings.Contains(log.String(), "s3cret") {
		t.Errorf("content is logged: %s", log.String())
	}
	var out []string
	for line := range strings.Lines(log.String()) {
		var l struct {
			Msg, Verb, Resource, Namespace, Name, Decision, Outcome, RequestID string
			DryRun                                                             bool
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Msg != "write" {
			continue
		}
		if l.RequestID != w.Header().Get("X-Request-Id") {
			t.Errorf("request ID %q", l.RequestID)
		}
		what := []string{l.Verb, l.Resource, l.Namespace, l.Name, l.Decision, l.Outcome}
		if l.DryRun {
			what = append(what, "dry")
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
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"note": "s3cret"}}}
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
		{"a preview", 201, false, func(r *http.Request) { _, _ = c.Create(r.Context(), dev, ref.Kind, obj, true) }, "create s3buckets payments logs allow done dry"},
		{"a create", 201, false, func(r *http.Request) { _, _ = c.Create(r.Context(), dev, ref.Kind, obj, false) }, "create s3buckets payments logs allow done"},
		{"invalid", 422, false, func(r *http.Request) { _, _ = c.Create(r.Context(), dev, ref.Kind, obj, false) }, "create s3buckets payments logs allow refused"},
		{"no right", 201, true, func(r *http.Request) { _, _ = c.Update(r.Context(), dev, ref.Kind, obj, "", false) }, "update s3buckets payments logs deny forbidden"},
		{"changed by others", 200, false, func(r *http.Request) { _, _ = c.Update(r.Context(), dev, ref.Kind, obj, "old", false) }, "update s3buckets payments logs allow conflict"},
		{"annotated", 200, false, func(r *http.Request) {
			_, _ = c.Annotate(r.Context(), dev, ref, map[string]*string{"portico.dev/paused": &yes})
		}, "patch s3buckets payments logs allow done"},
		{"Kubernetes is down", 401, false, func(r *http.Request) { _, _ = c.Delete(r.Context(), dev, ref, Seen{}, false) }, "delete s3buckets payments logs allow failed"},
		{"reading", 200, false, func(r *http.Request) { _, _ = c.Current(r.Context(), dev, ref) }, ""},
	} {
		t.Run(step.reason, func(t *testing.T) {
			a.forget(dev, RightTo(strings.Fields(step.want + " x")[0], ref.Kind, ref.Namespace))
			j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return !step.denied }
			s.answer = func(w http.ResponseWriter) {
				if step.answer >= 400 {
					reply(w, step.answer, metav1.Status{Status: "Failure", Code: int32(step.answer), Reason: metav1.StatusReason("Invalid")})
					return
				}
				reply(w, step.answer, map[string]any{"kind": "S3Bucket", "apiVersion": "portico.dev/v1alpha1", "metadata": map[string]any{"name": "logs"}})
			}
			got := strings.Join(logged(t, step.do), "\n")
			if got != step.want {
				t.Errorf("%q, want %q", got, step.want)
			}
		})
	}
}
