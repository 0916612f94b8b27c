//go:build browser

package browser

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// TestSigningInAgainLeadsBack ends the session in one tab; another tab with live updates shows the sign-in page, and
// leads back to its page afterwards.
func TestSigningInAgainLeadsBack(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	other := x.another()
	other.goTo(list + "?kind=s3buckets&sort=-name")
	other.await(`#live`, "Live")
	x.click(signOut)
	x.await(`main`, "You are signed out")
	other.await(`main h1`, "Self-service cloud for your team")
	other.click(`main a.btn.first`) // Dex has its own session, and does not ask
	other.await(`#live`, "Live")
	if at := other.at(); at != list+"?kind=s3buckets&sort=-name" {
		t.Errorf("signing in leads to %s", at)
	}
}

// signOut is the button that ends the session.
const signOut = `header form[action="/auth/logout"] button`

// TestSigningOutIsNotOvertaken checks that a window shows the page after sign-out, with its link to sign out at the
// identity provider, even if it learns from a request of its own that the session has ended before that page arrives.
func TestSigningOutIsNotOvertaken(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo(list)
	x.await(`#live`, "Live")
	x.delays("*/auth/signed-out", 3*time.Second)
	// Chromium protects what a click began from scripts, which other browsers do not; so nothing is clicked here.
	_ = eval[bool](x, `(setTimeout(() => {
		document.querySelector('form[action="/auth/logout"]').requestSubmit();
		setTimeout(() => htmx.ajax("GET", location.href, { target: "main" }), 1000);
	}, 0), true)`)
	x.awaitPath("/auth/signed-out")
	x.await(`main`, "You are signed out")
}

// delays holds each answer to requests of that address back for some time.
func (x *tab) delays(pattern string, by time.Duration) {
	x.t.Helper()
	of := &fetch.RequestPattern{URLPattern: pattern, RequestStage: fetch.RequestStageResponse}
	_, err := chromedp.Call(x.ctx, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{of}})
	x.must(err)
	paused := make(chan fetch.RequestID, 16)
	x.must(chromedp.Listen(x.ctx, func(event any) {
		if e, is := event.(*fetch.EventRequestPaused); is {
			paused <- e.RequestID
		}
	}))
	go func() {
		for {
			select {
			case <-x.ctx.Done():
				return
			case id := <-paused:
				time.Sleep(by)
				_, _ = chromedp.Call(x.ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: id})
			}
		}
	}()
}

// TestAnEndedSessionLosesNoEntries ends the session in one tab while another one has a form that is being filled in:
// the form stays and says so, and can be sent after signing in again.
func TestAnEndedSessionLosesNoEntries(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	other := x.another()
	other.goTo(ask)
	other.fill(`[name="metadata.name"]`, "kept-entry")
	other.await(`#as-yaml`, "kept-entry")
	x.click(signOut)
	x.await(`main`, "You are signed out")
	other.fill(`[name="spec.bucketName"]`, "payments-kept-1")
	other.await(`#flash`, "nothing you entered is lost")
	other.every("session-ended")
	x.goTo(list)
	x.click(`main a.btn.first`)
	x.awaitPath(list)
	other.click(`.go button[value="review"]`)
	other.await(`main`, "Looks good.")
	other.await(`pre.diff`, "payments-kept-1")
}

// TestBackAndForward visits pages, and goes back and forward; each page has live updates again.
func TestBackAndForward(t *testing.T) {
	x := openFull(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("walked", "payments-walked-1", "")
	way := []struct{ at, selector, words string }{
		{list, `#live`, "Live"},
		{list + "?q=walked", `#r-s3buckets-walked`, "Ready"},
		{s3one + "walked", `#status`, "Ready"},
		{s3one + "walked?tab=yaml", `#body`, "bucketName: " + bucket},
	}
	x.goTo(way[0].at)
	x.await(`#live`, "Live")
	x.fill(`[name="q"]`, "walked")
	x.awaitAt(way[1].at)
	x.click(`#r-s3buckets-walked a.name`)
	x.awaitAt(way[2].at)
	x.click(`a[href$="?tab=yaml"]`)
	x.awaitAt(way[3].at)
	for _, i := range []int{2, 1} {
		x.back()
		x.awaitAt(way[i].at)
		x.await(way[i].selector, way[i].words)
		x.await(`#live`, "Live")
	}
	for _, i := range []int{2, 3} {
		x.forward()
		x.awaitAt(way[i].at)
		x.await(way[i].selector, way[i].words)
	}
	x.deletes("walked", bucket)
}

// TestAPageOutlivesAnOutage stops the portal while a page is open: the page says so, and after the outage it shows what
// happened in the meantime, without a reload.
func TestAPageOutlivesAnOutage(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("outlived", "payments-outlived-1", "")
	x.goTo(list + "?q=outlived")
	x.await(`#live`, "Live")
	x.mark()
	x.away.Store(true)
	portal := world.Part("portal")
	x.must(portal.Stop())
	x.await(`#live`, "Reconnecting")
	x.every("outage")
	buckets := dynamic.NewForConfigOrDie(world.Admin).Resource(
		v1alpha1.GroupVersion.WithResource("s3buckets")).Namespace("payments")
	x.must(erase(t.Context(), buckets, "outlived"))
	x.must(portal.Start(context.WithoutCancel(t.Context())))
	x.await(`#live`, "Live")
	x.awaitGone(`#r-s3buckets-outlived`)
	x.stillMarked()
	awaitNoBucket(t, bucket)
}

// at returns the tab's path and query.
func (x *tab) at() string {
	u, err := url.Parse(x.where())
	if err != nil {
		return x.where()
	}
	return strings.TrimSuffix(u.Path+"?"+u.RawQuery, "?")
}

func (x *tab) awaitAt(at string) { x.awaitAddress(at, func(now string) bool { return now == at }) }

// awaitAsked waits until the query of the address contains part.
func (x *tab) awaitAsked(part string) {
	x.awaitAddress("…"+part, func(now string) bool {
		_, query, _ := strings.Cut(now, "?")
		return slices.Contains(strings.Split(query, "&"), part)
	})
}

func (x *tab) awaitAddress(at string, is func(now string) bool) {
	x.t.Helper()
	for began := time.Now(); !is(x.at()) || x.text("main") == ""; time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > patience {
			x.t.Fatalf("the tab is at %s, want %s:\n%s", x.at(), at, x.body())
		}
	}
}
