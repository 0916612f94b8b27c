package rest

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/podlogs"
)

// running is the fake's state of Pods.
type running struct {
	mu      sync.Mutex
	pods    []*corev1.Pod
	noPods  error
	noLog   error
	noRight error
	written string
	asked   pods.LogQuery
}

// fakePods is the part about Pods.
type fakePods struct {
	*running
	unusedPods
}

type unusedPods struct{ cluster.Pods }

func (r fakePods) List(context.Context, auth.Identity, *unstructured.Unstructured) ([]*corev1.Pod, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pods, r.noPods
}

func (r *running) Logs(_ context.Context, _ auth.Identity, q pods.LogQuery) (*podlogs.Lines, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = q
	return podlogs.NewLines(io.NopCloser(strings.NewReader(r.written)), nil), r.noLog
}

func (r *running) MayReadLogs(context.Context, auth.Identity, string) error { return r.noRight }

func TestLogs(t *testing.T) {
	const at = "/namespaces/payments/webapps/shop/logs"
	f := newFake(t)
	f.objects = append(f.objects, bucket(t, "payments", "shop", ""))
	f.objects[len(f.objects)-1].SetKind("WebApp")
	for _, name := range []string{"newest", "older"} {
		f.pods = append(f.pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "app"}},
		}})
	}
	f.written = "one\n\x1b[31m<script>\r\n"
	read := func(pod string, tail int64) pods.LogQuery {
		return pods.LogQuery{
			Namespace: "payments", Pod: pod, Container: "app", Tail: tail,
			App: activity.ObjectOf(f.objects[0]),
		}
	}
	all := read("older", 5000)
	all.Previous, all.Timestamps = true, true
	for query, want := range map[string]pods.LogQuery{
		"": read("newest", 200), "?pod=older": read("older", 200),
		"?pod=older&tail=5000&previous=true&timestamps=true": all,
	} {
		w := f.call("GET", at+query, "")
		if w.Code != 200 || w.Body.String() != "one\n<script>\n" {
			t.Errorf("%s: %d %q, want 200 with the lines", query, w.Code, w.Body)
		}
		if kind := w.Header().Get("Content-Type"); kind != "text/plain; charset=utf-8" {
			t.Errorf("%s: Content-Type = %s, want text/plain; charset=utf-8", query, kind)
		}
		if f.asked != want {
			t.Errorf("%s: asked %+v, want %+v", query, f.asked, want)
		}
	}
	for query, status := range map[string]int{
		"?pod=none": 404, "?pod=..%2F": 404, "?container=none": 404, "?tail=0": 422, "?tail=5001": 422, "?tail=x": 422,
		"?lines=5": 422, "?follow=true&previous=true": 422, "?follow=maybe": 422,
	} {
		wantProblem(t, f.call("GET", at+query, ""), status)
	}
	for status, err := range map[int]error{
		400: &failure.NoLogError{Why: "Pod shop-1 has no node yet"}, 403: &failure.ForbiddenError{
			Verb: "get", Resource: "pods/log",
		},
		503: &failure.UnavailableError{Doing: "reading", Cause: io.ErrUnexpectedEOF},
	} {
		f.noLog = err
		wantProblem(t, f.call("GET", at, ""), status)
	}
	f.noPods = &failure.ForbiddenError{Verb: "list", Resource: "pods"}
	wantProblem(t, f.call("GET", at, ""), http.StatusForbidden)
	wantProblem(t, f.call("GET", "/namespaces/payments/webapps/none/logs", ""), http.StatusNotFound)
	f.denied = []string{"get payments"}
	wantProblem(t, f.call("GET", "/namespaces/payments/webapps/none/logs", ""), http.StatusForbidden)
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(f.call("GET", "/openapi.json", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if _,
		ok := doc.Paths["/namespaces/{namespace}/webapps/{name}/logs"]["get"].
		Responses["200"].Content["text/plain"]; !ok {
		t.Error("the document does not know of logs as text")
	}
	if doc.Paths["/namespaces/{namespace}/s3buckets/{name}/logs"] != nil {
		t.Error("buckets have logs")
	}
}

func TestLogsAreFollowed(t *testing.T) {
	f := newFake(t)
	f.objects = append(f.objects, bucket(t, "payments", "shop", ""))
	f.objects[0].SetKind("WebApp")
	f.pods = append(f.pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "app"}},
	}})
	f.written = "one\ntwo\n"
	status, kind, next := f.stream(t, "/namespaces/payments/webapps/shop/logs?follow=true&tail=7")
	if status != 200 || kind != "text/event-stream" {
		t.Fatalf("%d %s", status, kind)
	}
	var lines []string
	for event := next(); ; event = next() {
		if lines = append(lines, event); event == "" || strings.HasPrefix(event, "finished") {
			break
		}
	}
	got := strings.Join(lines, "\n")
	for _, want := range []string{`"one"`, `"two"`, `end {"reason":"ended"`, "finished"} {
		if !strings.Contains(got, want) {
			t.Errorf("streams %s, want %s in it", got, want)
		}
	}
	if want := (pods.LogQuery{
		Namespace: "payments", Pod: "p", Container: "app", Tail: 7, Follow: true,
		App: activity.ObjectOf(f.objects[0]),
	}); f.asked != want {
		t.Errorf("asked for %+v", f.asked)
	}
	f.noLog = apierrors.NewNotFound(corev1.Resource("pods"), "p") // deleted since the lookup
	_, _, next = f.stream(t, "/namespaces/payments/webapps/shop/logs?follow=true")
	if event := next(); !strings.HasPrefix(event, `end {"reason":"refused"`) ||
		!strings.Contains(event, `"problem":{"title":"Not Found","status":404`) {
		t.Errorf("a refusal is told as %s", event)
	}
	f.noRight = &failure.ForbiddenError{Verb: "get", Resource: "pods/log"}
	wantProblem(t, f.call("GET", "/namespaces/payments/webapps/shop/logs?follow=true", ""), 403)
}

