//go:build browser

package browser

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/portico-platform/portico/test/tiers"
)

const bucketQuota = corev1.ResourceName("count/s3buckets.portico.dev")

// allowNoBuckets gives payments a quota of no buckets until the test ends, and sets the quota's status.
func allowNoBuckets(t *testing.T) {
	t.Helper()
	quotas := kubernetes.NewForConfigOrDie(world.Admin).CoreV1().ResourceQuotas("payments")
	none := corev1.ResourceList{bucketQuota: *resource.NewQuantity(0, resource.DecimalSI)}
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	made, err := quotas.Create(t.Context(), q, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := quotas.Delete(context.Background(), "team", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	made.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	if _, err := quotas.UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil &&
		!apierrors.IsConflict(err) {
		t.Fatal(err)
	}
}

// TestAdminOverviewFollowsWhatTeamsDo watches the overview as an admin while a team requests a bucket, and follows the
// links from its numbers.
func TestAdminOverviewFollowsWhatTeamsDo(t *testing.T) {
	tiers.Long(t)
	admin, x := open(t), open(t)
	admin.signIn("platform-admin", "_platform")
	admin.click(`.nav a[href="/admin"]`)
	admin.awaitPath("/admin")
	admin.await(`#controllers`, "leader")
	admin.await(`#providers`, "aws-local")
	admin.await(`#live`, "Live")
	admin.mark()
	x.signIn("payments-dev", "payments")
	bucket := x.request("watched", "payments-watched-1", "")
	admin.await(`#health-of-payments`, "1")
	x.alsoHas("timed-1", "timed-2", "timed-3", "timed-4")
	admin.await(`#times li:has(figure rect) .figures`, "measured")
	admin.await(`#services`, "S3")
	admin.stillMarked()
	admin.every("overview")
	admin.click(`#health-of-payments a[href="/teams/-?kind=s3buckets&status=ready&team=payments"]`)
	admin.awaitPath("/teams/-")
	admin.await(`#r-s3buckets-payments__watched`, "Ready")
	admin.every("all-teams")
	admin.goTo("/teams")
	admin.await(`#team-payments`, "Ready")
	admin.every("teams")
	admin.goTo("/admin/claims")
	admin.await(`#platform`, "claim")
	admin.goTo("/admin/quotas")
	admin.await(`#platform`, "No team has a ResourceQuota")
	admin.goTo("/admin/calls?service=S3")
	admin.await(`#services`, "S3")
	admin.every("admin-calls")
	admin.goTo("/teams/_platform/awsproviders/aws-local/delete")
	admin.await(`main`, "until nothing uses it any more")
	admin.every("delete-provider")
	x.goTo("/admin")
	x.await(`main`, "list domainclaims")
	x.every("no-access")
	x.deletes("watched", bucket)
}

// alsoHas requests buckets for payments, which are deleted when the test ends, and waits until they are Ready. The
// overview needs five to show how long one takes.
func (x *tab) alsoHas(names ...string) {
	x.t.Helper()
	buckets := bucketsAs(x.t, "payments-dev")
	x.goTo(list)
	for _, name := range names {
		request(x.t, buckets, name, "", nil)
		x.t.Cleanup(func() { remove(x.t, buckets, name) })
	}
	for _, name := range names {
		x.awaitRow(name, "Ready")
	}
}

// TestTeamPageAndCatalogTellTheQuota checks that both pages show what is left, that a full quota removes the link to
// the form during live updates, and that admins see it in the list of quotas.
func TestTeamPageAndCatalogTellTheQuota(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo("/teams/payments/catalog")
	x.await(`#tile-s3buckets`, "Request a bucket")
	x.mark()
	allowNoBuckets(t)
	x.await(`#tile-s3buckets`, "0 of 0 left")
	x.await(`#tile-s3buckets`, "as many as its quota allows")
	x.stillMarked()
	x.every("catalog-full")
	x.press(kb.Home)
	x.goTo("/teams/payments")
	x.tabTo(`.nav a[href="/teams/payments/about"]`)
	x.press(kb.Enter)
	x.awaitPath("/teams/payments/about")
	x.await(`#quotas`, "0 of 0, full")
	x.await(`#members`, "portico-developer")
	x.await(`#allowed`, "aws-local")
	x.await(`#tool-cli`, "portico login "+world.PortalURL)
	x.click(`#tool-kubectl-fold > summary`)
	x.every("about")
	admin := open(t)
	admin.signIn("platform-admin", "_platform")
	admin.goTo("/admin/quotas")
	admin.await(`#platform`, "0 of 0, full")
	admin.every("admin-quotas")
}

// TestTeamsAndOverviewWithoutJavaScript checks that the pages are complete, and that their filters are forms.
func TestTeamsAndOverviewWithoutJavaScript(t *testing.T) {
	x := open(t)
	x.signIn("platform-admin", "_platform")
	x.scripts(false)
	x.goTo("/admin")
	x.awaitAnew(`#controllers`, "leader") // until the operator has announced its address
	x.goTo("/teams")
	x.fill(`[name="q"]`, "pay")
	x.click(`.filters button`)
	x.awaitAsked("q=pay")
	x.await(`#teams`, "payments")
	if strings.Contains(x.text(`#teams`), "search") {
		t.Errorf("the search finds other teams:\n%s", x.text(`#teams`))
	}
	x.goTo("/teams/-")
	x.do(chromedp.SetValue(chromedp.CSS(`select[name="by"]`), "me"))
	x.click(`.filters button`)
	x.awaitAsked("by=me")
}
