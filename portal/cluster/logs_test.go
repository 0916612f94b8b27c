package cluster

import (
	"context"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/podlogs"
)

func TestALogThatIsFollowedDoesNotCount(t *testing.T) {
	c := &Cluster{}
	for _, follow := range []bool{true, false} {
		for i := range 2 * podlogs.MaxReads {
			_, cancel, err := c.reading(t.Context(), dev, LogQuery{Follow: follow})
			if full := !follow && i >= podlogs.MaxReads; (err != nil) != full {
				t.Fatalf("reading number %d, followed %v: %v", i+1, follow, err)
			}
			if err == nil && follow {
				cancel()
			} else if err == nil {
				t.Cleanup(cancel)
			}
		}
	}
}

// onePod is a cache of one Pod.
type onePod struct {
	cache.Cache
	pod *corev1.Pod
}

func (o onePod) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	into.(*corev1.PodList).Items = []corev1.Pod{*o.pod}
	return nil
}

func TestLastWordsAreForThoseWhoMayReadTheLog(t *testing.T) {
	shown, err := trimPod(secretive())
	if err != nil {
		t.Fatal(err)
	}
	pod := shown.(*corev1.Pod)
	app := &unstructured.Unstructured{Object: map[string]any{}}
	app.SetNamespace("payments")
	app.SetName("shop")
	for _, c := range []struct {
		may  []string
		want string
	}{{[]string{"pods"}, ""}, {[]string{"pods", "pods/log"}, "panic: no database"}} {
		j, a, _ := newJudge(t)
		j.allow = func(r authorizationv1.SubjectAccessReviewSpec) bool {
			at := r.ResourceAttributes
			return slices.Contains(c.may, strings.TrimSuffix(at.Resource+"/"+at.Subresource, "/"))
		}
		pods, err := (&Cluster{access: a, cache: onePod{pod: pod}}).Pods(t.Context(), dev, app)
		if err != nil {
			t.Fatal(err)
		}
		end := pods[0].Status.ContainerStatuses[0].LastTerminationState.Terminated
		if end.Message != c.want || end.ExitCode != 1 {
			t.Errorf("with rights on %v the end is %+v, want the words %q", c.may, end, c.want)
		}
	}
	if pod.Status.ContainerStatuses[0].LastTerminationState.Terminated.Message == "" {
		t.Error("the Pod in the cache was changed")
	}
}
