//go:build browser

package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

const (
	hostnames   = "/teams/payments/gatewayhostnamerequests/"
	askHostname = "/teams/payments/new/gatewayhostnamerequests"
	storefront  = "store.payments." + stack.Domain
)

// TestHostnameIsAskedForAndLookedAfter requests a hostname while an admin watches Gateway API being installed: it is
// checked during typing, followed step by step, listed among the claims, and deleted.
func TestHostnameIsAskedForAndLookedAfter(t *testing.T) {
	tiers.Long(t)
	log.SetLogger(logr.Discard())
	admin := open(t)
	admin.signIn("platform-admin", "_platform")
	admin.click(`.nav a[href="/admin"]`)
	admin.awaitPath("/admin")
	admin.await(`#features`, "Hostnames are off")
	admin.click(`a[href="/admin/pool"]`)
	admin.awaitPath("/admin/pool")
	admin.await(`#platform`, "No load balancer yet")
	admin.every("admin-off")
	admin.mark()
	if err := world.StartGateways(t.Context()); err != nil {
		t.Fatal(err)
	}
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.describesHostname("store", storefront)
	x.followsSteps()
	x.checksPlainly()
	admin.await(`#platform`, "gw-00")
	admin.await(`#platform .pool`, "1 of 20")
	admin.awaitGone(`#features .note`)
	admin.stillMarked()
	admin.every("admin-pool")
	admin.click(`a[href="/admin/claims"]`)
	admin.awaitPath("/admin/claims")
	admin.await(`#platform .claims`, storefront)
	admin.every("admin-claims")
	admin.goTo("/admin/grants")
	admin.await(`#platform`, "payments")
	admin.every("admin-grants")
	for _, keeps := range []struct{ tab, kind string }{{"pool", "poolgateways"}, {"claims", "domainclaims"}, {
		"grants", "hostnamegrants",
	}} {
		admin.goTo("/admin/" + keeps.tab)
		admin.click(`#platform a[href*="/` + keeps.kind + `/"]`)
		admin.await(`#tabs`, "Status details")
		admin.every("detail-" + keeps.kind)
	}
	admin.goTo("/admin/claims")
	admin.await(`#live`, "Live")
	admin.mark()
	x.isNoAdmin()
	x.discards("gatewayhostnamerequests", "store")
	admin.await(`#platform`, "No hostname is claimed")
	admin.stillMarked()
}

// describesHostname fills in the form, first with a name that the team has no grant for, and reviews the request.
func (x *tab) describesHostname(name, hostname string) {
	x.t.Helper()
	x.goTo("/teams/payments/catalog")
	x.click(`a[href="` + askHostname + `"]`)
	x.awaitPath(askHostname)
	x.fill(`[name="metadata.name"]`, name)
	x.fill(`[name="spec.hostname"]`, "store.search."+stack.Domain)
	x.await(`#f-spec-hostname-check`, "Not granted")
	x.await(`#f-spec-hostname-check`, "is not below payments."+stack.Domain)
	x.every("hostname-not-granted")
	// fill does not remove what was typed
	_ = eval[bool](x, `(document.querySelector('[name="spec.hostname"]').value = "", true)`)
	x.fill(`[name="spec.hostname"]`, hostname)
	x.await(`#f-spec-hostname-check`, hostname+" is free")
	x.every("hostname-free")
	x.click(`.go button[value="review"]`)
	x.await(`main`, "Looks good.")
	x.await(`pre.diff`, "hostname: "+hostname)
	x.await(`pre.diff`, "zoneId: "+world.Zones[stack.Zone{Domain: stack.Domain}]) // nobody entered it
}

// checksPlainly checks without scripts whether hostnames are available.
func (x *tab) checksPlainly() {
	x.t.Helper()
	x.scripts(false)
	defer x.scripts(true)
	for hostname, words := range map[string]string{storefront: "Yours", "blog.payments." + stack.Domain: "Free"} {
		x.goTo(askHostname)
		x.fill(`[name="metadata.name"]`, "plain-check")
		x.fill(`[name="spec.hostname"]`, hostname)
		x.click(`button[value="check"]`)
		x.await(`#f-spec-hostname-check`, words)
		x.awaitValue("metadata.name", "plain-check")
	}
}

// followsSteps creates the hostname and watches its page, first while the certificate is delayed, then until it is
// Ready.
func (x *tab) followsSteps() {
	x.t.Helper()
	world.Proxy.SetACMIssueDelay(time.Hour)
	defer world.Proxy.SetACMIssueDelay(issueDelay)
	x.click(`button[value="create"]`)
	x.awaitPath(hostnames + "store")
	x.mark()
	x.await(`#body`, "4 of 8 done")
	x.await(`#body`, "once the listener is ready")
	x.still()
	x.every("hostname-waiting")
	x.mark()
	world.Proxy.SetACMIssueDelay(issueDelay)
	x.await(`#status`, "Ready")
	x.await(`#body`, "8 of 8 done")
	x.await(`#parent`, "kind: ListenerSet")
	x.await(`#parent`, "sectionName: https")
	x.await(`#body a[href="https://`+storefront+`"]`, storefront)
	x.still()
	x.every("hostname")
}

// issueDelay is the proxy's default.
const issueDelay = 300 * time.Millisecond

// isNoAdmin checks that the navigation has no link to the admin pages, and that their addresses are refused.
func (x *tab) isNoAdmin() {
	x.t.Helper()
	if eval[bool](x, `!!document.querySelector('a[href="/admin"]')`) {
		x.t.Error("the navigation offers the admin pages to a developer")
	}
	for _, path := range []string{"/admin", "/admin/claims", "/admin/grants"} {
		x.goTo(path)
		x.await(`main`, "You have no access to this")
		status := eval[int](x, `performance.getEntriesByType("navigation")[0].responseStatus`)
		if status != 403 || strings.Contains(x.body(), storefront) {
			x.t.Errorf("%s answers %d:\n%s", path, status, x.body())
		}
	}
}
