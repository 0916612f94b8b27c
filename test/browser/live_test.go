//go:build browser

package browser

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/portico-platform/portico/portal/sse"
)

// TestFiltersKeepThePage types into the search field: rows and address are updated, the page and the focus stay, and
// the stream continues with the new filter.
func TestFiltersKeepThePage(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	one := x.request("filter-one", "payments-filter-1", "")
	two := x.request("filter-two", "payments-filter-2", "")
	x.goTo(list)
	x.await(`#live`, "Live")
	x.mark()
	x.fill(`[name="q"]`, "filter-two")
	x.awaitGone(`#r-s3buckets-filter-one`)
	x.await(`#r-s3buckets-filter-two`, "Ready")
	x.await(`#found[role="status"]`, "1 of ")
	x.stillMarked()
	if at := x.where(); !strings.HasSuffix(at, list+"?q=filter-two") {
		t.Errorf("the address is %s", at)
	}
	if got := eval[string](x, `document.activeElement.name`); got != "q" {
		t.Errorf("the focus is on %q", got)
	}
	if got := eval[string](x,
		`document.querySelector("[hx-sse\\:connect]").getAttribute("hx-sse:connect")`); !strings.HasSuffix(got,
		"live?q=filter-two") {
		t.Errorf("the stream asks for %s", got)
	}
	asker := open(t)
	asker.signIn("payments-dev", "payments")
	asker.deletes("filter-two", two)
	x.await(`#list`, "No matches")
	x.stillMarked()
	asker.deletes("filter-one", one)
}

// TestHiddenTabsFollowNothing checks that a hidden tab has no stream, and is updated once it is visible again.
func TestHiddenTabsFollowNothing(t *testing.T) {
	x, asker := open(t), open(t)
	x.signIn("payments-dev", "payments")
	asker.signIn("payments-dev", "payments")
	x.await(`#live`, "Live")
	x.mark()
	x.hidden(true)
	bucket := asker.request("unseen", "payments-unseen-1", "")
	if strings.Contains(x.text(`#list`), "unseen") {
		t.Error("a hidden tab follows")
	}
	x.hidden(false)
	x.await(`#r-s3buckets-unseen`, "Ready")
	x.stillMarked()
	asker.deletes("unseen", bucket)
}

// hidden makes the page believe that its tab is hidden, or visible: in headless Chromium every tab is visible.
func (x *tab) hidden(is bool) {
	x.t.Helper()
	_ = eval[bool](x, fmt.Sprintf(
		`Object.defineProperty(document, "hidden", {configurable: true, value: %t}); document.dispatchEvent(new Event("visibilitychange"))`, is))
}

// TestStreamsEndWithTheSession signs out in one tab, and checks that another tab of the same browser leaves its page.
func TestStreamsEndWithTheSession(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	other := x.another()
	other.goTo(list)
	other.await(`#live`, "Live")
	x.click(`.who button`)
	x.await(`main`, "You are signed out")
	began := time.Now()
	other.await(`main h1`, "Self-service cloud for your team")
	t.Logf("the other tab left %.1f s after signing out", time.Since(began).Seconds())
}

// TestAStreamThatIsRefusedAtFirstIsOpenedLater has a user with the maximum number of streams open another page.
func TestAStreamThatIsRefusedAtFirstIsOpenedLater(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.do(chromedp.Navigate("about:blank")) // so that its own stream ends
	release := x.follows(list+"/live", sse.MaxStreams)
	x.goTo(list)
	x.await(`#live`, "Reconnecting")
	release()
	x.await(`#live`, "Live")
	if got := x.text(`#flash`); got != "" {
		t.Errorf("the page still says %q", got)
	}
}

// follows opens streams as the tab's user until there are as many as requested, or as possible if tabs of earlier tests
// still have some, and returns a function that closes them.
func (x *tab) follows(path string, many int) (release func()) {
	x.t.Helper()
	ctx, cancel := context.WithCancel(x.t.Context())
	got, err := chromedp.Call(x.ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{world.PortalURL}})
	x.must(err)
	for began, n := time.Now(), 0; n < many; {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, world.PortalURL+path, nil)
		x.must(err)
		for _, c := range got.Cookies {
			req.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
		}
		res, err := http.DefaultClient.Do(req)
		x.must(err)
		if res.StatusCode == http.StatusOK { // open until ctx is cancelled
			n++
			continue
		}
		_ = res.Body.Close()
		if time.Since(began) > patience {
			if n < many/2 {
				x.t.Fatalf("stream %d is answered %s", n, res.Status)
			}
			break
		}
		time.Sleep(time.Second) // too frequent requests are refused as well
	}
	return cancel
}

// awaitGone waits until no element matches.
func (x *tab) awaitGone(selector string) {
	x.t.Helper()
	for began := time.Now(); eval[bool](x, `!!document.querySelector(`+quote(selector)+`)`); time.Sleep(
		50 * time.Millisecond) {
		if time.Since(began) > patience {
			x.t.Fatalf("%s is still there:\n%s", selector, x.body())
		}
	}
}
