package pages

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
	"github.com/portico-platform/portico/portal/cluster/failure"
)

const atHistory = atInvoices + "?tab=history"

// pastSite returns a site whose bucket invoices is of generation 5 and has a history with a gap.
func pastSite(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := busySite(tb)
	f.objects[0].SetGeneration(5)
	spec := func(more ...any) map[string]any {
		all := map[string]any{
			"providerRef": map[string]any{"name": "aws-prod"}, "deletionPolicy": "Delete",
			"tags": map[string]any{"cost": "42", "team": "payments"},
		}
		for i := 0; i < len(more); i += 2 {
			all[more[i].(string)] = more[i+1]
		}
		return all
	}
	f.versions = map[string][]cluster.Version{"invoices": {
		{Generation: 5, By: "oidc:payments-dev", With: "kubectl-edit", At: noon.Add(-time.Hour), Spec: spec("versioning", "Enabled")},
		{Generation: 2, With: "", At: noon.Add(-48 * time.Hour), Spec: spec("versioning", "Suspended", "deletionPolicy", "Retain")},
		{
			Generation: 1, By: "oidc:ci-deploy", With: "argocd-controller", At: noon.Add(-72 * time.Hour),
			Spec: spec("versioning", "Enabled", "deletionPolicy", "Retain", "bucketName", "older", "tags",
				map[string]any{"cost": "7"}),
		},
	}}
	return f
}

func TestTheHistoryTellsWhoChangedWhatAndHow(t *testing.T) {
	page := visit(t, pastSite(t), developer, atHistory).Body.String()
	lacks(t, page, "Changed by Payments Developer (payments-dev)", "With kubectl.", "1 h ago", "Current",
		"2 changes before this one were not recorded, so what they changed is listed here too.",
		"<dt>Deletion policy</dt>", "<code>Retain</code>", "<code>Delete</code>",
		"Changed by an unknown user", "Requested by ci-deploy", "By Argo CD.", `href="`+editing1+`?back=2"`,
		`href="`+editing1+`?back=1"`)
	if strings.Contains(page, "back=5") || strings.Contains(page, "not recorded yet") ||
		strings.Contains(page, "Older ones are gone") {
		t.Errorf("the page offers the way back to what holds, or misses something that is there:\n%s", page)
	}
}

func TestWhatIsNotInTheHistoryIsSaid(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*fakeCluster)
		says   string
	}{
		"nothing is there": {func(f *fakeCluster) { f.versions = nil }, "No history yet"},
		"the last change":  {func(f *fakeCluster) { f.objects[0].SetGeneration(6) }, "The latest change is not recorded yet."},
		"the last changes": {func(f *fakeCluster) { f.objects[0].SetGeneration(8) }, "The latest 3 changes are not recorded yet."},
		"one that is too large": {func(f *fakeCluster) {
			f.objects[0].SetGeneration(6)
			_ = unstructured.SetNestedField(f.objects[0].Object, int64(6), "status", "recordedGeneration")
		}, "The latest change is not recorded: its settings are too large."},
		"the first one": {func(f *fakeCluster) {
			f.versions["invoices"] = f.versions["invoices"][:2]
		}, "1 change before this one was not recorded."},
		"what is too old": {func(f *fakeCluster) {
			all := f.versions["invoices"][:1]
			for i := range int64(9) {
				all = append(all, cluster.Version{Generation: 4 - i + 20, Spec: all[0].Spec})
			}
			f.versions["invoices"] = all
		}, "Portico keeps the last 10 versions."},
		"a change of nothing": {func(f *fakeCluster) {
			f.versions["invoices"][1].Generation, f.versions["invoices"][1].Spec = 4, f.versions["invoices"][0].Spec
		}, "Nothing that you can set is different."},
	} {
		f := pastSite(t)
		row.change(f)
		if page := visit(t, f, developer, atHistory).Body.String(); !strings.Contains(page, row.says) {
			t.Errorf("%s: the page lacks %q", name, row.says)
		}
	}
}

func TestAHistoryIsForThoseWhoMayReadTheObject(t *testing.T) {
	f := pastSite(t)
	f.denied = []string{"get payments"}
	for _, path := range []string{atHistory, editing1 + "?back=1"} {
		if w := visit(t, f, developer, path); w.Code != http.StatusForbidden ||
			strings.Contains(w.Body.String(), "Retain") {
			t.Errorf("%s answers %d:\n%s", path, w.Code, w.Body)
		}
	}
	f = pastSite(t)
	f.denied = []string{"update payments", "patch payments"}
	if page := visit(t, f, developer, atHistory).Body.String(); strings.Contains(page, "Back to this") ||
		!strings.Contains(page, "Changed by") {
		t.Errorf("a viewer is offered the way back, or sees nothing:\n%s", page)
	}
	if w := visit(t, f, developer, editing1+"?back=1"); w.Code != http.StatusForbidden {
		t.Errorf("a viewer's way back answers %d", w.Code)
	}
}

