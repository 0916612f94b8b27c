//go:build browser

package browser

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/portico-platform/portico/test/tiers"
)

// shortSessions restarts the portal with the shortest idle timeout, until the test ends.
func shortSessions(t *testing.T) {
	t.Helper()
	portal := world.Part("portal")
	restart := func(flags ...string) {
		portal.With(flags...)
		if err := portal.Restart(context.WithoutCancel(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { restart() })
	restart("--session-idle", "1m")
}

// TestASessionThatIsLeftAloneEnds checks that pages with live updates show the sign-in page when the session ends, and
// lead back after signing in. Entries in a form are not lost when it is submitted or reloaded, also without scripts.
func TestASessionThatIsLeftAloneEnds(t *testing.T) {
	tiers.Long(t)
	shortSessions(t)
	detail := open(t)
	detail.signIn("payments-dev", "payments")
	bucket := detail.request("rested", "payments-rested-1", "Enabled")
	sent, reloaded, plain, several := detail.another(), detail.another(), detail.another(), detail.another()
	plain.scripts(false)
	for name, form := range map[string]*tab{"rested-sent": sent, "rested-reloaded": reloaded, "rested-plain": plain} {
		form.goTo(ask)
		form.fill(`[name="metadata.name"]`, name)
		form.fill(`[name="spec.bucketName"]`, "payments-"+name)
	}
	pages := map[*tab]string{detail: s3one + "rested?tab=activity", several: list + "?kind=s3buckets&q=rest&sort=-name"}
	for page, at := range pages {
		page.goTo(at)
		page.await(`#live`, "Live")
	}
	for page := range pages {
		page.awaitTheEnd()
	}
	detail.loses("portico_local_dex", world.Issuer) // so that Dex asks for the password
	reloaded.do(chromedp.Reload())
	reloaded.await(`main h1`, "Your session has ended")
	reloaded.await(`main`, "You were inactive for too long.")
	plain.click(`.go button[value="review"]`)
	plain.await(`main`, "in another tab, then load this page again")
	plain.shot("plain")
	sent.click(`.go button[value="review"]`)
	sent.await(`main`, "Your session has ended")
	sent.every("session-ended-sent")
	sent.click(`main a.btn.first`)
	sent.enter("payments-dev")
	sent.awaitAt(ask)
	sent.awaitValue("metadata.name", "rested-sent")
	sent.awaitValue("spec.bucketName", "payments-rested-sent")
	sent.reviews("Looks good.")

	for page, at := range pages { // Dex has a session again, and does not ask
		page.click(`main a.btn.first`)
		page.awaitAt(at)
		page.await(`#live`, "Live")
	}
	plain.do(chromedp.Reload())
	plain.await(`main`, "Looks good.")
	plain.await(`pre.diff`, "payments-rested-plain")
	reloaded.click(`main a.btn.first`)
	reloaded.awaitAt(ask)
	reloaded.awaitValue("metadata.name", "rested-reloaded")
	reloaded.awaitValue("spec.bucketName", "payments-rested-reloaded")
	detail.deletes("rested", bucket)
}

// TestNamesAreAskedForAgain checks that an input requests the names again after the session had ended and after an
// outage of the portal, and offers no others in between.
func TestNamesAreAskedForAgain(t *testing.T) {
	secret, _ := published(t, "s3buckets", "asked-again")
	const named = "spec.env[0].valueFrom.secretKeyRef.name"
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo(askApp)
	x.adds("spec.env", "spec.env[0].name")
	x.click(`#f-spec-env-0-valueFrom > summary`)
	_ = eval[bool](
		x,
		`(() => { const f = fetch; window.answers = 0; window.fetch = (...a) => f(...a).finally(() => setTimeout(() => { answers++ }, 300)); return true })()`)
	asks := func(answers string) {
		x.click(`[name="spec.env[0].name"]`)
		x.click(`[name="` + named + `"]`)
		x.awaitTrue(`answers === ` + answers)
	}
	x.loses("__Host-portico", world.PortalURL)
	asks("1")
	if got := eval[int](x, offered(named)+`.length`); got > 0 {
		t.Errorf("without a session %d lines are offered", got)
	}
	other := x.another()
	other.goTo(ask) // a page without live updates
	other.click(`main a.btn.first`)
	other.awaitPath(ask)
	x.away.Store(true)
	portal := world.Part("portal")
	start := sync.OnceValue(func() error { return portal.Start(context.WithoutCancel(t.Context())) })
	t.Cleanup(func() { _ = start() }) // for the following tests
	x.must(portal.Stop())
	asks("2")
	x.must(start())
	asks("3")
	x.awaitTrue(offered(named) + `.includes("` + secret + `")`)
}

// awaitTheEnd waits until an idle page shows the sign-in page. A session lasts a minute, and streams check theirs every
// few seconds.
func (x *tab) awaitTheEnd() {
	x.t.Helper()
	for began := time.Now(); !strings.Contains(x.text(`main h1`), "Your session has ended"); time.Sleep(
		100 * time.Millisecond) {
		if time.Since(began) > time.Minute+patience {
			x.t.Fatalf("at %s the session goes on:\n%s", x.where(), x.body())
		}
	}
}

// loses deletes a cookie from the browser, and with it a session.
func (x *tab) loses(cookie, of string) {
	x.t.Helper()
	ctx, cancel := x.bounded()
	defer cancel()
	_, err := chromedp.Call(ctx, network.DeleteCookies, network.DeleteCookiesParams{Name: cookie, URL: of})
	x.must(err)
}
