package cluster

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/clock"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
)

// TestOnlyWhatWasDoneIsTold: dry runs and refused writes are not recorded.
func TestOnlyWhatWasDoneIsTold(t *testing.T) {
	ref := bucketRef(t)
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
		"a create":        {201, false, func(ctx context.Context, c *Cluster) { _, _ = c.Create(ctx, dev, ref.Kind, obj, false) }, "Created oidc:dev requested it."},
		"a preview":       {201, false, func(ctx context.Context, c *Cluster) { _, _ = c.Create(ctx, dev, ref.Kind, obj, true) }, ""},
		"invalid":         {422, false, func(ctx context.Context, c *Cluster) { _, _ = c.Create(ctx, dev, ref.Kind, obj, false) }, ""},
		"no right":        {201, true, func(ctx context.Context, c *Cluster) { _, _ = c.Create(ctx, dev, ref.Kind, obj, false) }, ""},
		"replaced":        {200, false, func(ctx context.Context, c *Cluster) { _, _ = c.Update(ctx, dev, ref.Kind, obj, "", false) }, "Changed oidc:dev changed versioning."},
		"patched":         {200, false, func(ctx context.Context, c *Cluster) { _, _ = c.Scale(ctx, dev, ref, 7) }, "Changed oidc:dev changed replicas."},
		"deleted":         {200, false, func(ctx context.Context, c *Cluster) { _, _ = c.Delete(ctx, dev, ref, Seen{UID: "u1"}, false) }, "Deleted oidc:dev deleted it."},
		"a deletion, dry": {200, false, func(ctx context.Context, c *Cluster) { _, _ = c.Delete(ctx, dev, ref, Seen{UID: "u1"}, true) }, ""},
		"asked to be kept": {200, false, func(ctx context.Context, c *Cluster) {
			_, _ = c.Annotate(ctx, dev, ref, map[string]*string{"portico.dev/keep": new("true")})
		}, "Kept oidc:dev asked to keep it."},
		"the log of a Pod":  {200, false, readLog, "LogsRead oidc:dev read the log of Pod shop-1."},
		"no log":            {400, false, readLog, ""},
		"a log, no right":   {200, true, readLog, ""},
		"reading an object": {200, false, func(ctx context.Context, c *Cluster) { _, _ = c.Current(ctx, dev, ref) }, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			j, a, _ := newJudge(t)
			j.allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return !step.denied }
			w, s, _ := newTestImpersonator(t)
			s.answer = func(w http.ResponseWriter) {
				if step.answer >= 400 {
					reply(w, step.answer, metav1.Status{
						Status: "Failure", Code: int32(step.answer), Reason: metav1.StatusReasonInvalid,
					})
					return
				}
				versioning := "Enabled"
				if len(s.seen) > 1 {
					versioning = "Suspended" // since the caller read it
				}
				reply(w, step.answer, map[string]any{
					"kind": "S3Bucket", "apiVersion": "portico.dev/v1alpha1", "spec": map[string]any{
						"versioning": versioning,
					},
					"metadata": map[string]any{"name": "logs", "namespace": "payments", "uid": "u1"},
				})
			}
			client := fake.NewClientset()
			events := activity.New(client.EventsV1(), clock.RealClock{}, nil)
			step.do(t.Context(), &Cluster{access: a, reader: s.reader(t), impersonator: w, activity: events})
			if got := strings.Join(eventsTold(t, client, events), "\n"); got != step.want {
				t.Errorf("%q, want %q", got, step.want)
			}
		})
	}
}

func readLog(ctx context.Context, c *Cluster) {
	lines, err := c.Logs(ctx, dev, LogQuery{
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

func TestActivityIsForThoseWhoMayListEvents(t *testing.T) {
	event := func(namespace, name, controller string, second int64) *corev1.Event {
		return &corev1.Event{
			ObjectMeta:          metav1.ObjectMeta{Namespace: namespace, Name: name},
			ReportingController: controller, EventTime: metav1.NewMicroTime(time.Unix(second, 0)),
		}
	}
	all := []*corev1.Event{
		event("payments", "early", activity.Controller, 2), event("payments", "late", activity.Controller, 9),
		event("payments", "operator", "portico-operator", 5), event("search", "other", activity.Controller, 4),
		event("default", "platform", activity.Controller, 1),
	}
	for reason, c := range map[string]struct {
		may       []string
		namespace string
		want      []string
		narrow    bool
		forbidden bool
	}{
		"one namespace":         {[]string{"list events payments"}, "payments", []string{"late", "early"}, false, false},
		"another's":             {[]string{"list events payments"}, "search", nil, false, true},
		"all that may be seen":  {[]string{"list s3buckets payments", "list events payments", "list s3buckets search"}, "", []string{"late", "early"}, true, false},
		"everything":            {[]string{"list events"}, "", []string{"late", "other", "early", "platform"}, false, false},
		"what has no namespace": {[]string{"list events default"}, "", []string{"platform"}, true, false},
		"nothing":               {nil, "", nil, true, false},
	} {
		t.Run(reason, func(t *testing.T) {
			cl, _ := overseen(t, c.may...)
			there := cl.cache.(spaces)
			there.events = all
			cl.cache = there
			got, err := cl.Activity(t.Context(), dev, c.namespace)
			var names []string
			for _, e := range got.Events {
				names = append(names, e.Name)
			}
			if forbidden := outcomeOf(err) == auth.Forbidden; forbidden != c.forbidden || err != nil && !forbidden {
				t.Errorf("%v", err)
			}
			if !slices.Equal(names, c.want) || got.Narrow != c.narrow {
				t.Errorf("%v, narrow %v", names, got.Narrow)
			}
			there.failed = errors.New("no cache")
			cl.cache = there
			if _, err := cl.Activity(t.Context(), dev, c.namespace); err == nil {
				t.Error("a cache that fails is empty")
			}
		})
	}
}
