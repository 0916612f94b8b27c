package pages

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/availability"
	"github.com/portico-platform/portico/portal/catalog"
)

const (
	askHostname = "/teams/payments/new/gatewayhostnamerequests"
	atHostnames = "/teams/payments/gatewayhostnamerequests/"
)

func hostnameWith(change func(f *fakeCluster)) func(testing.TB) *fakeCluster {
	return func(tb testing.TB) *fakeCluster {
		tb.Helper()
		f := hostnameSite(tb)
		change(f)
		return f
	}
}

func TestPagesOfAHostname(t *testing.T) {
	seen := hostnameWith(func(f *fakeCluster) { f.holders = append(f.holders, "rivals") })
	given := hostnameWith(func(f *fakeCluster) { f.claims = nil })
	wild := hostnameWith(func(f *fakeCluster) {
		_ = unstructured.SetNestedField(f.objects[0].Object, "*.payments.example.com", "status", "hostname")
	})
	over := hostnameWith(func(f *fakeCluster) {
		_ = unstructured.SetNestedField(f.objects[0].Object, "2026-11-20T00:00:00Z", "status", "certificate",
			"notAfter")
	})
	mayNot := func(right string) func(testing.TB) *fakeCluster {
		return hostnameWith(func(f *fakeCluster) { f.denied = []string{right} })
	}
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		path         string
		shows, hides string
	}{
		"its address is a link":                     {hostnameSite, "shop", `href="https://shop.payments.example.com"`, ""},
		"all steps are done":                        {hostnameSite, "shop", "8 of 8 done", "Not started yet."},
		"steps in their order, whatever was first":  {hostnameSite, "shop", "DNS alias ready</b>", ""},
		"the parent to paste":                       {hostnameSite, "shop", "  name: dc-1f3c9a5c0a6d4b8e9f2b7c6d5e4f3a2b\n  sectionName: https\n</pre>", ""},
		"a whole route":                             {hostnameSite, "shop", "  parentRefs:\n  - group: gateway.networking.k8s.io\n    kind: ListenerSet\n", ""},
		"a wildcard as YAML takes it":               {wild, "shop", "  hostnames:\n  - &#34;*.payments.example.com&#34;\n", ""},
		"the form of a web app":                     {hostnameSite, "shop", `href="/teams/payments/new/webapps?spec.expose.hostname=shop"`, ""},
		"no form for those who may not send it":     {mayNot("create payments"), "shop", "Attach a route", "Use it in a web app"},
		"the days of the certificate":               {hostnameSite, "shop", "<dd>15 November 2027, ", ""},
		"days left":                                 {hostnameSite, "shop", "358 days left", ""},
		"a certificate that is over":                {over, "shop", "it is over", "days left"},
		"words for what AWS says":                   {hostnameSite, "shop", "Pending auto renewal", "PENDING_AUTO"},
		"the web app that answers there":            {hostnameSite, "shop", `href="/teams/payments/webapps/storefront"`, ""},
		"its Gateway":                               {hostnameSite, "shop", "<code>gw-00</code>", ""},
		"a step that is under way":                  {hostnameSite, "pay", "4 of 8 done", "waiting for CertificateIssued"},
		"no parent before there is a listener":      {hostnameSite, "pay", "once the listener is ready", "parentRefs"},
		"an attempt after a failed one":             {hostnameSite, "pay", "AWS gave up on the earlier ones", ""},
		"what is taken is explained":                {hostnameSite, "lost", "Another team has taken.payments.example.com", "rivals"},
		"what is taken needs somebody":              {hostnameSite, "lost", `<span class="hush">needs you</span>`, "every 5 minutes"},
		"the holder, for those who may see it":      {seen, "lost", `It is <a href="/teams/rivals/gatewayhostnamerequests/find">find of rivals</a>.`, ""},
		"no holder once it was given back":          {given, "lost", "Another team has", "It is <a"},
		"the steps of what nobody has looked at":    {hostnameWith(func(f *fakeCluster) { delete(f.objects[0].Object, "status") }), "shop", "not checked yet", "failed"},
		"what deleting does":                        {hostnameSite, "shop/delete", "After that another team can request the name.", "in AWS for this"},
		"who uses it, before it is deleted":         {hostnameSite, "shop/delete", "take it out of storefront first", ""},
		"a page for those who may get, and no more": {mayNot("check payments"), "lost", "Another team has", "It is <a"},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), developer, atHostnames+c.path)
			answers(t, w, http.StatusOK, c.shows, c.hides)
		})
	}
}