func TestBackToAnEarlierVersionIsReviewedAndThenApplied(t *testing.T) {
	f := pastSite(t)
	w := visit(t, f, developer, editing1+"?back=1")
	review := w.Body.String()
	lacks(t, review, "Bucket name keeps its value (not set). It cannot be changed: S3 cannot rename a bucket.",
		"Apply the change",
		`<del class="minus">-     team: payments`)
	if w.Code != 200 || catalog.TextAt(f.objects[0], "spec", "tags", "team") != "payments" {
		t.Fatalf("answers %d, and has changed something", w.Code)
	}
	w = post(t, f, editing1, pressing(t, review, "create"))
	if at := w.Header().Get("Location"); w.Code != 303 || at != atInvoices+"?applied=6" {
		t.Fatalf("answers %d to %q:\n%s", w.Code, at, w.Body)
	}
	if got := catalog.TextAt(f.objects[0], "spec", "tags", "cost") + catalog.TextAt(
		f.objects[0], "spec", "tags", "team") + catalog.TextAt(f.objects[0], "spec", "bucketName"); got != "7" {
		t.Errorf("it became %q", got)
	}
}

func TestAnotherChangeWhileSomebodyGoesBackIsAConflict(t *testing.T) {
	f := pastSite(t)
	review := visit(t, f, developer, editing1+"?back=1").Body.String()
	f.objects[0].SetGeneration(6)
	f.objects[0].Object["spec"].(map[string]any)["versioning"] = "Suspended"
	w := post(t, f, editing1, pressing(t, review, "create"))
	lacks(t, w.Body.String(), "Somebody else changed invoices while you edited it.")
	if got := catalog.TextAt(f.objects[0], "spec", "tags", "cost"); got != "42" {
		t.Errorf("it was changed to %q", got)
	}
}

func TestBackToWhatIsNotRecordedLeadsToTheHistory(t *testing.T) {
	for _, to := range []string{"3", "x", "99999999999999999999"} {
		if w := visit(t, pastSite(t), developer, editing1+"?back="+to); w.Code != 303 ||
			w.Header().Get("Location") != atHistory {
			t.Errorf("%s answers %d to %q", to, w.Code, w.Header().Get("Location"))
		}
	}
}

func TestBackOfWhatIsBeingDeletedSaysSo(t *testing.T) {
	f := pastSite(t)
	f.objects[0].SetGeneration(6) // as Kubernetes counts a deletion
	f.objects[0].SetDeletionTimestamp(&metav1.Time{Time: noon})
	lacks(t, visit(t, f, developer, editing1+"?back=1").Body.String(), "invoices is being deleted, and this changes "+
		"nothing about it.")
	if page := visit(t, f, developer, atHistory).Body.String(); strings.Contains(page, "back=5") {
		t.Error("the page does not know which version holds")
	}
}

func TestAHistoryThatCannotBeReadIsNoEmptyOne(t *testing.T) {
	f := pastSite(t)
	f.forgetful = &failure.UnavailableError{Doing: "reading the history", Cause: errors.New("no route")}
	for _, path := range []string{atHistory, editing1 + "?back=1"} {
		if w := visit(t, f, developer, path); w.Code != http.StatusServiceUnavailable ||
			strings.Contains(w.Body.String(), "No history yet") {
			t.Errorf("%s answers %d", path, w.Code)
		}
	}
}

// TestNoWayBackToAVersionThatNeverServed: the way back to others stays, also to those with today's image.
func TestNoWayBackToAVersionThatNeverServed(t *testing.T) {
	f := shopSite(t)
	spec := func(tag string) map[string]any {
		return map[string]any{"image": "registry.example.com/payments/shop:" + tag, "port": int64(8080)}
	}
	f.versions = map[string][]cluster.Version{"shop": {
		{Generation: 4, By: "oidc:payments-dev", At: noon, Spec: spec("1.4.3")},
		{Generation: 3, By: "oidc:payments-dev", At: noon, Spec: spec("1.4.3")},
		{Generation: 2, By: "oidc:payments-dev", At: noon, Spec: spec("1.4.0")},
		{Generation: 1, By: "oidc:payments-dev", At: noon, Spec: spec("1.4.2")},
	}}
	newest := f.objects[0].Object["status"].(map[string]any)["revisions"].([]any)[0].(map[string]any)
	newest["neverAvailable"] = true
	page := visit(t, f, developer, atShop+"?tab=history").Body.String()
	for generation, back := range map[string]bool{"4": false, "3": true, "2": false, "1": true} {
		if got := strings.Contains(page, `href="`+atShop+`/edit?back=`+generation+`"`); got != back {
			t.Errorf("a way back to generation %s: %v, want %v", generation, got, back)
		}
	}
	if n := strings.Count(page, "It never served: none of its replicas became available."); n != 1 {
		t.Errorf("%d versions are said never to have served:\n%s", n, page)
	}
}
