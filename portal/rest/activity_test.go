package rest

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
)

func TestActivity(t *testing.T) {
	f := newFake(t)
	for i, name := range []string{"late", "early"} {
		f.events = append(f.events, &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Annotations: map[string]string{activity.AnnotationActor: "oidc:ann", activity.AnnotationActorName: "Ann"}},
			EventTime:  metav1.NewMicroTime(time.Unix(int64(100-i), 0)), Reason: activity.Changed,
			ReportingController: activity.Controller,
			Message:             "Ann (oidc:ann) changed tags.",
			InvolvedObject:      corev1.ObjectReference{Kind: "S3Bucket", Namespace: "payments", Name: name}, Series: &corev1.EventSeries{Count: 3},
		})
	}
	const late = `{"items":[{"time":"1970-01-01T00:01:40Z","actor":"oidc:ann","actorName":"Ann","reason":"Changed",` +
		`"message":"Ann (oidc:ann) changed tags.","count":3,"kind":"S3Bucket","namespace":"payments","name":"late"}`
	f.denied = []string{"list theirs"}
	for query, c := range map[string]struct {
		status int
		body   string
	}{
		"":                            {200, late + `,{"time":"1970-01-01T00:01:39Z"`},
		"?namespace=payments&limit=1": {200, late + "]}\n"},
		"?limit=0":                    {422, "query.limit"},
		"?limit=501":                  {422, "query.limit"},
		"?namespace=A_b":              {422, "there can be no such namespace"},
		"?namespace=theirs":           {403, "you are not allowed to list events in namespace theirs"},
	} {
		w := f.call("GET", "/activity"+query, "")
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	f.events = nil
	if w := f.call("GET", "/activity", ""); w.Body.String() != `{"items":[]}`+"\n" {
		t.Errorf("nothing is %s", w.Body)
	}
}

// TestWhatMayNotBeReadIsOnTheRecord: once per request, with the access review that denied it.
func TestWhatMayNotBeReadIsOnTheRecord(t *testing.T) {
	f := newFake(t)
	f.denied = denials("search")
	var log bytes.Buffer
	h := auth.Record(slog.New(slog.NewJSONHandler(&log, nil)), nowZero, nil)(f.serve())
	for path, want := range map[string]string{
		"/namespaces/search/s3buckets/logs":            `"verb":"get","resource":"s3buckets","namespace":"search","name":"logs","decision":"deny","outcome":"forbidden","reason":"noRight","auditID":"review-1",`,
		"/namespaces/search/s3buckets/logs?watch=true": `"verb":"get","resource":"s3buckets","namespace":"search","name":"logs","decision":"deny",`,
		"/namespaces/search/webapps/shop/logs":         `"verb":"get","resource":"webapps","namespace":"search","name":"shop","decision":"deny",`,
		"/namespaces/search/s3buckets":                 `"verb":"list","resource":"s3buckets","namespace":"search","name":"","decision":"deny",`,
		"/activity?namespace=search":                   `"verb":"list","resource":"events","namespace":"search","name":"","decision":"deny",`,
		"/namespaces/payments/s3buckets/none":          "",
		"/resources":                                   "",
	} {
		log.Reset()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		r.Header.Set("Authorization", token())
		h.ServeHTTP(httptest.NewRecorder(), r)
		n := strings.Count(log.String(), `"audit":true`)
		denials := 0
		if want != "" {
			denials = 1
			want = `"msg":"denied","actor":"system:serviceaccount:payments:ci",` + want
		}
		if n != denials || !strings.Contains(log.String(), want) {
			t.Errorf("%s: %d lines, want %d with %s:\n%s", path, n, denials, want, &log)
		}
	}
}
