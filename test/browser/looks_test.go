//go:build browser

package browser

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestEveryPageIsAccessibleAndFits runs axe-core on every page, light and dark, wide and narrow; narrow pages must not
// scroll sideways. With SCREENSHOTS set it also takes screenshots.
func TestEveryPageIsAccessibleAndFits(t *testing.T) {
	x := open(t)
	x.goTo(list)
	x.await(`main`, "Sign in")
	x.every("sign-in")
	x.goTo("/auth/callback?state=old&code=used")
	x.await(`main`, "no longer valid")
	x.every("sign-in-failed")
	x.signIn("payments-dev", "payments")
	x.every("empty")
	bucket := x.request("looks", "payments-looks-1", "Enabled")
	taken := x.request("looks-too", "payments-looks-2", "")
	pages := []struct{ name, path string }{
		{"resources", list},
		{"nothing-matches", list + "?q=nothing"},
		{"catalog", "/teams/payments/catalog"},
		{"form", ask},
		{"detail", s3one + "looks"},
		{"events", s3one + "looks?tab=events"},
		{"yaml", s3one + "looks?tab=yaml"},
		{"delete", s3one + "looks/delete"},
		{"not-found", s3one + "there-is-none"},
		{"no-access", "/teams/search"},
		{"no-page", "/nowhere"},
		{"api", "/api/docs"},
		{"api-kind", "/api/docs/s3bucket"},
	}
	for _, p := range pages {
		x.goTo(p.path)
		x.every(p.name)
	}
	x.goTo(ask)
	x.click(`details.more > summary`)
	for _, add := range []string{"spec.tags", "spec.corsRules", "spec.lifecycleRules"} {
		x.click(`button[value="add ` + add + `"]`)
		x.do(chromedp.WaitVisible(chromedp.CSS(`[name^="` + add + `[0]"]:not([type=hidden])`)))
	}
	x.every("form-unfolded")
	x.goTo(list)
	x.goTo(ask)
	x.fill(`[name="metadata.name"]`, "looks-three")
	x.click(`button[value="yaml"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`#yaml`)))
	x.every("form-yaml")
	x.click(`.go button[value="review"]`)
	x.await(`main`, "Looks good.")
	x.every("review")
	x.deletes("looks", bucket)
	x.deletes("looks-too", taken)
	x.click(`.who button`)
	x.await(`main`, "You are signed out")
	x.every("signed-out")
}

// every checks the current page in both themes and both widths.
func (x *tab) every(name string) {
	x.t.Helper()
	lookedAt(x.where())
	for _, width := range []int64{1280, 390} {
		x.do(chromedp.EmulateViewport(width, 844))
		for _, theme := range []string{"light", "dark"} {
			x.theme(theme)
			x.rests(name)
			x.fits(name, width)
			x.axe(fmt.Sprintf("%s, %s, %d px", name, theme, width))
			x.shot(fmt.Sprintf("%s-%d-%s", name, width, theme))
			if width > 390 {
				x.forDocs(name + "-" + theme)
			}
		}
	}
	x.do(chromedp.EmulateViewport(1280, 900))
}

// rests checks that nothing is animated, because theme also requests reduced motion.
func (x *tab) rests(name string) {
	x.t.Helper()
	if moving := eval[int](x, `document.getAnimations().filter(a => a.playState === "running").length`); moving > 0 {
		x.t.Errorf("%s has %d animations for somebody who wants less motion", name, moving)
	}
}

func (x *tab) fits(name string, width int64) {
	x.t.Helper()
	if over := eval[int](x, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		x.t.Errorf("%s is %d px too wide at %d px", name, over, width)
	}
}

// axe reports the violations of WCAG 2.2 AA and of best practices that axe-core finds.
func (x *tab) axe(name string) {
	x.t.Helper()
	if !eval[bool](x, `typeof axe === "object"`) {
		_ = eval[bool](x, axe+`; true`)
	}
	found := eval[[]string](
		x, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(r =>
		r.violations.map(v => v.id + ": " + v.help + "\n    " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " — " + (n.any[0] || n.all[0] || {message: ""}).message).join("\n    ")))`)
	for _, f := range found {
		x.t.Errorf("%s: %s", name, f)
	}
}

// TestFirstPageIsSmall limits what a browser loads for the first page: 100 kB in total, 40 kB of scripts and styles.
func TestFirstPageIsSmall(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	html := eval[int](x, `fetch(location.href).then(r => r.arrayBuffer()).then(b => b.byteLength)`)
	assets := eval[[]string](x, `[...document.querySelectorAll("script[src], link[href]")].map(e => e.src || e.href)`)
	code, total := 0, html
	for _, a := range assets {
		n := weigh(t, a)
		total += n
		if !strings.HasSuffix(a, ".svg") {
			code += n
		}
	}
	t.Logf("first page: %d bytes in all, of which HTML %d, JS and CSS %d", total, html, code)
	if code > 40<<10 || total > 100<<10 {
		t.Errorf("JS and CSS %d bytes of 40 kB, all %d of 100 kB", code, total)
	}
}

// weigh returns the size of a file as sent, compressed.
func weigh(t *testing.T, address string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK ||
		!strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
		t.Fatalf("%s: %d, %v, %q", address, res.StatusCode, err, res.Header.Get("Cache-Control"))
	}
	return len(b)
}
