package pods

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

func shopApp() *unstructured.Unstructured {
	app := &unstructured.Unstructured{Object: map[string]any{}}
	app.SetNamespace("payments")
	app.SetName("shop")
	return app
}

func podsRunning(names ...string) []*corev1.Pod {
	out := make([]*corev1.Pod, 0, len(names))
	for _, name := range names {
		out = append(out, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "payments"},
			Status: corev1.PodStatus{
				ContainerStatuses: []corev1.ContainerStatus{
					{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
				},
			},
		})
	}
	return out
}

// metered returns a Cluster whose API server responds with answer.
func metered(t *testing.T, answer func(http.ResponseWriter)) (*Pods, *kubetest.APIServer) {
	t.Helper()
	_, a, _ := clustertest.NewRights()
	w, s := clustertest.NewImpersonator(t, a)
	s.Answer = answer
	return &Pods{
		rights: a, impersonator: w, feed: &feed.Feed{
			Kinds: catalog.NewLive(catalogtest.Kinds(t)), Changes: feed.NewChanges(),
		},
		usage: usages{clock: clock.RealClock{}, wait: time.Minute},
	}, s
}

func measured(w http.ResponseWriter) {
	kubetest.Reply(w, http.StatusOK, map[string]any{
		"kind": "PodMetrics", "apiVersion": "metrics.k8s.io/v1beta1",
		"containers": []any{
			map[string]any{"name": "app", "usage": map[string]any{"cpu": "35400000n", "memory": "98304Ki"}},
			map[string]any{"name": "proxy", "usage": map[string]any{"cpu": "1m", "memory": "4Mi"}},
		},
	})
}

func TestUsageIsReadAsTheCaller(t *testing.T) {
	c, s := metered(t, measured)
	idle := podsRunning("shop-3")
	idle[0].Status.ContainerStatuses = nil
	pods := append(podsRunning("shop-1", "shop-2"), idle...)
	got, err := c.Usage(t.Context(), kubetest.Dev, shopApp(), pods)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	if u := got["shop-1"]; u.CPU.MilliValue() != 37 || u.Memory.Value() != 100<<20 {
		t.Errorf("%+v", u)
	}
	for i, r := range s.Seen {
		if r.Header.Get("Impersonate-User") != kubetest.Dev.Username ||
			!strings.HasPrefix(r.URL.Path, "/apis/metrics.k8s.io/v1beta1/namespaces/payments/pods/shop-") ||
			r.Method != http.MethodGet {
			t.Errorf("request %d: %s %s as %v", i, r.Method, r.URL, r.Header)
		}
	}
	for range 5 {
		if _, err := c.Usage(t.Context(), kubetest.Dev, shopApp(), pods); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Seen) != 2 {
		t.Errorf("%d requests: figures of a moment ago were read again", len(s.Seen))
	}
}

func TestWhatTheAPIServerSaysOfUsage(t *testing.T) {
	status := func(code int, reason metav1.StatusReason, words string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			kubetest.Reply(w, code, metav1.Status{
				TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure",
				Code: int32(code), Reason: reason, Message: words,
			})
		}
	}
	plain := func(code int, words string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { http.Error(w, words, code) }
	}
	none := func(err error) bool { return errors.Is(err, ErrNoMetrics) }
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		is     func(error) bool
	}{
		"no metrics server":             {plain(404, "404 page not found"), none},
		"the Pod has not been measured": {status(404, metav1.StatusReasonNotFound, `podmetrics.metrics.k8s.io "payments/shop-1" not found`), func(err error) bool { return err == nil }},
		"its server is away":            {plain(503, "service unavailable"), kubetest.IsUnavailable},
		"its server fails":              {status(500, metav1.StatusReasonInternalError, "no metrics known"), kubetest.IsUnavailable},
		"figures that are none": {func(w http.ResponseWriter) {
			kubetest.Reply(w, 200, map[string]any{
				"kind": "PodMetrics", "apiVersion": "metrics.k8s.io/v1beta1",
				"containers": []any{map[string]any{}},
			})
		}, kubetest.IsUnavailable},
		"we may not impersonate": {
			status(403, metav1.StatusReasonForbidden,
				`pods "x" is forbidden: User "system:serviceaccount:portico-system:portico-impersonator" cannot impersonate-on:user-info:get`), kubetest.IsUnavailable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cl, s := metered(t, c.answer)
			usage, err := cl.Usage(t.Context(), kubetest.Dev, shopApp(), podsRunning("shop-1", "shop-2"))
			if !c.is(err) || len(usage) > 0 {
				t.Errorf("%v, %v", usage, err)
			}
			if err != nil && len(s.Seen) != 1 {
				t.Errorf("%d requests after the first had failed", len(s.Seen))
			}
		})
	}
}

func TestUsageNeedsARightOfItsOwn(t *testing.T) {
	c, s := metered(t, measured)
	j, a, _ := clustertest.NewRights()
	j.Allow = func(r authorizationv1.SubjectAccessReviewSpec) bool {
		return r.ResourceAttributes.Group != "metrics.k8s.io"
	}
	c.rights = a
	_, err := c.Usage(t.Context(), kubetest.Dev, shopApp(), podsRunning("shop-1"))
	if forbidden, ok := errors.AsType[*failure.ForbiddenError](err); !ok ||
		forbidden.Error() != "you are not allowed to get pods.metrics.k8s.io in namespace payments" {
		t.Error(err)
	}
	if len(s.Seen) > 0 {
		t.Error("it was asked all the same")
	}
}

// TestASlowMetricsAPIHoldsUpNoPage: the page is rendered without the figures, or with earlier ones if there are any,
// and a change is published when the new ones are available.
func TestASlowMetricsAPIHoldsUpNoPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := usages{clock: clock.RealClock{}}
		q := rights.Question{1}
		answers := make(chan map[string]Usage)
		var told int
		look := func() (map[string]Usage, time.Duration, error) {
			began := time.Now()
			got, err := u.current(q, func(r *usageReading) {
				if r.end(<-answers, nil) {
					told++
				}
			}).await(t.Context())
			return got, time.Since(began), err
		}
		if _, took, err := look(); !errors.Is(err, ErrNoUsageYet) || took != usageWait {
			t.Fatalf("%v after %s", err, took)
		}
		answers <- map[string]Usage{"shop-1": {}}
		synctest.Wait()
		if got, took, err := look(); len(got) != 1 || err != nil || took != 0 {
			t.Fatalf("%v, %v after %s, want one at once", got, err, took)
		}
		if told != 1 {
			t.Fatalf("told %d times, want 1", told)
		}
		time.Sleep(usageTTL)
		if got, took, err := look(); len(got) != 1 || err != nil || took != usageWait {
			t.Fatalf("while it is read again: %v, %v after %s", got, err, took)
		}
		answers <- map[string]Usage{"shop-1": {}, "shop-2": {}}
		synctest.Wait()
		if got, took, _ := look(); len(got) != 2 || took != 0 || told != 2 {
			t.Errorf("%v after %s, told %d times", got, took, told)
		}
	})
}

func TestReadingsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := usages{clock: clock.RealClock{}}
		for i := range 2*maxUsages + 1 {
			q := rights.Question{byte(i), byte(i >> 8)}
			if _, err := u.current(q, func(r *usageReading) { r.end(nil, nil) }).await(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(u.all) > maxUsages {
				t.Fatalf("%d readings are kept", len(u.all))
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		r := u.current(rights.Question{255, 255, 1}, func(r *usageReading) {
			time.Sleep(time.Hour)
			r.end(nil,
				io.EOF)
		})
		if _, err := r.await(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		<-r.done
	})
}
