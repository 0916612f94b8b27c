//go:build browser

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestAPickerNoticesWhatWasMadeInAnotherTab opens a form that offers no queue, and requests one in another tab. Back in
// the first tab it can be chosen, and the entries are still there.
func TestAPickerNoticesWhatWasMadeInAnotherTab(t *testing.T) {
	const form, name, queue = "/teams/payments/new/sqsqueues", `[name="metadata.name"]`,
		`[name="spec.deadLetterQueue.targetRef.name"]`
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo(form)
	x.fill(name, "orders")
	if kind := eval[string](x, `document.querySelector('`+queue+`').tagName`); kind != "INPUT" {
		t.Fatalf("a queue is picked from a %s though there is none", kind)
	}
	other := x.another()
	other.goTo(form)
	other.fill(name, "undelivered")
	other.reviews("Looks good.")
	other.click(`button[value="create"]`)
	other.await(`#status`, "Ready")

	x.comesBack()
	x.await(queue, "undelivered")
	x.do(chromedp.SetValue(chromedp.CSS(queue), "undelivered"))
	if got := eval[string](x, `document.querySelector('`+name+`').value`); got != "orders" {
		t.Errorf("the name is %q", got)
	}
	x.comesBack()
	if got := eval[string](x, `document.querySelector('`+queue+`').value`); got != "undelivered" {
		t.Errorf("the choice became %q", got)
	}
	other.goTo("/teams/payments/sqsqueues/undelivered/delete")
	other.fill(`#typed`, "undelivered")
	other.click(`.go button`)
	other.awaitPath(list)
	other.awaitGone(`#r-sqsqueues-undelivered`)
	x.comesBack()
	x.await(`#f-spec-deadLetterQueue-targetRef-name-pick`, "payments has none yet.")
	if got := eval[string](x, `document.querySelector('`+queue+`').value`); got != "undelivered" {
		t.Errorf("what was entered became %q", got)
	}
}

// comesBack sends the page the event for a tab that becomes visible again, and waits until the page has requested and
// shown the new choices.
func (x *tab) comesBack() {
	x.t.Helper()
	_ = eval[bool](x, `new Promise((done) => {
		document.addEventListener("htmx:after:swap", () => done(true), { once: true });
		document.dispatchEvent(new Event("visibilitychange"));
	})`)
}
