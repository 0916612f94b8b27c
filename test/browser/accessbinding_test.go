//go:build browser

package browser

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// TestAPermissionIsRequestedInTheBrowser requests permissions for Pods, in an account that allows that, watches the
// request become Ready, and deletes it.
func TestAPermissionIsRequestedInTheBrowser(t *testing.T) {
	if err := world.MakeIdentity(t.Context(), world.OutsideAWS(), stack.AccountID); err != nil {
		t.Fatal(err)
	}
	c, provider := platform(t), &v1alpha1.AWSProvider{}
	provider.Name = stack.Provider
	gives := func(merge string) {
		if err := c.Patch(t.Context(), provider, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
			t.Fatal(err)
		}
	}
	gives(`{"spec":{"workloadIdentity":{"mode":"PodIdentity","clusterName":"` + stack.ClusterName +
		`","boundaryARN":"` + stack.BoundaryARN(stack.AccountID) + `"}}}`)

	hands := &corev1.ServiceAccount{}
	hands.Namespace, hands.Name = "payments", "worker"
	if err := c.Create(t.Context(), hands); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), hands); err != nil {
			t.Error(err)
		}
	})

	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo("/teams/payments/new/accessbindings")
	x.every("form-accessbindings")
	x.fill(`[name="metadata.name"]`, "worker")
	x.fill(`[name="spec.serviceAccountName"]`, "worker")
	x.reviews("Looks good.")
	x.click(`button[value="create"]`)
	x.awaitPath("/teams/payments/accessbindings/worker")
	x.await(`#body`, "portico-pods-payments-") // the permissions take effect some seconds later
	x.await(`#status`, "Ready")
	x.every("detail-accessbindings")
	// an edit triggers a check of the account
	gives(`{"spec":{"workloadIdentity":{"oidcProviderARN":"` + stack.OIDCProviderARN(stack.AccountID) + `"}}}`)
	adminSeesRights(t, c)
	x.discards("accessbindings", "worker")
	gives(`{"spec":{"workloadIdentity":null}}`)
}

// adminSeesRights opens the page with the permissions of all teams' Pods and the quotas of the account. The role was
// last used long ago.
func adminSeesRights(t *testing.T, c client.Client) {
	t.Helper()
	worker := &v1alpha1.AccessBinding{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "payments", Name: "worker"}, worker); err != nil {
		t.Fatal(err)
	}
	world.Proxy.UseRole(worker.Status.RoleARN, time.Now().Add(-100*24*time.Hour), stack.Region)
	queue := &v1alpha1.SQSQueue{}
	queue.Namespace, queue.Name, queue.Spec.ProviderRef.Name = "payments", "orders", stack.Provider
	if err := c.Create(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), queue); err != nil {
			t.Error(err)
		}
	})
	bound := client.RawPatch(types.MergePatchType,
		[]byte(`{"spec":{"resources":[{"kind":"SQSQueue","name":"orders","access":"Read"}]}}`))
	if err := c.Patch(t.Context(), worker, bound); err != nil {
		t.Fatal(err)
	}
	admin := open(t)
	admin.signIn("platform-admin", "_platform")
	admin.goTo("/admin")
	admin.click(`a[href="/admin/rights"]`)
	admin.awaitPath("/admin/rights")
	admin.await(`#platform .accounts`, "1 of 5000")
	admin.await(`#platform .rights`, "Unused")
	admin.await(`#platform .rights`, "receive and delete its messages")
	admin.awaitGone(`#platform .rights td:first-child .state`) // Ready is not shown
	admin.await(`#live`, "Live")
	admin.every("admin-rights")
	admin.goTo("/admin/rights?status=unused")
	admin.await(`#platform`, "by worker of payments")
	admin.goTo("/admin/rights?q=nobody")
	admin.await(`#platform`, "Nothing matches")
}
