package pods

import (
	"context"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/podlogs"
)

func TestALogThatIsFollowedDoesNotCount(t *testing.T) {
	c := &Pods{}
	for _, follow := range []bool{true, false} {
		for i := range 2 * podlogs.MaxReads {
			_, cancel, err := c.reading(t.Context(), kubetest.Dev, LogQuery{Follow: follow})
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
	client.Reader
	pod *corev1.Pod
}

func (o onePod) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	into.(*corev1.PodList).Items = []corev1.Pod{*o.pod}
	return nil
}

func TestLastWordsAreForThoseWhoMayReadTheLog(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Name: "app", LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 1, Reason: "Error", Message: "panic: no database",
		}},
	}}}}
	app := &unstructured.Unstructured{Object: map[string]any{}}
	app.SetNamespace("payments")
	app.SetName("shop")
	for _, c := range []struct {
		may  []string
		want string
	}{{[]string{"pods"}, ""}, {[]string{"pods", "pods/log"}, "panic: no database"}} {
		j, a, _ := clustertest.NewRights()
		j.Allow = func(r authorizationv1.SubjectAccessReviewSpec) bool {
			at := r.ResourceAttributes
			return slices.Contains(c.may, strings.TrimSuffix(at.Resource+"/"+at.Subresource, "/"))
		}
		p := &Pods{rights: a, feed: &feed.Feed{Cache: onePod{pod: pod}}}
		pods, err := p.List(t.Context(), kubetest.Dev, app)
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
