package pages

import (
	"strings"
	"testing"
)

// For an action that is not offered, the page says why.
func TestWhatCannotBeDoneIsSaid(t *testing.T) {
	mayNot := func(site func(testing.TB) *fakeCluster, rights ...string) *fakeCluster {
		f := site(t)
		f.denied = rights
		return f
	}
	paused := func(tb testing.TB) *fakeCluster {
		tb.Helper()
		f := hostnameSite(tb)
		for _, o := range f.objects {
			if o.GetName() == "storefront" {
				o.SetAnnotations(map[string]string{"portico.dev/paused": "true"})
			}
		}
		return f
	}
	const disabled, request = `aria-disabled="true"`, `<a class="btn first" href="/teams/payments/catalog">`
	for name, c := range map[string]struct {
		site        *fakeCluster
		path        string
		shows, hide string
	}{
		"a developer can request": {busySite(t), "/teams/payments", request, disabled},
		"a viewer cannot": {
			mayNot(busySite, "create payments"), "/teams/payments",
			"Your role in payments can view, but not request. Ask a developer of the team.", request,
		},
		"and sees what others can do":          {mayNot(busySite, "create payments"), "/teams/payments", disabled, request},
		"a viewer of a team without resources": {mayNot(busySite, "create search"), "/teams/search", "What the team requests", "Open the catalog"},
		"in the catalog":                       {mayNot(busySite, "create payments"), "/teams/payments/catalog", "can view, but not request", ""},
		"a developer can do all":               {busySite(t), atInvoices, ">Edit</a>", `class="cannot"`},
		"a viewer changes nothing": {
			mayNot(busySite, "patch payments", "update payments", "delete payments"),
			atInvoices, "Your role in payments can view this, but not change or delete it. Ask a developer of " +
				"the team.", ">Edit</a>",
		},
		"a role that cannot delete":                   {mayNot(busySite, "delete payments"), atInvoices, "Your role in payments cannot delete this.", "Delete…"},
		"a role that cannot change":                   {mayNot(busySite, "patch payments", "update payments"), atInvoices, "Your role in payments cannot change this.", ">Edit</a>"},
		"a role that cannot edit":                     {mayNot(busySite, "update payments"), atInvoices, "Your role in payments cannot edit this.", ">Edit</a>"},
		"a hostname, which nobody edits":              {hostnameSite(t), atHostnames + "shop", "It cannot be edited: ", ">Edit</a>"},
		"a hostname that the role cannot delete, too": {mayNot(hostnameSite, "delete payments"), atHostnames + "shop", "cannot delete this.", "Delete…"},
		"a web app that is paused":                    {paused(t), "/teams/payments/webapps/storefront", "Resume it before you restart or scale it.", "Restart…"},
		"a web app that is not":                       {hostnameSite(t), "/teams/payments/webapps/storefront", "Restart…", "Resume it"},
	} {
		t.Run(name, func(t *testing.T) {
			html := visit(t, c.site, developer, c.path).Body.String()
			if !strings.Contains(html, c.shows) || c.hide != "" && strings.Contains(html, c.hide) {
				t.Errorf("want %q and not %q:\n%s", c.shows, c.hide, html)
			}
		})
	}
	for path, want := range map[string]string{
		"/teams/_platform/awsproviders/aws-prod": ">Edit</a>",
		"/teams/portico-gateways/poolgateways/gw-00": "Portico keeps this up to date by itself: there is nothing " +
			"to edit.",
	} {
		if html := visit(t, hostnameSite(t), platformAdmin, path).Body.String(); !strings.Contains(html, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, html)
		}
	}
}
