package rest

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAnswersAreNoPages: whatever objects contain, a browser must not render a response as a page.
func TestAnswersAreNoPages(t *testing.T) {
	const script = `<script>steal()</script>`
	f := newFake(t)
	f.objects = append(f.objects, bucket(t, "payments", "logs", `,"annotations":{"note":"`+script+`"}`))
	f.events = append(f.events, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments"}, InvolvedObject: corev1.ObjectReference{UID: "u"},
		Reason: script, Message: script,
	})
	for _, path := range []string{
		buckets, buckets + "/logs", buckets + "/logs/events", "/resources", "/resources?kind=%3Cscript%3E", "/catalog",
		"/me", buckets + "/%3Cscript%3E",
		buckets + "?cursor=%3Cscript%3E", "/%3Cscript%3E", buckets + "?%3Cscript%3E=x",
	} {
		w := f.call(http.MethodGet, path, "")
		if kind := w.Header().Get("Content-Type"); kind != "application/json" && kind != "application/problem+json" {
			t.Errorf("%s is a %s", path, kind)
		}
	}
	w := f.call(http.MethodPost, buckets, `{"metadata":{"name":"x","`+script+`":"y"}}`)
	if wantProblem(t, w, 422); strings.Contains(w.Header().Get("Content-Type"), "html") {
		t.Error("a refusal is a page")
	}
}
