package pages

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/pages/page"
)

// quota returns a quota; with used "" it has not been counted yet.
func quota(namespace, of, used, hard string) corev1.ResourceQuota {
	is := func(text string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceName(of): apiresource.MustParse(text)}
	}
	q := corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "team"}, Spec: corev1.ResourceQuotaSpec{Hard: is(hard)},
	}
	if used != "" {
		q.Status.Used = is(used)
	}
	return q
}

// binding returns a RoleBinding in payments.
func binding(name, role string, subject rbacv1.Subject) rbacv1.RoleBinding {
	return rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: name}, Subjects: []rbacv1.Subject{subject},
		RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: role},
	}
}

// platformSite returns a platform with two teams, one of them with problems, and an operator that answers.
func platformSite(tb testing.TB) *fakeCluster {
	tb.Helper()
	f := hostnameSite(tb)
	f.objects = append(f.objects, slices.DeleteFunc(busySite(tb).objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == page.ProviderKind // it already exists
	})...)
	f.objects = append(f.objects,
		object(tb, strings.NewReplacer("namespace: payments", "namespace: search", "invoices", "index").Replace(
			readyBucket)))
	for i := range 4 {
		f.objects = append(f.objects,
			object(tb, strings.NewReplacer("namespace: payments", "namespace: search", "invoices", fmt.Sprintf(
				"index-%d", i)).Replace(readyBucket)))
	}
	f.checks = map[string]operator.Checks{
		"aws-prod": {State: operator.Checked, Resource: operatorapi.Resource{
			Record: operatorapi.Record{LastChecked: noon.Add(-3 * time.Minute)},
		}},
	}
	f.work = operator.Work{Known: true, Leader: "portico-operator-7d9c_1f3a", Activity: operatorapi.Activity{
		Since: noon.Add(-50 * time.Hour),
		Controllers: []operatorapi.Controller{
			{Name: "s3bucket", Queued: 2, Running: 1, Workers: 8, Passes: 1204, Failures: 3, LongestSeconds: 4},
			{Name: "webapp", Workers: 4},
			{Name: "domainclaim", Workers: 4},
		},
		Services: []operatorapi.Service{{Name: "Route 53", Calls: 40, Throttled: 7}, {Name: "S3", Calls: 900}},
	}}
	for i := range int64(40) {
		span := operator.Span{
			At: noon.Add(time.Duration(i-40) * time.Minute), Known: i != 12,
			Services: map[string]operatorapi.Service{
				"S3": {Name: "S3", Calls: i * i % 17}, "Route 53": {Name: "Route 53", Calls: i % 3, Throttled: i / 39},
			},
		}
		f.spans = append(f.spans, span)
	}
	f.Spaces.Quotas = []corev1.ResourceQuota{
		quota("payments", "count/s3buckets.portico.dev", "5", "5"), quota("payments", "requests.cpu", "1500m", "4"),
		quota("search", "count/rdsinstances.portico.dev", "3", "10"), quota("search", "pods", "", "20"),
	}
	f.Spaces.Bindings = []rbacv1.RoleBinding{
		binding("developers", "portico-developer", rbacv1.Subject{Kind: "Group", Name: "oidc:team-payments"}),
		binding("ci", "portico-developer", rbacv1.Subject{Kind: "ServiceAccount", Name: "ci", Namespace: "payments"}),
		binding("audit", "portico-viewer", rbacv1.Subject{Kind: "User", Name: "oidc:auditor"}),
	}
	return f
}

func platformWith(change func(*fakeCluster)) func(testing.TB) *fakeCluster {
	return func(tb testing.TB) *fakeCluster {
		tb.Helper()
		f := platformSite(tb)
		change(f)
		return f
	}
}

