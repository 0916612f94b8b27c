//go:build browser

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/portico-platform/portico/test/tiers"
)

// TestDocumentationIsRead follows the link from a page of the portal to its documentation, and further links, also
// without scripts; on a narrow screen the navigation is folded.
func TestDocumentationIsRead(t *testing.T) {
	tiers.Long(t)
	x := open(t)
	x.goTo("/docs")
	x.await(`.prose h1`, "Documentation")
	x.every("docs")
	x.goTo("/docs/nowhere")
	x.await(`main h1`, "no such page")
	x.every("docs-missing")
	x.click(`main a[href="/docs"]`)
	x.await(`.prose h1`, "Documentation")
	x.signIn("payments-dev", "payments")
	x.goTo(ask)
	x.click(`.who a`)
	x.awaitAt("/docs/kinds/s3bucket")
	x.await(`.prose h1`, "S3Bucket")
	for _, page := range []string{
		"/docs/kinds/s3bucket", "/docs/user-guide", "/docs/reasons", "/docs/metrics",
		"/docs/rest-reference", "/docs/authorization",
	} {
		x.goTo(page)
		x.axe(page)
		x.do(chromedp.EmulateViewport(390, 844))
		x.fits(page, 390)
		x.do(chromedp.EmulateViewport(1280, 900))
	}
	x.goTo("/docs/kinds/poolgateway")
	x.every("docs-kind")
	x.scripts(false)
	x.click(`.beside a[href="#when-it-is-not-ready"]`)
	x.awaitTrue(`location.hash === "#when-it-is-not-ready"`)
	x.do(chromedp.EmulateViewport(390, 844))
	x.awaitTrue(`!document.querySelector(".beside ul").checkVisibility()`)
	x.click(`.beside > summary`)
	x.click(`.beside a[href="/docs/troubleshooting"]`)
	x.await(`.prose h1`, "Troubleshooting")
	x.click(`footer a[href="/docs"]`)
	x.await(`.prose h1`, "Documentation")
}
