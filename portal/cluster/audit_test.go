package cluster

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/cluster/write"
)

func TestWritesAreOnTheRecord(t *testing.T) {
	j, a, _ := clustertest.NewRights()
	w, s := clustertest.NewImpersonator(t, a)
	c := over(t, a, w, s)
	ref := clustertest.Bucket(t)
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
		{"a preview", 201, false, func(r *http.Request) { _, _ = c.Write.Create(r.Context(), kubetest.Dev, ref.Kind, obj, true) }, "create s3buckets payments logs allow done dry as audit-POST"},
		{"a create", 201, false, func(r *http.Request) { _, _ = c.Write.Create(r.Context(), kubetest.Dev, ref.Kind, obj, false) }, "create s3buckets payments logs allow done as audit-POST"},
		{"invalid", 422, false, func(r *http.Request) { _, _ = c.Write.Create(r.Context(), kubetest.Dev, ref.Kind, obj, false) }, "create s3buckets payments logs allow refused as audit-POST"},
		{"no right", 201, true, func(r *http.Request) { _, _ = c.Write.Update(r.Context(), kubetest.Dev, ref.Kind, obj, "", false) }, "update s3buckets payments logs deny forbidden"},
		{"changed by others", 200, false, func(r *http.Request) { _, _ = c.Write.Update(r.Context(), kubetest.Dev, ref.Kind, obj, "old", false) }, "update s3buckets payments logs allow conflict"},
		{"annotated", 200, false, func(r *http.Request) {
			_, _ = c.Write.Annotate(r.Context(), kubetest.Dev, ref, map[string]*string{"portico.dev/paused": &yes})
		}, "patch s3buckets payments logs allow done as audit-PATCH"},
		{"Kubernetes is down", 401, false, func(r *http.Request) { _, _ = c.Write.Delete(r.Context(), kubetest.Dev, ref, write.Seen{}, false) }, "delete s3buckets payments logs allow failed as audit-DELETE"},
		{"reading", 200, false, func(r *http.Request) { _, _ = c.Objects.Current(r.Context(), kubetest.Dev, ref) }, ""},
	} {
		t.Run(step.reason, func(t *testing.T) {
			a.Forget(kubetest.Dev, rights.To(strings.Fields(step.want + " x")[0], ref.Kind, ref.Namespace))
			j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return !step.denied }
			s.Answer = func(w http.ResponseWriter) {
				if step.answer >= 400 {
					kubetest.Reply(w, step.answer, metav1.Status{
						Status: "Failure", Code: int32(step.answer),
						Reason: metav1.StatusReason("Invalid"),
					})
					return
				}
				kubetest.Reply(w, step.answer, map[string]any{
					"kind": "S3Bucket", "apiVersion": "portico.dev/v1alpha1",
					"metadata": map[string]any{"name": "logs"},
				})
			}
			got := strings.Join(kubetest.Logged(t, step.do), "\n")
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
		kubetest.Reply(w, http.StatusCreated, authorizationv1.SubjectAccessReview{
			TypeMeta: metav1.TypeMeta{Kind: "SubjectAccessReview", APIVersion: "authorization.k8s.io/v1"},
		})
	}))
	t.Cleanup(srv.Close)
	own := &rest.Config{Host: srv.URL}
	own.Wrap(failure.LeavingTrail(failure.AsPortal))
	client, err := kubernetes.NewForConfig(own)
	if err != nil {
		t.Fatal(err)
	}
	may := rights.New(rights.Options{
		Reviews: client.AuthorizationV1().SubjectAccessReviews(), Clock: clock.RealClock{},
	})
	w, s := clustertest.NewImpersonator(t, may)
	c := over(t, may, w, s)
	ref := clustertest.Bucket(t)
	for range 2 {
		got := kubetest.Logged(t, func(r *http.Request) {
			for range 3 { // a stream repeats the check
				_, err := c.Objects.Get(r.Context(), kubetest.Dev, ref)
				failure.NoteDenied(r.Context(), err)
			}
			failure.NoteDenied(r.Context(), c.Rights.Require(r.Context(), kubetest.Dev, "list",
				catalog.Ref{Kind: ref.Kind, Namespace: "search"}))
			failure.NoteDenied(r.Context(), &failure.UnavailableError{Doing: "x", Cause: context.Canceled})
			failure.NoteDenied(r.Context(), &failure.ToolError{Namespace: "payments"})
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
	got := kubetest.Logged(t, func(r *http.Request) {
		_, err := c.Write.Patch(r.Context(), kubetest.Dev, ref, map[string]any{}, "", false)
		failure.NoteDenied(r.Context(), err)
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
			j, a, _ := clustertest.NewRights()
			j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return !c.denied }
			w, s := clustertest.NewImpersonator(t, a)
			s.Answer = func(w http.ResponseWriter) {
				if c.answer == http.StatusOK {
					_, _ = w.Write([]byte("s3cret\n"))
					return
				}
				kubetest.Reply(w, c.answer, metav1.Status{Status: "Failure", Code: int32(c.answer), Message: "s3cret"})
			}
			cl := over(t, a, w, s)
			got := kubetest.Logged(t, func(r *http.Request) {
				for range c.tries {
					lines, err := cl.Pods.Logs(r.Context(), kubetest.Dev,
						pods.LogQuery{
							Namespace: "payments", Pod: "shop-1", Container: "app", Follow: c.follow,
							Tail: 1,
						})
					if failure.NoteDenied(r.Context(), err); err == nil {
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
