package pods

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

func TestPodsNeedARightOfTheirOwn(t *testing.T) {
	j, a, _ := clustertest.NewRights()
	w, s := clustertest.NewImpersonator(t, a)
	c := &Pods{rights: a, impersonator: w}
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return false }
	app := &unstructured.Unstructured{Object: map[string]any{}}
	app.SetNamespace("payments")
	app.SetName("shop")
	pod := podCalled("u-1")
	_, pods := c.List(t.Context(), kubetest.Dev, app)
	_, events := c.Events(t.Context(), kubetest.Dev, pod)
	_, logs := c.Logs(t.Context(), kubetest.Dev, LogQuery{Namespace: "payments", Pod: "shop-1", Container: "app"})
	for want, err := range map[string]error{
		"you are not allowed to list pods in namespace payments":    pods,
		"you are not allowed to list events in namespace payments":  events,
		"you are not allowed to get pods/log in namespace payments": logs,
	} {
		var forbidden *failure.ForbiddenError
		if !errors.As(err, &forbidden) || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	last := j.Asked()[len(j.Asked())-1].ResourceAttributes
	if last.Resource != "pods" || last.Subresource != "log" {
		t.Errorf("asked %+v, sent %d", last, len(s.Seen))
	}
	if last.Verb != "get" || len(s.Seen) != 0 {
		t.Errorf("asked %+v, sent %d", last, len(s.Seen))
	}
}

func TestTheRightOnPodsIsNoneOnTheirLogs(t *testing.T) {
	j, a, _ := clustertest.NewRights()
	for _, act := range []rights.Right{
		{Verb: "get", Resource: "pods", Namespace: "payments"}, rights.GetLogs.In("payments"),
	} {
		if _, err := a.Allowed(t.Context(), kubetest.Dev, act); err != nil {
			t.Fatal(err)
		}
	}
	if j.Count() != 2 {
		t.Errorf("asked %d times: one answer was taken for the other", j.Count())
	}
}

func TestLogsAreReadAsTheCaller(t *testing.T) {
	_, a, _ := clustertest.NewRights()
	w, s := clustertest.NewImpersonator(t, a)
	c := &Pods{rights: a, impersonator: w, feed: &feed.Feed{Cache: onePod{}}}
	s.Answer = func(w http.ResponseWriter) { _, _ = io.WriteString(w, "one\ntwo\n") }
	for _, row := range []struct {
		reason string
		id     auth.Identity
		q      LogQuery
		query  string
		group  int
	}{
		{"last lines", kubetest.Dev, LogQuery{Tail: 50}, "container=app&limitBytes=822400&tailLines=50", 2},
		{"all that is asked", kubetest.Dev, LogQuery{Tail: 9, Previous: true, Timestamps: true}, "container=app&limitBytes=148032&previous=true&tailLines=9&timestamps=true", 2},
		{"followed", kubetest.Dev, LogQuery{Tail: 200, Follow: true}, "container=app&follow=true&tailLines=200", 2},
		{"too many lines", kubetest.Dev, LogQuery{Tail: 1 << 40}, "container=app&limitBytes=82240000&tailLines=5000", 2},
		{"no number of lines", kubetest.Dev, LogQuery{Tail: -1}, "container=app&limitBytes=16448&tailLines=1", 2},
		{"a ServiceAccount", auth.Identity{Username: "system:serviceaccount:ci:bot", ServiceAccount: true}, LogQuery{Tail: 50}, "container=app&limitBytes=822400&tailLines=50", 0},
	} {
		row.q.Namespace, row.q.Pod, row.q.Container = "payments", "shop-1", "app"
		lines, err := c.Logs(t.Context(), row.id, row.q)
		if err != nil {
			t.Fatal(row.reason, err)
		}
		got, _, err := lines.Last()
		_ = lines.Close()
		r := s.Seen[len(s.Seen)-1]
		if err != nil || !slices.Equal(got, []string{"one", "two"}) {
			t.Errorf("%s: %q, %v by %s", row.reason, got, err, r.URL)
		}
		if r.URL.Path != "/api/v1/namespaces/payments/pods/shop-1/log" || r.URL.RawQuery != row.query {
			t.Errorf("%s: %q, %v by %s", row.reason, got, err, r.URL)
		}
		if r.Header.Get("Impersonate-User") != row.id.Username ||
			len(r.Header.Values("Impersonate-Group")) != row.group ||
			r.Header.Get("Authorization") != "Bearer token-1" {
			t.Errorf("%s: as %v", row.reason, r.Header)
		}
	}
}

func TestLogsRefuseUnasked(t *testing.T) {
	j, a, _ := clustertest.NewRights()
	w, s := clustertest.NewImpersonator(t, a)
	c := &Pods{rights: a, impersonator: w}
	for _, name := range []string{"", "..", "a/b", "a?b=c", "A", "a%2fb"} {
		if _, err := c.Logs(t.Context(), kubetest.Dev, LogQuery{
			Namespace: "payments", Pod: name, Container: "app",
		}); err == nil {
			t.Errorf("Pod %q is asked for", name)
		}
		if _, err := c.Logs(t.Context(), kubetest.Dev, LogQuery{
			Namespace: "payments", Pod: "shop-1", Container: name,
		}); err == nil {
			t.Errorf("container %q is asked for", name)
		}
	}
	n := j.Count()
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
		if _, err := c.Events(t.Context(), id, podCalled("u-1")); err == nil {
			t.Errorf("%+v is impersonated", id)
		}
	}
	if len(s.Seen) != 0 || j.Count() != n {
		t.Errorf("%d requests were sent", len(s.Seen))
	}
}

func isNoLog(err error) bool {
	_, ok := errors.AsType[*failure.NoLogError](err)
	return ok
}

func TestWhatTheAPIServerSaysOfALog(t *testing.T) {
	for name, c := range map[string]struct {
		code   int
		reason metav1.StatusReason
		words  string
		is     func(error) bool
	}{
		"the container has not started": {400, metav1.StatusReasonBadRequest, `container "app" in pod "x" is waiting to start`, isNoLog},
		"the Pod is gone":               {404, metav1.StatusReasonNotFound, `pods "x" not found`, apierrors.IsNotFound},
		"the node is away":              {500, metav1.StatusReasonInternalError, "dial tcp 192.0.2.7:10250: connection refused", kubetest.IsUnavailable},
		"the node is slow":              {504, metav1.StatusReasonTimeout, "timeout", kubetest.IsUnavailable},
		"we may not impersonate": {
			403, metav1.StatusReasonForbidden,
			`pods "x" is forbidden: User "system:serviceaccount:portico-system:portico-impersonator" cannot impersonate-on:user-info:get`, kubetest.IsUnavailable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, a, _ := clustertest.NewRights()
			w, s := clustertest.NewImpersonator(t, a)
			s.Answer = func(w http.ResponseWriter) {
				kubetest.Reply(w, c.code, metav1.Status{
					TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
					Status:   "Failure", Code: int32(c.code), Reason: c.reason, Message: c.words,
				})
			}
			_, err := (&Pods{rights: a, impersonator: w, feed: &feed.Feed{Cache: onePod{}}}).Logs(
				t.Context(), kubetest.Dev, LogQuery{Namespace: "payments", Pod: "x", Container: "app"})
			if !c.is(err) {
				t.Errorf("%v", err)
			}
		})
	}
}
