//go:build browser

package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// back presses the browser's Back button. A page that is restored from the back/forward cache fires no load event, for
// which chromedp would wait.
func (x *tab) back() {
	x.t.Helper()
	_ = eval[bool](x, `(setTimeout(() => history.back(), 0), true)`)
}

// forward presses the Forward button.
func (x *tab) forward() {
	x.t.Helper()
	_ = eval[bool](x, `(setTimeout(() => history.forward(), 0), true)`)
}

// awaitValue waits until an input holds a value.
func (x *tab) awaitValue(field, value string) {
	x.t.Helper()
	x.awaitTrue(`document.querySelector('[name="` + field + `"]').value === "` + value + `"`)
}

// awaitTrue waits until an expression is true; it can fail while a page is loading.
func (x *tab) awaitTrue(expression string) {
	x.t.Helper()
	for began := time.Now(); time.Since(began) < patience; time.Sleep(50 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(x.ctx, 5*time.Second)
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		cancel()
		if err == nil && is {
			return
		}
	}
	x.t.Fatalf("not so: %s\nat %s:\n%s", expression, x.where(), x.body())
}

// kept returns everything that this tab has stored for forms.
func (x *tab) kept() string {
	x.t.Helper()
	return eval[string](x, `decodeURIComponent(Object.values({...sessionStorage}).join("\n"))`)
}

// TestWhatWasEnteredIsThereAfterBack checks that entries are restored after Back: from the review, from a page with
// errors, as YAML, after reloading, and after the request was sent. Values that look like secrets are not stored, and
// signing out deletes the rest.
func TestWhatWasEnteredIsThereAfterBack(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo(askApp)
	x.fill(`[name="metadata.name"]`, "1back")
	x.fill(`[name="spec.image"]`, "registry.example.com/payments/shop:1.4.2")
	for i, name := range []string{"LOG_LEVEL", "DB_PASSWORD"} {
		row := "spec.env[" + string(rune('0'+i)) + "]"
		x.adds("spec.env", row+".name")
		x.fill(`[name="`+row+`.name"]`, name)
		x.fill(`[name="`+row+`.value"]`, "worth-"+name)
	}
	x.refusedAt("metadata.name", "a letter in front")
	x.fill(`[name="metadata.name"]`, "back")
	x.reviews("Looks good.")
	x.back()
	x.awaitValue("metadata.name", "back")
	x.awaitValue("spec.env[0].value", "worth-LOG_LEVEL")
	x.awaitValue("spec.env[1].name", "DB_PASSWORD")
	x.awaitValue("spec.env[1].value", "")
	if got := x.kept(); !strings.Contains(got, "worth-LOG_LEVEL") || strings.Contains(got, "worth-DB_PASSWORD") {
		t.Errorf("the tab keeps %s", got)
	}
	x.click(`button[value="remove spec.env[1]"]`)
	x.do(chromedp.WaitNotPresent(chromedp.CSS(`[name="spec.env[1].name"]`)))
	x.do(chromedp.Reload())
	x.awaitValue("spec.env[0].value", "worth-LOG_LEVEL")
	x.click(`button[value="yaml"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`#yaml`)))
	_ = eval[bool](
		x,
		`(() => { const y = document.querySelector("#yaml"); y.value = y.value.replace("name: back", "name: backwards"); y.dispatchEvent(new Event("input", {bubbles: true})); return true })()`)
	x.reviews("Looks good.")
	x.back()
	x.awaitTrue(`document.querySelector("#yaml").value.includes("name: backwards")`)
	x.reviews("Looks good.")
	x.click(`button[value="create"]`)
	x.awaitPath("/teams/payments/webapps/backwards")
	x.back()
	x.awaitValue("metadata.name", "backwards")
	x.awaitValue("spec.env[0].value", "worth-LOG_LEVEL")
	x.discards("webapps", "backwards")
	x.click(signOut)
	x.await(`main`, "You are signed out")
	if got := x.kept(); got != "" {
		t.Errorf("after signing out the tab keeps %s", got)
	}
}

// TestWithoutScriptsTheReviewLeadsBackToTheForm checks that the form then has all entries.
func TestWithoutScriptsTheReviewLeadsBackToTheForm(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.scripts(false)
	x.goTo(ask)
	x.fill(`[name="metadata.name"]`, "plain")
	x.fill(`[name="spec.bucketName"]`, "payments-plain-1")
	x.click(`.go button[value="review"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`pre.diff`)))
	x.click(`.go button[value="form"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`[name="spec.bucketName"][value="payments-plain-1"]`)),
		chromedp.WaitVisible(chromedp.CSS(`[name="metadata.name"][value="plain"]`)))
}
