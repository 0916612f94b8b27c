//go:build browser

package browser

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/portico-platform/portico/test/stack/chromium"
)

// patience is how long a test waits for anything that a page should do within moments.
const patience = 40 * time.Second

// tab is one browser tab of one user.
type tab struct {
	t   *testing.T
	ctx context.Context
	// away is set while the portal, or what it needs, is stopped: failed requests are no problems then.
	away atomic.Bool
	// plain is set if scripts are or were switched off, and mute while they are.
	plain, mute atomic.Bool

	mu       sync.Mutex
	problems []string
}

// open returns a tab without cookies. When the test ends, it fails if the pages have reported problems.
func open(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	return begin(&tab{t: t, ctx: ctx}, cancel)
}

// openFull returns a tab without cookies of a browser with a back/forward cache, which Chromium without windows does
// not have.
func openFull(t *testing.T) *tab {
	t.Helper()
	full, stop, err := chromium.Start(chromium.Full)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(full)
	return begin(&tab{t: t, ctx: ctx}, cancel)
}

// another returns another tab of the same browser, with the same cookies.
func (x *tab) another() *tab {
	x.t.Helper()
	ctx, cancel := chromedp.NewContext(x.ctx)
	return begin(&tab{t: x.t, ctx: ctx}, cancel)
}

func begin(x *tab, cancel context.CancelFunc) *tab {
	x.t.Helper()
	messages := chromedp.Console(x.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range messages {
			if err != nil {
				return
			}
			x.hear(m)
		}
	}()
	x.must(chromedp.Do(x.ctx, chromedp.EmulateViewport(1280, 900)))
	// Emulate focus in each tab: Chromium can treat tabs behind others as hidden, and they would have no live updates.
	_, err := chromedp.Call(x.ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{
		Enabled: true,
	})
	x.must(err)
	x.t.Cleanup(func() {
		if x.t.Failed() {
			x.shot("failed")
		}
		x.keep()
		cancel()
		<-done
		for _, p := range x.problems {
			x.t.Errorf("the page complained: %s", p)
		}
	})
	return x
}

// hear records errors and violations of the content security policy. It ignores the browser's message about a response
// with status 4xx, because tests request such pages, and htmx's message about a refused stream, after which the page
// leaves.
func (x *tab) hear(m chromedp.ConsoleMessage) {
	if m.Source == "network" && strings.Contains(m.Text, "the server responded with a status of 4") {
		return
	}
	if strings.Contains(m.String()+m.Text, "SSE reconnect failed with status 4") {
		return
	}
	if x.away.Load() && (m.Source == "network" || strings.Contains(m.Text, "htmx:sse:error")) {
		return
	}
	if x.plain.Load() && strings.Contains(m.String()+m.Text, "callback is no longer runnable") {
		return // the browser reports scripts that were waiting when scripts were switched off
	}
	bad := m.IsException() || m.Type == "error" || m.Source == "security" ||
		strings.Contains(m.Text, "Content Security Policy")
	if !bad {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.problems = append(x.problems, fmt.Sprintf("%s %s (%s)", m.Source, m.String(), m.URL))
}

// TestViolationsAreHeard checks that the tests notice a script that the policy forbids.
func TestViolationsAreHeard(t *testing.T) {
	x := open(t)
	x.goTo(list)
	x.await(`main`, "Sign in")
	_ = eval[bool](
		x,
		`document.body.append(Object.assign(document.createElement("script"), {textContent: "window.broken = true"})), window.broken === true`)
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		x.mu.Lock()
		heard := x.problems
		x.problems = nil
		x.mu.Unlock()
		if len(heard) > 0 {
			return
		}
		if time.Since(began) > patience {
			t.Fatal("an inline script is no complaint")
		}
	}
}

func (x *tab) must(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatalf("%v\nat %s:\n%s", err, x.where(), x.body())
	}
}

func (x *tab) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(x.ctx, patience)
}

