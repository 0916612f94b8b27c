package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/operator"
)

// TestWhatMayNotBeSeenIsNotShownAsNone: missing rights are shown as such, and unknown values as unknown.
func TestWhatMayNotBeSeenIsNotShownAsNone(t *testing.T) {
	without := func(denied ...string) func(*fakeCluster) {
		return func(f *fakeCluster) { f.denied = denied }
	}
	noQueues := without("list sqsqueues payments")
	nothingElse := func(f *fakeCluster) {
		for _, k := range f.Kinds.Requestable() {
			if k.Plural != "webapps" {
				f.denied = append(f.denied, "list "+k.Plural+" search")
			}
		}
	}
	narrow := without("list sqsqueues ", "list sqsqueues payments")
	for name, c := range map[string]struct {
		change       func(*fakeCluster)
		as           auth.Identity
		path         string
		shows, hides string
	}{
		"a list without a kind":        {noQueues, developer, "/teams/payments", "Without what you are not allowed to list: message queue.", ""},
		"a list with all":              {without(), developer, "/teams/payments", "", "Without what you are not allowed to list"},
		"a list of that kind":          {noQueues, developer, "/teams/payments?kind=sqsqueues", `<option value="sqsqueues" selected>`, ""},
		"a list of another kind":       {noQueues, developer, "/teams/payments?kind=s3buckets", "", "Without what you are not allowed to list"},
		"a list that seems empty":      {nothingElse, developer, "/teams/search", "Nothing here that you can see", "no resources yet"},
		"the list of all teams":        {noQueues, developer, "/teams/-", "Without what you are not allowed to list: message queue of payments.", ""},
		"the list of one of all teams": {noQueues, developer, "/teams/-?team=search", "", "Without what you are not allowed to list"},
		"teams":                        {noQueues, developer, "/teams", "not counted, because you have no access to them: message queue", ""},
		"teams of which nothing is counted": {
			nothingElse, developer, "/teams",
			"not counted, because you have no access to them",
			`<span class="dim">none</span></td></tr><tr role="row" id="team-search"`,
		},
		"the table of health":           {narrow, platformAdmin, "/admin", `<span class="dim">not known</span>`, ""},
		"numbers of the whole platform": {narrow, platformAdmin, "/admin", "Without what you are not allowed to list: message queue.", ""},
		"nothing failing":               {func(f *fakeCluster) { narrow(f); f.objects = nil }, platformAdmin, "/admin", "Nothing that you have access to needs anybody", "Nothing needs anybody"},
		"providers":                     {without("list awsproviders "), platformAdmin, "/admin", "Your role lacks the right to list awsproviders.", "There is no AWSProvider"},
		"a provider that nothing visible uses": {func(f *fakeCluster) {
			narrow(f)
			f.objects = f.objects[:0]
			f.objects = append(f.objects, object(t, provider))
		}, platformAdmin, "/admin", "not used by anything that you have access to", "nobody uses it"},
		"the way to a controller's resources": {narrow, platformAdmin, "/admin", "", `kind=sqsqueues&amp;status=needs-you"`},
		"quotas":                              {without("list resourcequotas "), platformAdmin, "/admin/quotas", "lacks the right to list resourcequotas", "No team has"},
		"grants": {
			func(f *fakeCluster) { f.denied = []string{"list hostnamegrants ", "list hostnamegrants payments"} },
			platformAdmin, "/admin/grants", "You are not allowed to see all of these",
			"No team can have hostnames yet",
		},
		"calls before a minute was measured":  {func(f *fakeCluster) { f.spans = nil }, platformAdmin, "/admin/calls", "No minute has been measured since this portal started", ">0 calls<"},
		"a minute that nobody knows of":       {without(), platformAdmin, "/admin/calls?service=S3", `<span class="dim">not known</span>`, ""},
		"calls in minutes that were measured": {without(), platformAdmin, "/admin", "in 39 min", ""},
		"a service that was never asked":      {without(), platformAdmin, "/admin/calls?service=EC2", "Nothing is known of calls to EC2.", ""},
		"calls while the operator is away": {
			func(f *fakeCluster) { f.work, f.spans = operator.Work{}, nil },
			platformAdmin, "/admin/calls", "The operator does not answer.", "AWS has not been asked",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, platformWith(c.change)(t), c.as, c.path)
			body := after(strings.Join(strings.Fields(w.Body.String()), " "), `id="main"`)
			if w.Code != http.StatusOK {
				t.Errorf("status = %d, want 200", w.Code)
			}
			reads(t, body, c.shows, c.hides)
		})
	}
}
