package pages

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/operator"
)

func TestAdminPages(t *testing.T) {
	off := hostnameWith(func(f *fakeCluster) {
		f.features = operator.Features{
			Known: true, Features: operatorapi.Features{Items: []operatorapi.Feature{
				{Name: "hostnames", Why: "there is no GatewayClass"}, {Name: "other", On: true},
			}},
		}
	})
	away := hostnameWith(func(f *fakeCluster) { f.features = operator.Features{} })
	signInAway := hostnameWith(func(f *fakeCluster) {
		f.outage = noon.Add(-3 * time.Minute)
	})
	empty := hostnameWith(func(f *fakeCluster) { f.objects = nil })
	many := hostnameWith(func(f *fakeCluster) {
		for i := range 200 {
			f.objects = append(f.objects,
				object(t, strings.NewReplacer("dc-1", fmt.Sprintf("dc-x%d", i), "shop.", fmt.Sprintf(
					"n%d.", i)).Replace(heldClaim)))
		}
	})
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		path         string
		shows, hides string
	}{
		"the way to it":                      {hostnameSite, "/teams/payments", `href="/admin"`, ""},
		"nothing is off":                     {hostnameSite, "/admin", `class="stack void"`, "are off"},
		"a part that is off, with a reason":  {off, "/admin/pool", "There is no GatewayClass.", "other are off"},
		"a part that is off, on other tabs":  {off, "/admin/claims", "Hostnames are off", ""},
		"an operator that does not answer":   {away, "/admin", "The operator does not answer", "Hostnames are off"},
		"an identity provider that is away":  {signInAway, "/admin", "The identity provider has not answered for 3 min.", ""},
		"one that answers":                   {hostnameSite, "/admin", "", "Nobody can sign in"},
		"how full a Gateway is":              {hostnameSite, "/admin/pool", `max="20" value="14">14 of 20</progress>`, ""},
		"how full it is in words":            {hostnameSite, "/admin/pool", "<span>31 of 75</span>", ""},
		"a Gateway that is full":             {hostnameSite, "/admin/pool", `max="20" value="20">21 of 20, full</progress>`, ""},
		"what a Gateway is for":              {hostnameSite, "/admin/pool", "internet-facing, class alb<", ""},
		"its address":                        {hostnameSite, "/admin/pool", "<code>gw-00-1234.eu-west-1.elb.amazonaws.com</code>", ""},
		"its page":                           {hostnameSite, "/admin/pool", `href="/teams/portico-gateways/poolgateways/gw-00"`, ""},
		"what is wrong with one":             {hostnameSite, "/admin/pool", "The class wins over this one.", ""},
		"an empty pool":                      {empty, "/admin/pool", "No load balancer yet", "<table"},
		"who has a hostname":                 {hostnameSite, "/admin/claims", `<a href="/teams/payments/gatewayhostnamerequests/shop">shop of payments</a>`, ""},
		"the Gateway of a claim":             {hostnameSite, "/admin/claims", `<a href="/teams/portico-gateways/poolgateways/gw-00">gw-00</a>`, ""},
		"a Gateway that is not there":        {hostnameSite, "/admin/claims", "gw-07", `poolgateways/gw-07`},
		"a claim nobody holds":               {hostnameSite, "/admin/claims", "Orphaned", `gatewayhostnamerequests/find"`},
		"no claims":                          {empty, "/admin/claims", "No hostname is claimed", ""},
		"a search":                           {hostnameSite, "/admin/claims?q=SHOP+payments", "1 of 2 claims", "*.search.example.com"},
		"a search by team":                   {hostnameSite, "/admin/claims?q=find+of+search", "*.<wbr>search.<wbr>example.<wbr>com", "shop."},
		"a search for nothing":               {hostnameSite, "/admin/claims?q=none", "Nothing matches", "<table"},
		"more claims than a page holds":      {many, "/admin/claims", "202 claims, page 1 of 5", ""},
		"what teams may have":                {hostnameSite, "/admin/grants", "<code>payments.example.com, pay.example.org</code>", ""},
		"what it is limited to":              {hostnameSite, "/admin/grants", "environments dev, prod", ""},
		"what is in use":                     {hostnameSite, "/admin/grants", `<a href="/admin/claims?q=pay.payments.example.com">pay.payments.example.com</a>`, ""},
		"no grants":                          {empty, "/admin/grants", "No team can have hostnames yet", ""},
		"a Gateway's own page":               {hostnameSite, "/teams/portico-gateways/poolgateways/gw-00", "<dt>Target groups</dt><dd>22", "Created in AWS"},
		"a claim's own page":                 {hostnameSite, "/teams/_platform/domainclaims/dc-2", "<dt>Hostname</dt><dd>*.search.example.com", ""},
		"claims are not among the resources": {hostnameSite, "/teams/_platform", "aws-prod", "dc-1"},
		"a grant's own page":                 {hostnameSite, "/teams/payments/hostnamegrants/hostnames", "<dt>Suffixes</dt><dd>payments.example.com, pay.example.org", ""},
		"a grant is not among the resources": {hostnameSite, "/teams/payments", "shop", `href="/teams/payments/hostnamegrants`},
		"kept kinds are not in the catalog":  {hostnameSite, "/teams/_platform/catalog", "awsproviders", "domainclaims"},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), platformAdmin, c.path)
			answers(t, w, http.StatusOK, c.shows, c.hides)
		})
	}
}

func TestAdminPagesAreForAdmins(t *testing.T) {
	for _, path := range []string{"/admin", "/admin/claims", "/admin/grants", "/admin/live", "/admin/live?tab=claims"} {
		w := visit(t, hostnameSite(t), developer, path)
		body := w.Body.String()
		if w.Code != http.StatusForbidden || !strings.Contains(body, "You are not allowed to list domainclaims.") {
			t.Errorf("%s answers %d, want 403, not allowed to list domainclaims:\n%s", path, w.Code, body)
		}
		if strings.Contains(body, "gw-00") || strings.Contains(body, `href="/admin"`) {
			t.Errorf("%s shows a Gateway, or the link to it:\n%s", path, body)
		}
	}
	if w := visit(t, hostnameSite(t), developer, "/teams/payments"); strings.Contains(
		w.Body.String(), `href="/admin"`) {
		t.Error("the way to it is shown to those who may not go there")
	}
	for _, path := range []string{
		"/admin/nothing", "/teams/payments/new/hostnamegrants",
		"/teams/_platform/new/domainclaims", "/teams/portico-gateways/new/poolgateways",
	} {
		if w := visit(t, hostnameSite(t), platformAdmin, path); w.Code != 404 {
			t.Errorf("%s answers %d", path, w.Code)
		}
	}
	down := hostnameSite(t)
	down.down = true
	if w := visit(t, down, platformAdmin, "/admin"); w.Code != 503 {
		t.Errorf("while Kubernetes is away it answers %d", w.Code)
	}
}