// do performs the steps. A page can replace an element after a step has found it and before it acts: then nothing has
// happened, and the steps, which must be repeatable, are repeated.
func (x *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	x.t.Helper()
	ctx, cancel := x.bounded()
	defer cancel()
	err := chromedp.Do(ctx, steps...)
	for tries := 1; tries < 5 && replaced(err); tries++ {
		err = chromedp.Do(ctx, steps...)
	}
	x.must(err)
}

// replaced reports whether a step failed because the page had replaced the element by the time it acted.
func replaced(err error) bool {
	return err != nil && regexp.MustCompile(`Could not find node|No node with given id`).MatchString(err.Error())
}

// goTo opens a path of the portal.
func (x *tab) goTo(path string) {
	x.t.Helper()
	x.do(chromedp.Navigate(world.PortalURL + path))
}

// click clicks on an element. A page can move, or show a bar over the element, after its position was read and before
// the click, which then hits something else: with scripts, the page reports what was hit, and the click is repeated.
func (x *tab) click(selector string) {
	x.t.Helper()
	if x.mute.Load() {
		x.do(chromedp.Click(chromedp.CSS(selector)))
		return
	}
	began := time.Now()
	for {
		x.do(chromedp.WaitVisible(chromedp.CSS(selector)))
		_ = eval[bool](x, fmt.Sprintf(`(() => {
			const hit = e => window.missed = e.composedPath().some(n => n.matches?.(%[1]q)) ? "" : e.target.outerHTML?.slice(0, 200) ?? "the page"
			window.missed = "nothing"
			document.addEventListener("click", hit, {capture: true, once: true})
			return true
		})()`, selector))
		x.do(chromedp.Click(chromedp.CSS(selector)))
		missed := x.missed()
		if missed == "" {
			return
		}
		x.t.Logf("the click on %s went to %s", selector, missed)
		if time.Since(began) > patience {
			x.t.Fatalf("no click reaches %s, at %s:\n%s", selector, x.where(), x.body())
		}
		_ = eval[bool](x, fmt.Sprintf(`(document.querySelector(%q)?.scrollIntoView({block: "center"}), true)`,
			selector))
	}
}

// missed returns what the last click hit if it missed its element, and "" if it did not, or if it opened another page.
func (x *tab) missed() string {
	ctx, cancel := context.WithTimeout(x.ctx, 5*time.Second)
	defer cancel()
	s, err := chromedp.Run(ctx, chromedp.Evaluate[string](`window.missed ?? ""`))
	if err != nil {
		return "" // between two pages
	}
	return s
}

// fill replaces an input's text as people do: it focuses the input, selects all and types. (chromedp.Clear would change
// the value attribute, which a user cannot and which the next live update restores.)
func (x *tab) fill(selector, text string) {
	x.t.Helper()
	x.do(chromedp.Focus(chromedp.CSS(selector)))
	_ = eval[bool](x, `(document.activeElement.select(), true)`)
	x.do(chromedp.SendKeys(chromedp.CSS(selector), cmp.Or(text, kb.Delete)))
}

// eval evaluates an expression as the developer tools do, to which the pages' policy does not apply.
func eval[T any](x *tab, expression string) T {
	x.t.Helper()
	ctx, cancel := x.bounded()
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	x.must(err)
	return v
}

