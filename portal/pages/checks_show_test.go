package pages

import (
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/operator"
)

// checkedInvoices returns the operator's checks of a bucket that it has repaired.
func checkedInvoices() operator.Checks {
	return operator.Checks{State: operator.Checked, Resource: operatorapi.Resource{Record: operatorapi.Record{
		Kind: "S3Bucket", Namespace: "payments", Name: "invoices", UID: "uid-invoices",
		LastChecked: noon.Add(-4 * time.Minute), NextCheck: new(noon.Add(56 * time.Minute)), Reason: "InSync",
		Passes: 14,
		LastPlan: &operatorapi.Plan{At: noon.Add(-140 * time.Minute), Actions: []operatorapi.Action{
			{Call: "PutBucketVersioning", Why: "versioning Suspended → Enabled"}, {Call: "PutBucketTagging", Why: "tag <b>cost</b> none → 42"},
		}},
	}}}
}

func TestChecksInWords(t *testing.T) {
	with := func(change func(*operator.Checks)) operator.Checks {
		c := checkedInvoices()
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		checks operator.Checks
		words  []string
	}{
		"in sync": {
			checkedInvoices(),
			[]string{
				`title="21 November 2026, 11:56:00 UTC" data-age="ago">4 min ago<`, "in sync, <time",
				`data-age="in">in 56 min<`, "<dd>14", "PutBucketVersioning", "2 h ago", "&lt;b&gt;cost",
			},
		},
		"nobody answers": {operator.Checks{State: operator.Unknown}, []string{"Unknown: the operator does not answer"}},
		"not yet":        {operator.Checks{State: operator.Unchecked}, []string{"The operator has started again since its last check"}},
		"one failure": {
			with(func(c *operator.Checks) { c.Failures, c.NextCheck, c.Reason = 1, nil, "TimedOut" }),
			[]string{"timed out", "14, of which the last failed", "soon, and after each failure"},
		},
		"failures": {with(func(c *operator.Checks) { c.Failures = 3 }), []string{"14, of which the last 3 failed"}},
		"due":      {with(func(c *operator.Checks) { c.NextCheck = new(noon.Add(-time.Second)) }), []string{`data-age="in">now<`}},
		"no plan":  {with(func(c *operator.Checks) { c.LastPlan = nil }), []string{"in sync"}},
		"a queue": {
			with(func(c *operator.Checks) { c.Live = map[string]string{"messages": "3", "messagesInFlight": "2"} }),
			[]string{"<dt>Messages</dt><dd>3 ", "<dt>Messages in flight</dt><dd>2 "},
		},
		"AWS refuses": {with(func(c *operator.Checks) { c.LiveError = "SQS GetQueueAttributes: AccessDenied" }), []string{"SQS GetQueueAttributes: AccessDenied."}},
	} {
		t.Run(name, func(t *testing.T) {
			f := busySite(t)
			f.checks["invoices"] = c.checks
			_, card, _ := strings.Cut(visit(t, f, developer, "/teams/payments/s3buckets/invoices").Body.String(),
				`aria-labelledby="checks"`)
			for _, w := range c.words {
				if !strings.Contains(card, w) {
					t.Errorf("the page does not say %q:\n%s", w, card)
				}
			}
		})
	}
}

func TestChecksAreAskedForWhereTheyShow(t *testing.T) {
	f := busySite(t)
	for path, want := range map[string]bool{
		"/teams/payments/s3buckets/invoices": true, "/teams/payments/s3buckets/invoices?tab=yaml": false,
		"/teams/payments/s3buckets/exports": true,
	} {
		if got := strings.Contains(visit(t, f, developer, path).Body.String(), ">Checks</h2>"); got != want {
			t.Errorf("%s shows checks: %v", path, got)
		}
	}
	f.denied = []string{"get payments"}
	if w := visit(t, f, developer, "/teams/payments/s3buckets/invoices"); w.Code != 403 ||
		strings.Contains(w.Body.String(), "PutBucket") {
		t.Errorf("without access %d", w.Code)
	}
}