func TestOverviewTellsHowThePlatformIs(t *testing.T) {
	away := platformWith(func(f *fakeCluster) { f.work = operator.Work{} })
	fresh := platformWith(func(f *fakeCluster) { f.work, f.spans = operator.Work{Known: true}, nil })
	early := platformWith(func(f *fakeCluster) { f.spans = nil })
	calm := platformWith(func(f *fakeCluster) { f.objects, f.Spaces.Quotas = nil, nil })
	hidden := platformWith(func(f *fakeCluster) { f.denied = []string{"list resourcequotas "} })
	crowd := platformWith(func(f *fakeCluster) {
		for i := range 20 {
			f.objects = append(f.objects,
				object(t, strings.ReplaceAll(
					readyBucket, "namespace: payments", fmt.Sprintf("namespace: team-%02d", i))))
		}
	})
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		shows, hides string
	}{
		"counts over all teams, as a way to the list": {platformSite, `<a href="/teams/-?status=needs-you" class=""><span class="state bad">`, ""},
		"a cell's number as a way to what it counts":  {platformSite, `href="/teams/-?kind=s3buckets&amp;status=needs-you&amp;team=payments" title="Needs you"`, ""},
		"the team with trouble first":                 {platformSite, `id="health-of-payments"`, ""},
		"what fails, and why":                         {platformSite, `href="/teams/payments/s3buckets/ledger-archive"`, ""},
		"a stuck deletion":                            {platformSite, `id="leaving-s3buckets-payments_-import-tmp"`, ""},
		"and its finalizers":                          {platformSite, `<code>example.org/backup</code>`, ""},
		"time to ready":                               {platformSite, "Half within 2 s, 95 % within 2 s, of 6.", ""},
		"as figures for those who do not see it":      {platformSite, `<tr><th scope="row">≤ 2 s</th><td>6</td></tr>`, ""},
		"no measurements":                             {calm, "Not enough data yet (needs 5 resources that became ready): bucket, ", "<figure"},
		"who leads":                                   {platformSite, "<code>portico-operator-7d9c_1f3a</code>", ""},
		"how many passes fail":                        {platformSite, "3 of 1204, 0.2 %", ""},
		"a controller's resources":                    {platformSite, `<a href="/teams/-?kind=webapps">webapp</a>`, ""},
		"claims, which have a tab of their own":       {platformSite, `<a href="/admin/claims">domainclaim</a>`, ""},
		"a controller that has done nothing":          {platformSite, "none yet", ""},
		"what waits":                                  {platformSite, `data-label="Waiting">2<`, ""},
		"an operator that is away is no quiet one":    {away, "what its controllers do is not known now", "Waiting"},
		"calls that were seen before it went":         {away, "Calls to S3 a minute", ""},
		"throttling":                                  {platformSite, "1 throttled", ""},
		"calls of a portal that has just started":     {fresh, "AWS has not been asked yet", ""},
		"calls of which no minute is measured yet":    {early, "40 calls, 7 of them throttled since the leader started", ">0 calls<"},
		"an account and its identity":                 {platformSite, "123456789012, eu-west-1", ""},
		"when it was checked":                         {platformSite, `data-age="ago">3 min ago`, ""},
		"who uses it":                                 {platformSite, `<a href="/teams/-?provider=aws-prod&amp;team=payments">payments (8)</a>`, ""},
		"the pool":                                    {platformSite, "35 of 40", ""},
		"claims that nobody holds":                    {platformSite, `href="/admin/claims?status=orphaned"`, ""},
		"a full quota":                                {platformSite, "5 of 5, full", ""},
		"one that is not counted yet":                 {platformSite, "not counted yet, 20 allowed", ""},
		"the fullest first":                           {platformSite, `href="/teams/payments/about">payments</a>`, ""},
		"quotas that may not be seen":                 {hidden, "lacks the right to list resourcequotas", "5 of 5"},
		"a calm platform":                             {calm, "Nothing needs anybody", `class="state bad"><svg`},
		"no teams":                                    {calm, "No team has resources yet", ""},
		"more teams than the table shows":             {crowd, ">All teams</a>", `id="health-of-team-19"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), platformAdmin, "/admin")
			body := strings.ReplaceAll(w.Body.String(), "\n", "")
			if w.Code != http.StatusOK {
				t.Errorf("status = %d, want 200", w.Code)
			}
			reads(t, body, c.shows, "")
			reads(t, after(body, `id="health"`), "", c.hides)
		})
	}
}

// after returns the text from the first mark on.
func after(text, mark string) string { return text[max(0, strings.Index(text, mark)):] }

func TestOverviewIsRefusedWhileKubernetesIsAway(t *testing.T) {
	f := platformSite(t)
	f.down = true
	if w := visit(t, f, platformAdmin, "/admin/overview"); w.Code != http.StatusServiceUnavailable {
		t.Errorf("it answers %d", w.Code)
	}
}
