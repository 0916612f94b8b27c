package cluster

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

// secretive returns a Pod with values in all fields that must not be cached.
func secretive() *corev1.Pod {
	const s = "s3cret"
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 1, Reason: "Error", Message: s + "\npanic: \x1b[31mno database\n\n", ContainerID: s,
	}}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "shop-1", Namespace: "payments", ResourceVersion: "7", Annotations: map[string]string{"a": s},
			Finalizers:    []string{s},
			Labels:        map[string]string{managedBy: portico, "portico.dev/webapp": "shop", "other": s},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: s}},
		},
		Spec: corev1.PodSpec{
			NodeName: "node-1", Hostname: s, Volumes: []corev1.Volume{{Name: s}},
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: s}},
			Containers: []corev1.Container{{
				Name: "app", Image: "shop:1", Args: []string{s}, Command: []string{s}, Env: []corev1.EnvVar{
					{Name: "PASSWORD", Value: s},
				},
			}},
			InitContainers: []corev1.Container{
				{Name: "init", Image: "init:1", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: s}}},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: s, HostIP: s, Message: strings.Repeat("m", 5000),
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, Message: "a\nb"}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "app", ContainerID: s, ImageID: s, RestartCount: 3, LastTerminationState: ended,
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}},
			}},
		},
	}
}

func TestOfAPodOnlyWhatIsShownIsKept(t *testing.T) {
	in := secretive()
	got, err := trimPod(in)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil || strings.Contains(string(text), "s3cret") {
		t.Errorf("%s, %v", text, err)
	}
	p := got.(*corev1.Pod)
	status := p.Status.ContainerStatuses[0]
	shown := []string{
		p.Labels["portico.dev/webapp"], p.Spec.NodeName, p.Spec.InitContainers[0].Image, status.State.Waiting.Reason,
		p.ResourceVersion,
	}
	if want := []string{"shop", "node-1", "init:1", "CrashLoopBackOff", "7"}; !slices.Equal(shown, want) {
		t.Errorf("label, NodeName, Image, Waiting.Reason, ResourceVersion = %q, want %q of %s", shown, want, text)
	}
	if status.RestartCount != 3 {
		t.Errorf("RestartCount = %d, want 3", status.RestartCount)
	}
	if last := status.LastTerminationState.Terminated; last.Message != "panic: no database" || last.ExitCode != 1 {
		t.Errorf("the end is told as %+v", last)
	}
	if len(p.Status.Message) > maxPodText+10 || p.Status.Conditions[0].Message != "a b" {
		t.Errorf("texts are %d bytes and %q", len(p.Status.Message), p.Status.Conditions[0].Message)
	}
	if in.Spec.Containers[0].Env[0].Value != "s3cret" {
		t.Error("the Pod that came in was changed")
	}
	if out, err := trimPod(toolscache.DeletedFinalStateUnknown{Key: "a"}); err != nil || out == nil {
		t.Errorf("a tombstone: %v", err)
	}
}

func TestFeedTellsOfPods(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	f := newFeed()
	s, h := f.subscribe(t.Context()), f.pods(kinds)
	pod := func(version, app string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "n", Name: "x-1", ResourceVersion: version, Labels: map[string]string{"portico.dev/webapp": app},
		}}
	}
	want := func(reason string, change ...Change) {
		t.Helper()
		if got, _ := s.Take(); !slices.Equal(got, change) {
			t.Errorf("%s: %v, want %v", reason, got, change)
		}
	}
	about := Change{Kind: "webapps", Namespace: "n", Name: "x", Pods: true}
	h.OnAdd(pod("1", "x"), false)
	want("added", about)
	h.OnUpdate(pod("1", "x"), pod("1", "x"))
	want("a resync")
	h.OnUpdate(pod("1", "x"), pod("2", "x"))
	want("updated", about)
	h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "n/x-1", Obj: pod("2", "x")})
	want("deleted unseen", about)
	h.OnAdd(pod("1", ""), false)
	want("a Pod of no application")
	h.OnAdd(toolscache.DeletedFinalStateUnknown{Key: "n/x"}, false)
	want("a tombstone without its object")
}