func TestWhyALogEnds(t *testing.T) {
	a := &API{cluster: &cluster.Cluster{}, log: slog.New(slog.DiscardHandler)}
	for reason, err := range map[string]error{"ended": io.EOF, "bound": podlogs.ErrBound, "lost": io.ErrUnexpectedEOF} {
		if got := a.endOf(t.Context(), err); got.Reason != reason || got.Message == "" || got.Problem != nil {
			t.Errorf("%v: %+v", err, got)
		}
	}
	for status, err := range map[int]error{
		403: &failure.ForbiddenError{Verb: "get", Resource: "pods/log"},
		404: apierrors.NewNotFound(corev1.Resource("pods"), "p"),
		429: &podlogs.TooManyReadsError{}, 503: &failure.UnavailableError{Doing: "reading", Cause: io.ErrUnexpectedEOF},
	} {
		got := a.endOf(t.Context(), &podlogs.NoLogError{Cause: err})
		if got.Reason != "refused" || got.Problem == nil || got.Problem.Status != status {
			t.Fatalf("%v: end = %+v, want it refused with %d", err, got, status)
		}
		if got.Message != got.Problem.Detail || got.Message == "" {
			t.Errorf("%v: Message = %q, want the detail %q", err, got.Message, got.Problem.Detail)
		}
	}
	for want, err := range map[bool]error{
		true: &failure.NoLogError{Why: "it starts"}, false: &failure.NoLogError{Never: true},
	} {
		note, wait := noLogYet(err)
		if wait != want || strings.Contains(note, "it starts") != want {
			t.Errorf("%+v: note = %q, waits %v, want %v", err, note, wait, want)
		}
	}
	if _, wait := noLogYet(io.EOF); wait {
		t.Error("an error is taken for a log that comes later")
	}
}

// TestFollowingWaitsForAPod: the stream begins without one, and chooses the Pod when there is one with a log.
func TestFollowingWaitsForAPod(t *testing.T) {
	f := newFake(t)
	f.objects = append(f.objects, bucket(t, "payments", "shop", ""))
	f.objects[0].SetKind("WebApp")
	wantProblem(t, f.call("GET", "/namespaces/payments/webapps/shop/logs", ""), http.StatusBadRequest)
	changed := feed.Change{Kind: "webapps", Namespace: "payments", Name: "shop", Pods: true}
	_, _, next := f.stream(t, "/namespaces/payments/webapps/shop/logs?follow=true")
	if event := next(); !strings.HasPrefix(event, "waiting") || !strings.Contains(event, "shop has no Pod") {
		t.Errorf("without a Pod the stream begins with %s", event)
	}
	f.running.mu.Lock()
	f.pods = []*corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}}},
	}}
	f.noLog = &failure.NoLogError{Why: "Pod p has no node yet: nothing fits"}
	f.running.mu.Unlock()
	f.tell(false, changed)
	if event := next(); !strings.HasPrefix(event, "waiting") || !strings.Contains(event, "nothing fits") {
		t.Errorf("without a node comes %s", event)
	}
	f.running.mu.Lock()
	f.noLog, f.written = nil, "one\n"
	f.running.mu.Unlock()
	f.tell(false, changed)
	if event := next(); !strings.HasPrefix(event, "lines") || !strings.Contains(event, `"one"`) {
		t.Errorf("then comes %s", event)
	}
}
