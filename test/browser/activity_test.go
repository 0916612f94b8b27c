//go:build browser

package browser

import (
	"strings"
	"testing"

	"github.com/portico-platform/portico/test/tiers"
)

// TestATeamSeesWhoDidWhat checks that a member sees live what another one does, also after the resource was deleted,
// that an admin sees it for all teams, and another team does not.
func TestATeamSeesWhoDidWhat(t *testing.T) {
	tiers.Long(t)
	const about = "/teams/payments/about"
	watcher, admin, x := open(t), open(t), open(t)
	watcher.signIn("payments-owner", "payments")
	watcher.goTo(about)
	watcher.await(`#live`, "Live")
	watcher.mark()
	admin.signIn("platform-admin", "payments")
	admin.goTo("/admin/activity")
	admin.await(`#live`, "Live")

	x.signIn("payments-dev", "payments")
	bucket := x.request("seen", "payments-seen-1", "Enabled")
	watcher.await(`#activity`, "requested it.")
	watcher.await(`#activity a[href="`+s3one+`seen"]`, "seen")
	x.posts(`form[action$="/pause"] button`)
	x.posts(`form[action$="/resume"] button`)
	watcher.await(`#activity`, "resumed it.")
	x.goTo(s3one + "seen?tab=activity")
	x.await(`#body`, "paused it.")
	x.await(`#body`, "Ready for the first time")
	x.every("activity")

	x.deletes("seen", bucket)
	watcher.await(`#activity`, "deleted it.")
	watcher.awaitGone(`#activity a[href="` + s3one + `seen"]`)
	watcher.stillMarked()
	watcher.every("about-activity")
	admin.await(`#platform`, "deleted it.")
	admin.every("admin-activity")

	stranger := open(t)
	stranger.signIn("search-dev", "search")
	stranger.goTo("/teams/search/about")
	stranger.await(`#activity`, "Recent activity")
	if got := stranger.text(`#activity`); got == "" || strings.Contains(got, "seen") {
		t.Errorf("another team sees %q", got)
	}
}