func TestPodsNeedARightOfTheirOwn(t *testing.T) {
	j, a, _ := newJudge(t)
	w, s, _ := newTestImpersonator(t)
	c := &Cluster{access: a, reader: s.reader(t), impersonator: w}
	j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return false }
	app := &unstructured.Unstructured{Object: map[string]any{}}
	app.SetNamespace("payments")
	app.SetName("shop")
	pod := secretive()
	_, pods := c.Pods(t.Context(), dev, app)
	_, events := c.PodEvents(t.Context(), dev, pod)
	_, logs := c.Logs(t.Context(), dev, LogQuery{Namespace: "payments", Pod: "shop-1", Container: "app"})
	for want, err := range map[string]error{
		"you are not allowed to list pods in namespace payments":    pods,
		"you are not allowed to list events in namespace payments":  events,
		"you are not allowed to get pods/log in namespace payments": logs,
	} {
		var forbidden *ForbiddenError
		if !errors.As(err, &forbidden) || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	last := j.asked[len(j.asked)-1].ResourceAttributes
	if last.Resource != "pods" || last.Subresource != "log" || last.Verb != "get" {
		t.Errorf("asked %+v, want to get the log of pods", last)
	}
	if len(s.seen) != 0 {
		t.Errorf("sent %d requests, want none", len(s.seen))
	}
}

func TestTheRightOnPodsIsNoneOnTheirLogs(t *testing.T) {
	j, a, _ := newJudge(t)
	ask(t, a, dev, Right{verb: "get", resource: "pods", namespace: "payments"})
	ask(t, a, dev, GetLogs.In("payments"))
	if j.count() != 2 {
		t.Errorf("asked %d times: one answer was taken for the other", j.count())
	}
}

func TestLogsAreReadAsTheCaller(t *testing.T) {
	_, a, _ := newJudge(t)
	w, s, _ := newTestImpersonator(t)
	c := &Cluster{access: a, reader: s.reader(t), impersonator: w}
	s.answer = func(w http.ResponseWriter) { _, _ = io.WriteString(w, "one\ntwo\n") }
	for _, row := range []struct {
		reason string
		id     auth.Identity
		q      LogQuery
		query  string
		group  int
	}{
		{"last lines", dev, LogQuery{Tail: 50}, "container=app&limitBytes=822400&tailLines=50", 2},
		{"all that is asked", dev, LogQuery{Tail: 9, Previous: true, Timestamps: true}, "container=app&limitBytes=148032&previous=true&tailLines=9&timestamps=true", 2},
		{"followed", dev, LogQuery{Tail: 200, Follow: true}, "container=app&follow=true&tailLines=200", 2},
		{"too many lines", dev, LogQuery{Tail: 1 << 40}, "container=app&limitBytes=82240000&tailLines=5000", 2},
		{"no number of lines", dev, LogQuery{Tail: -1}, "container=app&limitBytes=16448&tailLines=1", 2},
		{"a ServiceAccount", auth.Identity{Username: "system:serviceaccount:ci:bot", ServiceAccount: true}, LogQuery{Tail: 50}, "container=app&limitBytes=822400&tailLines=50", 0},
	} {
		row.q.Namespace, row.q.Pod, row.q.Container = "payments", "shop-1", "app"
		lines, err := c.Logs(t.Context(), row.id, row.q)
		if err != nil {
			t.Fatal(row.reason, err)
		}
		got, _, err := lines.Last()
		_ = lines.Close()
		r := s.seen[len(s.seen)-1]
		if want := []string{"one", "two"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: lines = %q, %v, want %q", row.reason, got, err, want)
		}
		if path := "/api/v1/namespaces/payments/pods/shop-1/log"; r.URL.Path != path || r.URL.RawQuery != row.query {
			t.Errorf("%s: URL = %s, want %s?%s", row.reason, r.URL, path, row.query)
		}
		if r.Header.Get("Impersonate-User") != row.id.Username ||
			len(r.Header.Values("Impersonate-Group")) != row.group ||
			r.Header.Get("Authorization") != "Bearer token-1" {
			t.Errorf("%s: as %v", row.reason, r.Header)
		}
	}
}

