//go:build browser

package browser

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	pagecdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// inject makes each page that is loaded later run a script before its own.
func (x *tab) inject(script string) {
	x.t.Helper()
	ctx, cancel := x.bounded()
	defer cancel()
	params := pagecdp.AddScriptToEvaluateOnNewDocumentParams{Source: script}
	_, err := chromedp.Call(ctx, pagecdp.AddScriptToEvaluateOnNewDocument, params)
	x.must(err)
}

// wrongClock gives the tab a clock that is off by window.off hours, and a monotonic clock that has stopped for
// window.slept hours, as during a laptop's sleep.
const wrongClock = `(() => {
	const now = Date.now.bind(Date), since = performance.now.bind(performance)
	window.off = %OFF%
	window.slept = 0
	Date.now = () => now() + window.off * 3600e3
	performance.now = () => since() - window.slept * 3600e3
})()`

// TestAgesGoByTheServersClock checks the ages with a browser whose clock is an hour ahead or behind, is corrected while
// the page is open, or stops for a while.
func TestAgesGoByTheServersClock(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("timed", "payments-timed-1", "")
	for name, off := range map[string]int{"ahead": 1, "behind": -1} {
		x.inject(strings.ReplaceAll(wrongClock, "%OFF%", strconv.Itoa(off)))
		x.goTo(list)
		x.await(`#r-s3buckets-timed`, "Ready")
		x.await(`#live`, "Live")
		x.young(name)
		_ = eval[bool](x, `(window.off = 0, true)`)
		x.young("set right after being " + name)
		_ = eval[bool](x, `(window.slept = 3, true)`)
		x.young("asleep after being " + name)
	}
	x.deletes("timed", bucket)
}

// young fails unless the page, which computes the ages after each update, shows that the bucket is seconds or minutes
// old.
func (x *tab) young(what string) {
	x.t.Helper()
	const age = `document.querySelector("#r-s3buckets-timed time[data-age]")`
	// Remove what the server wrote, so that only the script's text is checked.
	_ = eval[bool](x, `(`+age+`.textContent = "?", true)`)
	began := time.Now()
	for {
		got := eval[string](x, `(document.dispatchEvent(new Event("htmx:after:swap")), `+age+`.textContent)`)
		if m := regexp.MustCompile(`^(\d+) (s|min)( ago)?$`).FindStringSubmatch(strings.TrimSpace(got)); m != nil {
			if n, _ := strconv.Atoi(m[1]); m[2] == "s" || n < 10 {
				return
			}
		}
		if time.Since(began) > patience {
			x.t.Errorf("%s: the bucket is %q old", what, got)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
