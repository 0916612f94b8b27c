//go:build browser

package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/portico-platform/portico/test/tiers"
)

// TestSevenWindowsShareTheConnections opens seven visible windows, although a browser has six connections to a host
// with HTTP/1.1. Each of them can load another page, those without a stream are updated nevertheless, and one of them
// gets a stream when another window is closed.
func TestSevenWindowsShareTheConnections(t *testing.T) {
	tiers.Long(t)
	x := open(t)
	x.signIn("payments-dev", "payments")
	windows := []*tab{x}
	for len(windows) < 7 {
		w := x.another()
		w.goTo(list)
		windows = append(windows, w)
	}
	for _, w := range windows {
		w.awaitTrue(`["Live", "Every few seconds"].includes(document.querySelector("#live")?.textContent)`)
	}
	if live := following(windows); live != 4 {
		t.Errorf("%d windows follow live", live)
	}
	for i, w := range windows {
		began := time.Now()
		w.goTo("/teams/payments/catalog")
		w.await(`main`, "Bucket")
		w.goTo(list)
		w.await(`main`, "Resources")
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("window %d took %s for two pages", i, took)
		}
	}
	asker := open(t)
	asker.signIn("payments-dev", "payments")
	bucket := asker.request("shared", "payments-shared-1", "")
	for _, w := range windows {
		w.await(`#r-s3buckets-shared`, "Ready")
	}
	var went int
	for i, w := range windows {
		if w.text(`#live`) == "Live" {
			w.do(chromedp.Navigate("about:blank"))
			went = i
			break
		}
	}
	rest := append(append([]*tab{}, windows[:went]...), windows[went+1:]...)
	for began := time.Now(); following(rest) != 4; time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("%d windows follow live after one went", following(rest))
		}
	}
	asker.deletes("shared", bucket)
	for _, w := range rest {
		w.awaitGone(`#r-s3buckets-shared`)
	}
}

// following returns how many windows have a live stream.
func following(windows []*tab) (n int) {
	for _, w := range windows {
		if strings.TrimSpace(w.text(`#live`)) == "Live" {
			n++
		}
	}
	return n
}
