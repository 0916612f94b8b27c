package cluster

import (
	"context"
	"net/http"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/impersonate"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/pods"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/cluster/write"
)

// over returns the parts that decide by may and send to s.
func over(t *testing.T, may *rights.Rights, as *impersonate.Impersonator, s *kubetest.APIServer) *Cluster {
	t.Helper()
	return overRecording(t, may, as, s, nil)
}

func overRecording(t *testing.T, may *rights.Rights, as *impersonate.Impersonator, s *kubetest.APIServer,
	to *activity.Recorder,
) *Cluster {
	t.Helper()
	c := &Cluster{Kinds: catalog.NewLive(catalogtest.Kinds(t))}
	c.running = running{feed: kubetest.NewFeed(t, kubetest.NewSpaces()), rights: may, activity: to, as: as}
	c.build(fake.NewClientset(), s.Reader(t), Options{Clock: s.Clock})
	return c
}

// TestOnlyWhatWasDoneIsTold: dry runs and refused writes are not recorded.
func TestOnlyWhatWasDoneIsTold(t *testing.T) {
	ref := clustertest.Bucket(t)
	obj := &unstructured.Unstructured{
		Object: map[string]any{"spec": map[string]any{"providerRef": map[string]any{"name": "s3cret"}}},
	}
	obj.SetNamespace("payments")
	obj.SetName("logs")
	for reason, step := range map[string]struct {
		answer int
		denied bool
		do     func(context.Context, *Cluster)
		want   string // reason and note
	}{
		"a create":  {201, false, func(ctx context.Context, c *Cluster) { _, _ = c.Write.Create(ctx, kubetest.Dev, ref.Kind, obj, false) }, "Created oidc:dev requested it."},
		"a preview": {201, false, func(ctx context.Context, c *Cluster) { _, _ = c.Write.Create(ctx, kubetest.Dev, ref.Kind, obj, true) }, ""},
		"invalid":   {422, false, func(ctx context.Context, c *Cluster) { _, _ = c.Write.Create(ctx, kubetest.Dev, ref.Kind, obj, false) }, ""},
		"no right":  {201, true, func(ctx context.Context, c *Cluster) { _, _ = c.Write.Create(ctx, kubetest.Dev, ref.Kind, obj, false) }, ""},
		"replaced": {200, false, func(ctx context.Context, c *Cluster) {
			_, _ = c.Write.Update(ctx, kubetest.Dev, ref.Kind, obj, "", false)
		}, "Changed oidc:dev changed versioning."},
		"patched": {200, false, func(ctx context.Context, c *Cluster) { _, _ = c.Write.Scale(ctx, kubetest.Dev, ref, 7) }, "Changed oidc:dev changed replicas."},
		"deleted": {200, false, func(ctx context.Context, c *Cluster) {
			_, _ = c.Write.Delete(ctx, kubetest.Dev, ref, write.Seen{UID: "u1"}, false)
		}, "Deleted oidc:dev deleted it."},
		"a deletion, dry": {200, false, func(ctx context.Context, c *Cluster) {
			_, _ = c.Write.Delete(ctx, kubetest.Dev, ref, write.Seen{UID: "u1"}, true)
		}, ""},
		"asked to be kept": {200, false, func(ctx context.Context, c *Cluster) {
			_, _ = c.Write.Annotate(ctx, kubetest.Dev, ref, map[string]*string{"portico.dev/keep": new("true")})
		}, "Kept oidc:dev asked to keep it."},
		"the log of a Pod":  {200, false, readLog, "LogsRead oidc:dev read the log of Pod shop-1."},
		"no log":            {400, false, readLog, ""},
		"a log, no right":   {200, true, readLog, ""},
		"reading an object": {200, false, func(ctx context.Context, c *Cluster) { _, _ = c.Objects.Current(ctx, kubetest.Dev, ref) }, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			j, a, _ := clustertest.NewRights()
			j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return !step.denied }
			w, s := clustertest.NewImpersonator(t, a)
			s.Answer = func(w http.ResponseWriter) {
				if step.answer >= 400 {
					kubetest.Reply(w, step.answer, metav1.Status{
						Status: "Failure", Code: int32(step.answer), Reason: metav1.StatusReasonInvalid,
					})
					return
				}
				versioning := "Enabled"
				if len(s.Seen) > 1 {
					versioning = "Suspended" // since the caller read it
				}
				kubetest.Reply(w, step.answer, map[string]any{
					"kind": "S3Bucket", "apiVersion": "portico.dev/v1alpha1", "spec": map[string]any{
						"versioning": versioning,
					},
					"metadata": map[string]any{"name": "logs", "namespace": "payments", "uid": "u1"},
				})
			}
			client := fake.NewClientset()
			events := activity.New(client.EventsV1(), clock.RealClock{}, nil)
			step.do(t.Context(), overRecording(t, a, w, s, events))
			if got := strings.Join(eventsTold(t, client, events), "\n"); got != step.want {
				t.Errorf("%q, want %q", got, step.want)
			}
		})
	}
}

func readLog(ctx context.Context, c *Cluster) {
	lines, err := c.Pods.Logs(ctx, kubetest.Dev, pods.LogQuery{
		Namespace: "payments", Pod: "shop-1", Container: "app", Tail: 1,
		App: activity.Object{APIVersion: "portico.dev/v1alpha1", Kind: "WebApp", Namespace: "payments", Name: "shop", UID: "u2"},
	})
	if err == nil {
		_ = lines.Close()
	}
}

// eventsTold returns the reasons and the notes of the events that were written.
func eventsTold(t *testing.T, client *fake.Clientset, r *activity.Recorder) (all []string) {
	t.Helper()
	ended, end := context.WithCancel(t.Context())
	end()
	r.Run(ended, nil) // writes the pending events
	list, err := client.EventsV1().Events("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		e := &list.Items[i]
		if e.Regarding.UID == "" || e.Namespace != "payments" || strings.Contains(e.String(), "s3cret") {
			t.Errorf("it says %v", e)
		}
		all = append(all, e.Reason+" "+e.Note)
	}
	return all
}
