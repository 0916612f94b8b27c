package pages

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const (
	rightsProvider = `
apiVersion: portico.dev/v1alpha1
kind: AWSProvider
metadata: {name: aws-prod, generation: 1, creationTimestamp: "2026-01-14T12:00:00Z"}
spec: {region: eu-west-1, workloadIdentity: {mode: PodIdentity, clusterName: production, boundaryARN: "arn:aws:iam::444455556666:policy/portico-pods-boundary"}}
status: {observedGeneration: 1, accountID: "444455556666", resources: 3,
  workloadIdentity: {readTime: "2026-11-21T11:20:00Z", roles: {used: 812, quota: 1000}, associations: {used: 31, quota: 5000}},
  conditions: [{type: WorkloadIdentityReady, status: "True", reason: Verified, message: what workloadIdentity names is there, lastTransitionTime: "2026-11-14T12:00:00Z"},
    {type: QuotaNearlyFull, status: "True", reason: QuotaNearlyFull, message: "the account has 812 of 1000 IAM roles", lastTransitionTime: "2026-11-20T12:00:00Z"},
    {type: Ready, status: "True", reason: InSync, message: everything is as the spec asks, lastTransitionTime: "2026-11-14T12:00:00Z"}]}
`
	rightsMissing = `
apiVersion: portico.dev/v1alpha1
kind: AWSProvider
metadata: {name: aws-test, generation: 1, creationTimestamp: "2026-01-14T12:00:00Z"}
spec: {region: eu-west-1, workloadIdentity: {mode: IRSA, oidcProviderARN: "arn:aws:iam::777788889999:oidc-provider/issuer", boundaryARN: "arn:aws:iam::777788889999:policy/portico-pods-boundary"}}
status: {observedGeneration: 1, accountID: "777788889999", resources: 0,
  workloadIdentity: {readTime: "2026-11-21T11:55:00Z"},
  conditions: [{type: WorkloadIdentityReady, status: "False", reason: AccessDenied, message: "the identity of the AWS account has no permission for iam:GetPolicy, iam:GetAccountSummary: attach docs/iam/accessbinding.json of this version of Portico to it", lastTransitionTime: "2026-11-14T12:00:00Z"},
    {type: Ready, status: "True", reason: InSync, message: everything is as the spec asks, lastTransitionTime: "2026-11-14T12:00:00Z"}]}
`
	rightsNone = `
apiVersion: portico.dev/v1alpha1
kind: AWSProvider
metadata: {name: aws-archive, generation: 1, creationTimestamp: "2026-01-14T12:00:00Z"}
spec: {region: eu-central-1}
status: {observedGeneration: 1, accountID: "222233334444", resources: 0, conditions: [{type: Ready, status: "True", reason: InSync, message: everything is as the spec asks, lastTransitionTime: "2026-11-14T12:00:00Z"}]}
`
	rightsUsed = `
apiVersion: portico.dev/v1alpha1
kind: AccessBinding
metadata: {name: worker, namespace: payments, generation: 1, creationTimestamp: "2026-02-14T12:00:00Z"}
spec: {providerRef: {name: aws-prod}, serviceAccountName: worker, resources: [{kind: SQSQueue, name: orders, access: Read}, {kind: S3Bucket, name: invoices, access: Write}]}
status: {observedGeneration: 1, mode: PodIdentity, accountID: "444455556666", clusterName: production, roleARN: "arn:aws:iam::444455556666:role/portico/payments/portico-pods-payments-0a1b2c3d4e5f",
  roleUse: {readTime: "2026-11-21T06:00:00Z", lastUsedTime: "2026-11-20T12:00:00Z", lastUsedRegion: eu-west-1},
  conditions: [{type: Ready, status: "True", reason: InSync, message: everything is as the spec asks, lastTransitionTime: "2026-11-14T12:00:00Z"}]}
`
	rightsUnused = `
apiVersion: portico.dev/v1alpha1
kind: AccessBinding
metadata: {name: nightly, namespace: search, generation: 1, creationTimestamp: "2026-02-14T12:00:00Z"}
spec: {providerRef: {name: aws-test}, serviceAccountName: cron, resources: [{kind: SNSTopic, name: found}]}
status: {observedGeneration: 1, mode: IRSA, accountID: "777788889999", roleARN: "arn:aws:iam::777788889999:role/portico/search/portico-pods-search-cron-0a1b2c3d4e5f",
  roleUse: {readTime: "2026-11-21T06:00:00Z", lastUsedTime: "2026-07-20T12:00:00Z", lastUsedRegion: us-east-1},
  conditions: [{type: Ready, status: "True", reason: InSync, message: everything is as the spec asks, lastTransitionTime: "2026-11-14T12:00:00Z"}]}
`
	rightsNever = `
apiVersion: portico.dev/v1alpha1
kind: AccessBinding
metadata: {name: old, namespace: search, generation: 1, creationTimestamp: "2026-02-14T12:00:00Z"}
spec: {providerRef: {name: aws-test}, serviceAccountName: old}
status: {observedGeneration: 1, mode: IRSA, accountID: "777788889999", roleARN: "arn:aws:iam::777788889999:role/portico/search/portico-pods-search-old-0a1b2c3d4e5f",
  roleUse: {readTime: "2026-11-21T06:00:00Z"},
  conditions: [{type: Ready, status: "True", reason: InSync, message: everything is as the spec asks, lastTransitionTime: "2026-11-14T12:00:00Z"}]}
`
	rightsNew = `
apiVersion: portico.dev/v1alpha1
kind: AccessBinding
metadata: {name: shop, namespace: payments, generation: 1, creationTimestamp: "2026-11-21T11:59:00Z"}
spec: {providerRef: {name: aws-prod}, serviceAccountName: shop, resources: [{kind: SQSQueue, name: orders}]}
status: {observedGeneration: 1, mode: PodIdentity, conditions: [{type: Ready, status: "False", reason: QuotaExceeded, message: "the account has no room for another IAM role", lastTransitionTime: "2026-11-21T11:59:10Z"},
  {type: Stalled, status: "True", reason: QuotaExceeded, message: "the account has no room for another IAM role", lastTransitionTime: "2026-11-21T11:59:10Z"}]}
`
)

