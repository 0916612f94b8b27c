//go:build browser

package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestAnAdminEndsTheSessionsOfAUser checks that the user's open page says so within seconds, and leads back after
// signing in.
func TestAnAdminEndsTheSessionsOfAUser(t *testing.T) {
	dev, admin := open(t), open(t)
	dev.signIn("payments-dev", "payments")
	dev.goTo(list + "?sort=-name")
	dev.await(`#live`, "Live")
	admin.signIn("platform-admin", "payments")
	admin.goTo("/admin")
	admin.click(`nav.tabs a[href="/admin/sessions"]`)
	admin.awaitPath("/admin/sessions")
	admin.every("sessions")
	admin.fill(`#user`, "team-payments")
	admin.click(`.go button`)
	admin.await(`#user-error`, "oidc:team-payments is a group")
	admin.every("sessions-refused")
	admin.fill(`#user`, "payments-dev")
	admin.click(`.go button`)
	admin.await(`h1`, "End all sessions of this user?")
	admin.await(`main`, "oidc:payments-dev")
	admin.every("sessions-review")
	admin.goTo("/admin/sessions?user=" + strings.Repeat("long-name-without-a-blank", 10))
	admin.await(`main`, "Nobody with this name signed in here lately")
	admin.do(chromedp.EmulateViewport(390, 844))
	admin.fits("a long name", 390)
	admin.do(chromedp.EmulateViewport(1280, 900))
	admin.comesByMember()
	began := time.Now()
	admin.click(`.go button.danger`)
	dev.await(`main`, "A platform admin ended your sessions")
	t.Logf("the user's page says so after %.1f s", time.Since(began).Seconds())
	dev.every("sign-in-ended")
	admin.await(`h1`, "The sessions have ended")
	admin.every("sessions-ended")
	dev.click(`main a.btn.first`) // Dex has its own session, and does not ask
	dev.await(`#live`, "Live")
	dev.awaitAt(list + "?sort=-name")
	admin.goTo("/admin")
	admin.await(`h1`, "Admin")
}

// comesByMember adds a user to a team, and follows the link beside the member; the member is removed at the end.
func (x *tab) comesByMember() {
	x.t.Helper()
	const member = `#member-user-f-payments-dev`
	x.goTo("/team/payments")
	x.do(chromedp.SetValue(chromedp.CSS(`#member-kind`), "user"))
	x.fill(`#member-name`, "payments-dev")
	x.click(`button[value="add"]`)
	x.await(member, "End sessions")
	x.shot("sessions-member")
	x.click(member + ` a`)
	x.await(`h1`, "End all sessions of this user?")
	x.await(`main`, "Developer of team payments")
	x.t.Cleanup(func() {
		x.goTo("/team/payments")
		x.click(member + ` button[value="remove"]`)
		x.awaitGone(member)
	})
}
