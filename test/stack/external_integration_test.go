//go:build integration

package stack_test

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// TestAnExistingClusterTakesThePlaceOfOurs starts what make run starts with KUBECONFIG_EXTERNAL, twice: operator and
// portal run here, in Pods that the cluster does not have. Start returns when the sample teams are Ready.
func TestAnExistingClusterTakesThePlaceOfOurs(t *testing.T) {
	tiers.Long(t)
	cluster := started(t, stack.Options{Root: root, Parts: stack.ControlPlane, Bare: true, Progress: os.Stderr})
	external := stack.Options{
		Root: root, Parts: stack.Everything, ExternalKubeconfig: cluster.AdminKubeconfig, WorkloadIdentity: true,
		Progress: os.Stderr,
	}
	first := started(t, external)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := started(t, external)
	token, err := again.Token(t.Context(), "payments-dev")
	if err != nil {
		t.Fatal(err)
	}
	if got := listBuckets(t, again.PortalURL, token); got != http.StatusOK {
		t.Errorf("payments-dev lists the buckets of payments: status %d, want 200", got)
	}
	getsABucket(t, again)
	deployments, err := clients(t, cluster.Admin).AppsV1().Deployments("").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(deployments.Items) > 0 {
		t.Errorf("%v, %v: the cluster cannot run the images", deployments.Items, err)
	}
	for _, is := range []*stack.Stack{first, again, cluster} {
		if err := is.Err(); err != nil {
			t.Error(err)
		}
	}
}

// getsABucket requests the sample bucket and waits until it is Ready.
func getsABucket(t *testing.T, s *stack.Stack) {
	t.Helper()
	samples, err := stack.ReadObjects(os.DirFS(root), "config/samples/s3bucket.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bucket := samples[0]
	bucket.SetNamespace("payments")
	if err := stack.ApplyObjects(t.Context(), s.Admin, bucket); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(s.Admin)
	if err != nil {
		t.Fatal(err)
	}
	buckets := client.Resource(v1alpha1.GroupVersion.WithResource("s3buckets")).Namespace("payments")
	eventually(t, "the bucket is Ready", time.Minute, func(ctx context.Context) (bool, error) {
		is, err := buckets.Get(ctx, bucket.GetName(), metav1.GetOptions{})
		return err == nil && isReady(is), err
	})
}

func isReady(o *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if one, _ := c.(map[string]any); one["type"] == v1alpha1.ConditionReady {
			return one["status"] == "True"
		}
	}
	return false
}

// started returns a stack that is closed after the test.
func started(t *testing.T, o stack.Options) *stack.Stack {
	t.Helper()
	s, err := stack.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			s.KeepLogs()
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