// rightsSite has three accounts, and Pods of two teams with rights in them.
func rightsSite(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := newFake(tb, rightsProvider, rightsMissing, rightsNone, rightsUsed, rightsUnused, rightsNever, rightsNew)
	f.features.Known = true
	return f
}

func TestAdminsSeeWhatPodsMayDo(t *testing.T) {
	none := func(tb testing.TB) *fakeCluster {
		tb.Helper()
		f := rightsSite(tb)
		f.objects = nil
		return f
	}
	many := func(tb testing.TB) *fakeCluster {
		tb.Helper()
		f := rightsSite(tb)
		for i := range 120 {
			f.objects = append(f.objects,
				object(tb, strings.ReplaceAll(rightsUsed, "worker", fmt.Sprintf("worker-%03d", i))))
		}
		return f
	}
	elsewhere := func(tb testing.TB) *fakeCluster {
		tb.Helper()
		f := rightsSite(tb)
		f.objects = append(f.objects,
			object(tb, strings.NewReplacer("aws-prod", "aws-data", "clusterName: production",
				"clusterProviderRef: {name: aws-prod}").Replace(rightsProvider)))
		return f
	}
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		path         string
		shows, hides string
	}{
		"a cluster elsewhere":           {elsewhere, "/admin/rights", "EKS Pod Identity, cluster of the AWS account aws-prod", ""},
		"the way to it":                 {rightsSite, "/admin", `<a href="/admin/rights">Rights of Pods</a>`, ""},
		"how Pods get rights":           {rightsSite, "/admin/rights", "EKS Pod Identity, cluster production", ""},
		"a quota":                       {rightsSite, "/admin/rights", `max="1000" value="812">812 of 1000</progress>`, ""},
		"one that is nearly full":       {rightsSite, "/admin/rights", "The account has 812 of 1000 IAM roles", ""},
		"a permission that is missing":  {rightsSite, "/admin/rights", "no permission for iam:GetPolicy, iam:GetAccountSummary", ""},
		"an account without rights":     {rightsSite, "/admin/rights", "aws-archive", ""},
		"what Pods may do":              {rightsSite, "/admin/rights", "Message queue: receive and delete its messages", ""},
		"the role":                      {rightsSite, "/admin/rights", "<code>portico-pods-payments-0a1b2c3d4e5f</code>", ""},
		"a role that is shared":         {rightsSite, "/admin/rights", "with all Pods of payments", "with all Pods of search"},
		"what nobody uses":              {rightsSite, "/admin/rights?status=unused", "2 of 4 ServiceAccounts", "portico-pods-payments"},
		"what nobody has ever used":     {rightsSite, "/admin/rights?status=unused", "never, as far as AWS remembers", "not known yet"},
		"what is not known":             {rightsSite, "/admin/rights?q=shop", "not known yet", "Unused</span>"},
		"why some have none":            {rightsSite, "/admin/rights", "The account has no room for another IAM role", ""},
		"a search by resource":          {rightsSite, "/admin/rights?q=payments+orders", "2 of 4 ServiceAccounts", "cron"},
		"a search for nothing":          {rightsSite, "/admin/rights?q=nothing", "Nothing matches", "portico-pods"},
		"no rights at all":              {none, "/admin/rights", "No Pod has rights in AWS", "<table"},
		"no account at all":             {none, "/admin/rights", "No AWS account yet", "<table"},
		"on the page of a permission":   {rightsSite, "/teams/payments/accessbindings/worker", "<dt>Role last used</dt>", ""},
		"on that of one never used":     {rightsSite, "/teams/search/accessbindings/old", "portico-pods-search-old", "Role last used"},
		"more than a page holds":        {many, "/admin/rights", "124 ServiceAccounts, page 1 of 3", "worker-119"},
		"the filter goes with the page": {many, "/admin/rights?q=worker&page=2", "page 2 of 3", "cron"},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), platformAdmin, c.path)
			answers(t, w, http.StatusOK, c.shows, "")
			reads(t, mainOf(t, w.Body.String()), "", c.hides)
		})
	}
	for _, path := range []string{"/admin/rights", "/admin/live?tab=rights"} {
		w := visit(t, rightsSite(t), developer, path)
		if w.Code != 403 || strings.Contains(w.Body.String(), "portico-pods") {
			t.Errorf("%s answers a developer %d:\n%s", path, w.Code, w.Body)
		}
	}
}
