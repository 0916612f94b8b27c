package pages

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/web/views"
)

// Deleted returns what the test prepared, to callers who can list buckets.
func (f *fakeCluster) Deleted(ctx context.Context, id auth.Identity, namespace string) (operator.Deleted, error) {
	k, _ := f.Kinds.ByName("S3Bucket")
	return f.left, f.Rights.Require(ctx, id, "list", catalog.Ref{Kind: k, Namespace: namespace})
}

const (
	atDeleted   = "/teams/payments/deleted"
	snapshotARN = "arn:aws:rds:eu-west-1:123456789012:snapshot:ledger-final-1a2b3c4d"
	keptARN     = "arn:aws:s3:::payments-invoices"
)

// leftovers returns a site with a deleted database and a kept bucket of another region.
func leftovers(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := newFake(tb)
	taken := noon.Add(-3 * time.Hour)
	f.left = operator.Deleted{Known: true, DeletedList: operatorapi.DeletedList{Items: []operatorapi.Deleted{
		{
			Kind: "RDSInstance", Name: "ledger", ID: "ledger-final-1a2b3c4d", ARN: snapshotARN,
			Facts: "postgres 16.3, 40 GiB", Provider: "aws-prod", Account: "123456789012", Region: "eu-west-1",
			Snapshot: true, Taken: &taken,
			Fields: map[string]string{
				"engine": "postgres", "masterUsername": "owner", "allocatedStorage": "40",
				"restoreFrom.snapshotIdentifier": "ledger-final-1a2b3c4d",
			},
		},
		{
			Kind: "S3Bucket", Name: "invoices", ID: "payments-invoices", ARN: keptARN, Provider: "aws-prod",
			Account: "123456789012", Region: "us-east-1",
			Fields: map[string]string{"bucketName": "payments-invoices"},
		},
	}}}
	return f
}

func TestWhatIsLeftOfDeletedResourcesIsShown(t *testing.T) {
	page := visit(t, leftovers(t), developer, atDeleted).Body.String()
	lacks(t, page, "Deleted resources · payments", "<b>ledger</b>", "Snapshot, taken", "3 h ago",
		"<code>ledger-final-1a2b3c4d</code>", "postgres 16.3, 40 GiB", "Restore…",
		"<b>invoices</b>", "Kept in AWS", "us-east-1", "Manage again…",
		`href="/teams/payments/new/s3buckets?restore=`+url.QueryEscape(keptARN)+`"`)
	if list := visit(t, leftovers(t), developer, "/teams/payments").Body.String(); !strings.Contains(
		list, `href="`+atDeleted+`"`) {
		t.Error("the list of resources does not lead there")
	}
}

func TestWhatIsNotKnownOfDeletedResourcesIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		change      func(*fakeCluster)
		says, lacks string
		refresh     bool
	}{
		"nothing is left":      {func(f *fakeCluster) { f.left.Items = nil }, "Nothing left in AWS", "not complete", false},
		"the operator is away": {func(f *fakeCluster) { f.left = operator.Deleted{} }, "operator does not answer", "Nothing left", false},
		"AWS takes its time":   {func(f *fakeCluster) { f.left.Items, f.left.Pending = nil, true }, "AWS has not answered yet", "Nothing left", true},
		"one account refuses":  {func(f *fakeCluster) { f.left.Problems = []string{"AWS account aws-dev: denied"} }, "<li>AWS account aws-dev: denied.</li>", "Nothing left", false},
		"all accounts refuse": {
			func(f *fakeCluster) { f.left.Items, f.left.Problems = nil, []string{"AWS account aws-dev: denied"} },
			"Nothing was found in the AWS accounts and regions that answered", "Nothing left", false,
		},
		"the name is in use":         {func(f *fakeCluster) { f.left.Items[1].NameInUse = true }, "There is a bucket named invoices again.", "Manage again", false},
		"who cannot request":         {func(f *fakeCluster) { f.denied = []string{"create rdsinstances payments"} }, "<b>ledger</b>", "Restore…", false},
		"a kind of a newer operator": {func(f *fakeCluster) { f.left.Items[0].Kind = "Lake" }, "<b>invoices</b>", "ledger", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := leftovers(t)
			c.change(f)
			w := visit(t, f, developer, atDeleted)
			answers(t, w, http.StatusOK, c.says, c.lacks)
			if refresh := w.Header().Get("Refresh"); (refresh != "") != c.refresh {
				t.Errorf("Refresh = %q, want one: %v", refresh, c.refresh)
			}
		})
	}
	f := leftovers(t)
	f.denied = []string{"list s3buckets payments"}
	if w := visit(t, f, developer, atDeleted); w.Code != http.StatusForbidden ||
		strings.Contains(w.Body.String(), "ledger") {
		t.Errorf("who can list nothing gets %d", w.Code)
	}
}

func TestTheFormBeginsWithWhatIsLeft(t *testing.T) {
	f := leftovers(t)
	form := visit(t, f, developer, views.RestorePath("payments", "rdsinstances", snapshotARN)).Body.String()
	lacks(t, form, `value="ledger"`, `value="ledger-final-1a2b3c4d"`, `value="owner"`, `value="40"`)
	form = visit(t, f, developer, views.RestorePath("payments", "s3buckets", keptARN)).Body.String()
	lacks(t, form, `value="invoices"`, `value="payments-invoices"`, `value="us-east-1"`,
		`<option value="Retain" selected>`)
	f.left.Items[0].NameInUse = true
	if form := visit(t, f, developer, views.RestorePath(
		"payments", "rdsinstances", snapshotARN)).Body.String(); strings.Contains(form, `value="ledger"`) {
		t.Error("the name that is in use is filled in")
	}
	for name, path := range map[string]string{
		"what is not left": views.RestorePath("payments", "s3buckets", "arn:aws:s3:::others"),
		"another kind":     views.RestorePath("payments", "s3buckets", snapshotARN),
	} {
		if w := visit(t, f, developer, path); w.Code != http.StatusSeeOther || w.Header().Get("Location") != atDeleted {
			t.Errorf("%s: %d, to %s", name, w.Code, w.Header().Get("Location"))
		}
	}
}