// await waits until the text of an element contains words.
func (x *tab) await(selector, words string) {
	x.t.Helper()
	began := time.Now()
	for {
		got := x.text(selector)
		if strings.Contains(got, words) {
			x.keep()
			return
		}
		if time.Since(began) > patience {
			x.t.Fatalf("%s says %q, want %q, at %s:\n%s", selector, got, words, x.where(), x.body())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// text returns an element's text, or "" if it does not exist.
func (x *tab) text(selector string) string {
	ctx, cancel := context.WithTimeout(x.ctx, 5*time.Second)
	defer cancel()
	s, err := chromedp.Run(ctx,
		chromedp.Evaluate[string](fmt.Sprintf(`(document.querySelector(%q) || {}).innerText || ""`, selector)))
	if err != nil {
		return "" // between two pages
	}
	return s
}

func (x *tab) body() string { return x.text("body") }

func (x *tab) where() string {
	ctx, cancel := context.WithTimeout(x.ctx, 5*time.Second)
	defer cancel()
	at, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		return "nowhere"
	}
	return at
}

// awaitPath waits until the tab shows a path of the portal, and the page is loaded.
func (x *tab) awaitPath(path string) {
	x.t.Helper()
	began := time.Now()
	for {
		if u, err := url.Parse(x.where()); err == nil && u.Path == path && x.text("main") != "" {
			return
		}
		if time.Since(began) > patience {
			x.t.Fatalf("the tab is at %s, want %s:\n%s", x.where(), path, x.body())
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// signIn signs a sample user in through Dex and ends on the team's list of resources.
func (x *tab) signIn(user, team string) {
	x.t.Helper()
	x.goTo("/teams/" + team)
	if !strings.HasPrefix(x.where(), world.Issuer) {
		x.do(chromedp.WaitVisible(chromedp.CSS(`main a.btn.first`)))
		x.click(`main a.btn.first`)
	}
	x.enter(user)
	x.awaitPath("/teams/" + team)
}

// enter fills in a sample user's login at Dex and submits it.
func (x *tab) enter(user string) {
	x.t.Helper()
	x.do(chromedp.WaitVisible(chromedp.CSS(`#login`)))
	x.fill(`#login`, user+"@portico.test")
	x.fill(`#password`, "portico")
	x.click(`#submit-login`)
}

// mark sets a variable on window, which a reload would remove, and starts to record layout shifts: what moved, how far,
// and their score.
func (x *tab) mark() {
	_ = eval[bool](x, `(() => {
		const name = n => n?.nodeType === 1 ? n.tagName.toLowerCase() + (n.id ? "#" + n.id : "") + " “" + n.textContent.trim().replace(/\s+/g, " ").slice(0, 30) + "”" : "?"
		const told = s => name(s.node) + " from " + Math.round(s.previousRect.y) + " to " + Math.round(s.currentRect.y)
		window.observer?.disconnect() // of an earlier mark, which would count everything twice
		window.jumps = 0
		window.moved = []
		window.observer = new PerformanceObserver(l => { for (const e of l.getEntries()) if (!e.hadRecentInput) {
			window.jumps += e.value
			window.moved.push(e.value.toFixed(3) + ": " + e.sources.map(told).join(", "))
		} })
		window.observer.observe({type: "layout-shift", buffered: false})
		return window.untouched = true
	})()`)
}

// still checks that the page was not reloaded since mark, and that live updates did not shift the layout by more than
// 0.1, which people notice.
func (x *tab) still() {
	x.t.Helper()
	x.stillMarked()
	jumps, moved := eval[float64](x, `window.jumps`), strings.Join(eval[[]string](x, `window.moved`), "\n")
	if jumps > 0.1 {
		x.t.Errorf("the page jumped by %.3f:\n%s", jumps, moved)
	} else {
		x.t.Logf("layout shift while the page followed: %.4f\n%s", jumps, moved)
	}
}

func (x *tab) stillMarked() {
	x.t.Helper()
	if !eval[bool](x, `window.untouched === true`) {
		x.t.Errorf("the page was loaded again")
	}
}

// theme makes the page light or dark.
func (x *tab) theme(name string) {
	x.t.Helper()
	ctx, cancel := x.bounded()
	defer cancel()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: name},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	x.must(err)
}

// scripts switches JavaScript on pages on or off.
func (x *tab) scripts(on bool) {
	x.t.Helper()
	ctx, cancel := x.bounded()
	defer cancel()
	x.plain.Store(x.plain.Load() || !on)
	x.mute.Store(!on)
	_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{
		Value: !on,
	})
	x.must(err)
}