func TestStepsStandInTheirOrder(t *testing.T) {
	html := visit(t, hostnameSite(t), developer, atHostnames+"shop").Body.String()
	at := 0
	for _, title := range []string{
		"Requested", "Claimed", "Certificate requested", "DNS validated",
		"Certificate issued", "Listener attached", "DNS alias ready", "Ready",
	} {
		next := strings.Index(html[at:], "<b>"+title+"</b>")
		if next < 0 {
			t.Fatalf("%s does not follow", title)
		}
		at += next
	}
}

func TestHostnamesAreCheckedWhileTheyAreTyped(t *testing.T) {
	seen := hostnameWith(func(f *fakeCluster) { f.holders = append(f.holders, "rivals") })
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		query        string
		shows, hides string
	}{
		"nothing":                      {hostnameSite, "spec.hostname=", `role="status"`, "state"},
		"free":                         {hostnameSite, "spec.hostname=new.payments.example.com", "new.payments.example.com is free.", ""},
		"space around it":              {hostnameSite, "spec.hostname=+new.payments.example.com+", "new.payments.example.com is free.", ""},
		"not valid":                    {hostnameSite, "spec.hostname=a_b.payments.example.com", "Not valid", ""},
		"hostile":                      {hostnameSite, "spec.hostname=" + url.QueryEscape(script), "Not valid", "<script>"},
		"another domain":               {hostnameSite, "spec.hostname=x.example.net", "x.example.net is not below payments.example.com or pay.example.org.", ""},
		"the grant":                    {hostnameSite, "spec.hostname=x.example.net", `href="/teams/payments/hostnamegrants/hostnames"`, ""},
		"no grant that may not be got": {hostnameWith(func(f *fakeCluster) { f.denied = []string{"get payments"} }), "spec.hostname=x.example.net", "is not below", "/hostnamegrants/"},
		"no grant at all":              {hostnameWith(func(f *fakeCluster) { f.grant = nil }), "spec.hostname=x.example.net", "Your team cannot have hostnames yet", ""},
		"a wildcard":                   {hostnameSite, "spec.hostname=*.payments.example.com", "it has no wildcards.", ""},
		"another zone":                 {hostnameSite, "spec.hostname=new.payments.example.com&spec.zoneId=Z1", "the zone Z1 is none of", ""},
		"another environment":          {hostnameSite, "spec.hostname=new.payments.example.com&spec.environment=staging", "environment staging is none of", ""},
		"taken":                        {hostnameSite, "spec.hostname=taken.payments.example.com", "Another team has taken.payments.example.com", "rivals"},
		"taken, and by whom":           {seen, "spec.hostname=taken.payments.example.com", `href="/teams/rivals/gatewayhostnamerequests/find"`, ""},
		"taken, for the other network": {hostnameSite, "spec.hostname=taken.payments.example.com&spec.visibility=internal", "is free", ""},
		"overlapping":                  {hostnameSite, "spec.hostname=a.wild.payments.example.com", "Overlaps", "rivals"},
		"our own":                      {hostnameSite, "spec.hostname=shop.payments.example.com", `href="/teams/payments/gatewayhostnamerequests/shop"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), developer, "/teams/payments/hostnames/check?"+c.query)
			answers(t, w, http.StatusOK, c.shows, c.hides)
			if !strings.HasPrefix(w.Body.String(), `<div id="f-spec-hostname-check"`) {
				t.Errorf("more than a part of the page: %s", w.Body)
			}
		})
	}
	f := hostnameSite(t)
	f.denied = []string{"* search"}
	if w := visit(t, f, developer,
		"/teams/search/hostnames/check?spec.hostname=x.example.com"); w.Code != http.StatusForbidden {
		t.Errorf("for another team it answers %d", w.Code)
	}
}

func hostnameForm(do, hostname string) url.Values {
	return url.Values{
		"do": {do}, "metadata.name": {"new"}, "spec.providerRef.name": {"aws-prod"},
		"spec.hostname": {hostname}, "spec.zoneId": {"Z9876543210"},
	}
}

// TestWithoutScripts: the form shows the same check after it was posted, and so does the review.
func TestWithoutScripts(t *testing.T) {
	seen := hostnameWith(func(f *fakeCluster) { f.holders = append(f.holders, "rivals") })
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		form         url.Values
		status       int
		shows, hides string
	}{
		"a button asks":                    {hostnameSite, hostnameForm("check", "taken.payments.example.com"), 200, "Another team has taken.payments.example.com", "rivals"},
		"what is free is reviewed":         {hostnameSite, hostnameForm("review", "new.payments.example.com"), 200, "Looks good.", "It cannot become ready"},
		"what is taken is a warning":       {hostnameSite, hostnameForm("review", "taken.payments.example.com"), 200, "It cannot become ready as things are.", "rivals"},
		"with the holder, for some":        {seen, hostnameForm("review", "taken.payments.example.com"), 200, "It is find of rivals.", ""},
		"what is not granted is a warning": {hostnameSite, hostnameForm("review", "x.example.net"), 200, "does not allow this", ""},
		"what is no hostname is an error":  {hostnameSite, hostnameForm("review", "a_b.payments.example.com"), 422, `href="#f-spec-hostname"`, "Request it"},
		"as YAML too":                      {hostnameSite, url.Values{"do": {"review"}, "yaml": {"metadata: {name: x}\nspec: {hostname: a_b.example.com}"}}, 422, "spec.hostname: ", "Request it"},
		"other errors keep the check":      {hostnameSite, url.Values{"do": {"review"}, "base": {"damaged: ["}, "spec.hostname": {"taken.payments.example.com"}}, 422, "Another team has", ""},
		"nothing is said of nothing":       {hostnameSite, hostnameForm("check", ""), 200, `id="f-spec-hostname-check"`, "Not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			w := post(t, c.site(t), askHostname, c.form)
			answers(t, w, c.status, c.shows, c.hides)
		})
	}
}

func TestTheFormOffersWhatTheGrantAllows(t *testing.T) {
	grant := func(g v1alpha1.HostnameGrantSpec) func(testing.TB) *fakeCluster {
		return hostnameWith(func(f *fakeCluster) { f.grant = &g })
	}
	for name, c := range map[string]struct {
		site         func(testing.TB) *fakeCluster
		shows, hides string
	}{
		"domains to begin with": {hostnameSite, `<datalist id="f-spec-hostname-list"><option value="payments.example.com"></option><option value="pay.example.org"></option>`, ""},
		"domains in words": {hostnameSite, "For example shop.payments.example.com. payments can have " +
			"payments.example.com, pay.example.org and every name below, but no wildcards.", ""},
		"zones":                          {hostnameSite, `<option value="Z0123456789ABCDEFGHIJ">`, ""},
		"environments":                   {hostnameSite, `<option value="prod">prod</option>`, `<option value="staging">`},
		"the only zone is chosen":        {grant(v1alpha1.HostnameGrantSpec{Suffixes: []string{"example.com"}, Zones: []v1alpha1.HostedZoneID{"Z1"}}), `<option value="Z1" selected>`, ""},
		"any zone where it says nothing": {grant(v1alpha1.HostnameGrantSpec{Suffixes: []string{"example.com"}, Wildcards: true}), "wildcards too.", `<select aria-describedby="f-spec-zoneId-hint"`},
		"no default that is not allowed": {
			grant(v1alpha1.HostnameGrantSpec{Suffixes: []string{"example.com"}, Visibilities: []v1alpha1.Visibility{
				"internal",
			}}), `<option value="internal" selected>internal</option>`, "Default (internet-facing)",
		},
		"it asks while one types": {
			hostnameSite,
			`hx-get="/teams/payments/hostnames/check" hx-trigger="input from:&#34;#f-spec-hostname, #f-spec-zoneId, #f-spec-visibility, #f-spec-environment&#34; delay:300ms"`, "",
		},
		"it is announced with the input":   {hostnameSite, `aria-describedby="f-spec-hostname-check f-spec-hostname-hint"`, ""},
		"without a grant there is no form": {hostnameWith(func(f *fakeCluster) { f.grant = nil }), "payments cannot have hostnames yet", `id="request"`},
	} {
		t.Run(name, func(t *testing.T) {
			w := visit(t, c.site(t), developer, askHostname)
			answers(t, w, http.StatusOK, c.shows, c.hides)
		})
	}
}

func TestAWebAppChoosesAHostname(t *testing.T) {
	html := visit(t, hostnameSite(t), developer,
		askApp+"?spec.expose.hostname=pay&spec.image=evil&spec.bindings[0].name=x").Body.String()
	for _, words := range []string{
		`<option value="pay" selected>pay, pay.payments.example.com (in progress)</option>`,
		`<option value="shop">shop, Shop.payments.example.com</option>`,
	} {
		if !strings.Contains(html, words) {
			t.Errorf("lacks %q:\n%s", words, html)
		}
	}
	if strings.Contains(html, "evil") || strings.Contains(html, "spec.bindings[0]") {
		t.Error("a link fills in what nobody asked for")
	}
	none := newFake(t)
	none.grant = &v1alpha1.HostnameGrantSpec{Suffixes: []string{"example.com"}}
	if html := visit(t, none, developer, askApp).Body.String(); !strings.Contains(
		html, `<a href="/teams/payments/new/gatewayhostnamerequests" target="_blank" rel="noopener">a hostname</a>`) {
		t.Error("without a hostname nothing leads to its form")
	}
}

func TestHostileHostnames(t *testing.T) {
	f := hostnameSite(t)
	for _, o := range f.objects {
		for _, path := range [][]string{
			{"spec", "hostname"},
			{"status", "hostname"},
			{"status", "url"},
			{"status", "gateway"},
			{"spec", "gateway"},
			{"spec", "gatewayClass"},
		} {
			if catalog.TextAt(o, path...) != "" {
				_ = unstructured.SetNestedField(o.Object, "javascript:"+script+breaks, path...)
			}
		}
	}
	f.claims = []availability.Claim{
		{Hostname: "taken.payments.example.com", Visibility: "internet-facing", Holder: availability.Holder{
			Namespace: "../" + script, Name: script,
		}},
	}
	f.holders = []string{"../" + script}
	for _, path := range []string{
		atHostnames + "shop", atHostnames + "lost", askApp, "/admin", "/admin/claims?q=" + url.QueryEscape(script),
		"/admin/grants",
		"/teams/payments/hostnames/check?spec.hostname=taken.payments.example.com",
	} {
		w := visit(t, f, platformAdmin, path)
		if found := unsafe.FindString(w.Body.String()); w.Code != 200 || found != "" {
			t.Errorf("%s answers %d and shows %q", path, w.Code, found)
		}
	}
}

// TestHostedZonesAreChosenByDomain, or by ID if no hostname uses the zone yet.
func TestHostedZonesAreChosenByDomain(t *testing.T) {
	f := hostnameSite(t)
	lacks(t, visit(t, f, developer, askHostname).Body.String(),
		`<option value="Z0123456789ABCDEFGHIJ">payments.example.com (Z0123456789ABCDEFGHIJ)</option>`,
		`<option value="Z9876543210">Z9876543210</option>`)
	f.grant.Zones = nil
	lacks(t, visit(t, f, developer, askHostname).Body.String(), `list="f-spec-zoneId-list" name="spec.zoneId"`,
		`<datalist id="f-spec-zoneId-list" data-offers="/teams/payments/offers/gatewayhostnamerequests/zoneId?spec.providerRef.name=aws-prod" data-by="spec.providerRef.name spec.region">`,
		`<option value="Z0123456789ABCDEFGHIJ">payments.example.com</option>`, `list="f-spec-validationZoneId-list"`)
}
