//go:build browser

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBackToAnEarlierVersionOfABucket checks that the history shows who changed what, and links to the review of an
// edit that restores a version.
func TestBackToAnEarlierVersionOfABucket(t *testing.T) {
	x, admin := open(t), open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("past", "payments-past-1", "Enabled")
	x.click(`#tabs a[href$="tab=history"]`)
	x.await(`#body`, "Requested by")
	x.mark()
	admin.signIn("platform-admin", "payments")
	admin.edits("past")
	admin.choose("spec.versioning", "Suspended")
	admin.reviews("Looks good.")
	admin.applies("past")
	x.await(`#body`, "Suspended")
	x.await(`#body .history li:first-child`, "Changed by")
	x.await(`#body .history li:first-child`, "Through the portal.")
	x.still()
	x.every("tab-history")
	x.click(`.history a[href$="edit?back=1"]`)
	x.await(`main`, "Looks good.")
	x.await(`pre.diff`, "versioning: Enabled")
	x.every("history-back")
	x.click(`.go button[value="create"]`)
	x.awaitPath(s3one + "past")
	x.goTo(s3one + "past?tab=history")
	x.awaitTrue(`document.querySelectorAll("#body .history li").length === 3`)
	x.do(chromedp.WaitNotPresent(chromedp.CSS(`.history li:first-child a`)))
	x.deletes("past", bucket)
}