func TestLogsRefuseUnasked(t *testing.T) {
	j, a, _ := newJudge(t)
	w, s, _ := newTestImpersonator(t)
	c := &Cluster{access: a, reader: s.reader(t), impersonator: w}
	for _, name := range []string{"", "..", "a/b", "a?b=c", "A", "a%2fb"} {
		if _, err := c.Logs(t.Context(), dev, LogQuery{
			Namespace: "payments", Pod: name, Container: "app",
		}); err == nil {
			t.Errorf("Pod %q is asked for", name)
		}
		if _, err := c.Logs(t.Context(), dev, LogQuery{
			Namespace: "payments", Pod: "shop-1", Container: name,
		}); err == nil {
			t.Errorf("container %q is asked for", name)
		}
	}
	n := j.count()
	for _, id := range []auth.Identity{
		{},
		{Username: "system:admin"},
		{Username: "x", Groups: []string{"system:masters"}},
	} {
		if _, err := c.Logs(t.Context(), id, LogQuery{
			Namespace: "payments", Pod: "shop-1", Container: "app",
		}); err == nil {
			t.Errorf("%+v is impersonated", id)
		}
		if _, err := c.PodEvents(t.Context(), id, secretive()); err == nil {
			t.Errorf("%+v is impersonated", id)
		}
	}
	if len(s.seen) != 0 || j.count() != n {
		t.Errorf("%d requests were sent", len(s.seen))
	}
}

func TestWhatTheAPIServerSaysOfALog(t *testing.T) {
	for name, c := range map[string]struct {
		code   int
		reason metav1.StatusReason
		words  string
		is     func(error) bool
	}{
		"the container has not started": {400, metav1.StatusReasonBadRequest, `container "app" in pod "x" is waiting to start`, apierrors.IsBadRequest},
		"the Pod is gone":               {404, metav1.StatusReasonNotFound, `pods "x" not found`, apierrors.IsNotFound},
		"the node is away":              {500, metav1.StatusReasonInternalError, "dial tcp 192.0.2.7:10250: connection refused", isUnavailable},
		"the node is slow":              {504, metav1.StatusReasonTimeout, "timeout", isUnavailable},
		"we may not impersonate": {
			403, metav1.StatusReasonForbidden,
			`pods "x" is forbidden: User "system:serviceaccount:portico-system:portico-impersonator" cannot impersonate-on:user-info:get`, isUnavailable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, a, _ := newJudge(t)
			w, s, _ := newTestImpersonator(t)
			s.answer = func(w http.ResponseWriter) {
				reply(w, c.code, metav1.Status{
					TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
					Status:   "Failure", Code: int32(c.code), Reason: c.reason, Message: c.words,
				})
			}
			_, err := (&Cluster{access: a, reader: s.reader(t), impersonator: w}).Logs(
				t.Context(), dev, LogQuery{Namespace: "payments", Pod: "x", Container: "app"})
			if !c.is(err) {
				t.Errorf("%v", err)
			}
		})
	}
}

func isUnavailable(err error) bool {
	var away *UnavailableError
	return errors.As(err, &away)
}

func TestScaleSendsTheNumberOnly(t *testing.T) {
	_, a, _ := newJudge(t)
	w, s, _ := newTestImpersonator(t)
	if _, err := (&Cluster{access: a, reader: s.reader(t), impersonator: w}).Scale(
		t.Context(), dev, bucketRef(t), 3); err != nil {
		t.Fatal(err)
	}
	if s.bodies[0] != `{"spec":{"replicas":3}}` || s.seen[0].Method != http.MethodPatch ||
		s.seen[0].Header.Get("Impersonate-User") != dev.Username {
		t.Errorf("%s %s %v", s.seen[0].Method, s.bodies[0], s.seen[0].Header)
	}
}
