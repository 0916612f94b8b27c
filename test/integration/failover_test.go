//go:build integration

package integration

import (
	"fmt"
	"slices"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// holder returns the current leader, or "" if there is none.
func holder(t *testing.T, c client.Client) string {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: stack.Namespace, Name: "portico-operator"}}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(lease), lease); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// The leader stops while it creates buckets: the other one continues, and creates none of them again.
func TestASecondOperatorTakesOver(t *testing.T) {
	tiers.Long(t)
	for name, end := range map[string]func(deployed) error{
		"SIGTERM": func(d deployed) error { return d.Stop() },
		"SIGKILL": func(d deployed) error { return d.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			c := admin(t)
			was := holder(t, c)
			leader := deployOperator(t, "one")
			await(t, "it to lead", func() (bool, string) {
				now := holder(t, c)
				return now != "" && now != was, now
			})
			first := holder(t, c)
			deployOperator(t, "two")
			ns, mark := team(t, c), world.Proxy.Mark()
			var all []*v1alpha1.S3Bucket
			for i := range 5 {
				b := bucketOf(ns, fmt.Sprintf("before-%d", i))
				create(t, c, b)
				all = append(all, b)
			}
			await(t, "a bucket to be under way", func() (bool, string) {
				return len(world.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), creation)) > 0, "none"
			})
			if err := end(leader); err != nil {
				t.Fatal(err)
			}
			late := bucketOf(ns, "after")
			create(t, c, late)
			for _, b := range append(all, late) {
				ready(t, c, b)
				made := world.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), creation,
					func(call awsproxy.Call) bool { return call.Names(b.Spec.BucketName) })
				if n := len(slices.DeleteFunc(made, inVain)); n > 1 {
					t.Errorf("%s was created %d times", b.Name, n)
				}
			}
			if now := holder(t, c); now == first || now == "" {
				t.Errorf("%q leads", now)
			}
		})
	}
}

// inVain reports whether the call created nothing: the bucket existed and was not visible yet, or the caller was
// killed before the response.
func inVain(c awsproxy.Call) bool { return c.Status < 200 || c.Status > 299 }

func creation(c awsproxy.Call) bool { return c.Operation == "CreateBucket" }
