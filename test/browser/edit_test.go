//go:build browser

package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// edits opens the edit form of a bucket from its page.
func (x *tab) edits(name string) {
	x.t.Helper()
	x.goTo(s3one + name)
	x.click(`#buttons a[href$="/edit"]`)
	x.awaitPath(s3one + name + "/edit")
}

func (x *tab) choose(field, value string) {
	x.t.Helper()
	x.do(chromedp.SetValue(chromedp.CSS(`[name="`+field+`"]`), value))
}

func (x *tab) reviews(words string) {
	x.t.Helper()
	x.click(`.go button[value="review"]`)
	x.await(`main`, words)
}

// applies confirms a review and waits until the bucket has been changed.
func (x *tab) applies(name string) {
	x.t.Helper()
	x.click(`button[value="create"]`)
	x.awaitPath(s3one + name)
	x.await(`#status`, "Ready")
}

// TestAnEditIsReviewedAndApplied changes a bucket, and checks each page on the way.
func TestAnEditIsReviewedAndApplied(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("edited", "payments-edited-1", "Enabled")
	x.edits("edited")
	x.await(`#f-spec-bucketName`, "payments-edited-1")
	x.every("edit")
	x.reviews("Nothing would change.")
	x.every("edit-nothing")
	x.click(`button[value="form"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`[name="spec.versioning"]`))) // the review also has #as-kubectl
	x.click(`#as-kubectl-fold > summary`)
	x.await(`#as-kubectl`, "kubectl patch")
	x.choose("spec.versioning", "Suspended")
	x.await(`#as-kubectl`, `"versioning":"Suspended"`) // the preview is updated
	x.reviews("Looks good.")
	x.await(`pre.diff .minus`, "versioning: Enabled")
	x.await(`pre.diff .plus`, "versioning: Suspended")
	x.every("edit-review")
	x.applies("edited")
	if got := versioning(t, bucket); got != "Suspended" {
		t.Errorf("versioning is %q", got)
	}
	x.edits("edited")
	x.click(`button[value="yaml"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`#yaml`)))
	_ = eval[bool](
		x,
		`(() => { const y = document.querySelector("#yaml"); y.value = y.value.replace("metadata:", "metadata:\n  labels: {team: ledger}"); return true })()`)
	x.reviews("Looks good.")
	x.await(`pre.diff .plus`, "labels")
	x.applies("edited")
	x.goTo(s3one + "edited?tab=yaml")
	x.await(`#object`, "team: ledger")
	x.deletes("edited", bucket)
}

// TestTwoWhoEditTheSameLoseNothing checks that changes of different fields are merged, and that the user chooses where
// both have changed the same field.
func TestTwoWhoEditTheSameLoseNothing(t *testing.T) {
	first, second := open(t), open(t)
	first.signIn("payments-dev", "payments")
	bucket := first.request("shared", "payments-shared-1", "Enabled")
	second.signIn("payments-dev", "payments")
	second.edits("shared")
	first.edits("shared")
	first.choose("spec.versioning", "Suspended")
	first.choose("spec.forceDestroy", "true")
	first.reviews("Looks good.")
	first.applies("shared")
	second.click(`button[value="add spec.tags"]`)
	second.do(chromedp.WaitVisible(chromedp.CSS(`[name="spec.tags[0].key"]`)))
	second.fill(`[name="spec.tags[0].key"]`, "cost")
	second.fill(`[name="spec.tags[0].value"]`, "42")
	second.choose("spec.forceDestroy", "false")
	second.reviews("Somebody else changed shared while you edited it.")
	second.await(`[aria-labelledby="both"]`, "Force destroy")
	second.await(`[aria-labelledby="only-them"]`, "Versioning")
	second.await(`[aria-labelledby="only-me"]`, "Tags, cost")
	second.every("conflict")
	second.click(`button[value="merge"]`)
	second.await(`main`, "Choose one of the two.")
	second.every("conflict-undecided")
	second.click(`.side input[value="mine"]`)
	second.click(`button[value="merge"]`)
	second.await(`main`, "Looks good.")
	second.await(`pre.diff`, `cost: "42"`)
	second.applies("shared")
	second.goTo(s3one + "shared?tab=yaml")
	for _, held := range []string{"versioning: Suspended", `cost: "42"`, "forceDestroy: false"} {
		second.await(`#object`, held)
	}
	first.edits("shared")
	second.deletes("shared", bucket)
	first.choose("spec.versioning", "Enabled")
	first.reviews("shared was deleted while you edited it.")
	first.every("edit-gone")
	first.click(`button[value="form"]`)
	first.awaitPath(ask)
	if got := eval[string](first, `document.querySelector('[name="spec.versioning"]').value`); got != "Enabled" {
		t.Errorf("asked for again, versioning is %q", got)
	}
}

// TestAnEditWithoutJavaScript edits a bucket, and resolves a conflict, with plain forms.
func TestAnEditWithoutJavaScript(t *testing.T) {
	x, other := open(t), open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("plain-edit", "payments-plain-edit-1", "Enabled")
	x.scripts(false)
	x.edits("plain-edit")
	x.click(`button[value="add spec.tags"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`[name="spec.tags[0].key"]`)))
	x.fill(`[name="spec.tags[0].key"]`, "cost")
	x.fill(`[name="spec.tags[0].value"]`, "42")
	other.signIn("payments-dev", "payments")
	other.edits("plain-edit")
	other.choose("spec.versioning", "Suspended")
	other.reviews("Looks good.")
	other.applies("plain-edit")
	x.reviews("You changed different things: both will hold.")
	x.click(`button[value="merge"]`)
	x.await(`main`, "Looks good.")
	x.click(`button[value="create"]`)
	x.awaitPath(s3one + "plain-edit")
	x.goTo(s3one + "plain-edit?tab=yaml")
	x.await(`#object`, `cost: "42"`)
	x.await(`#object`, "versioning: Suspended")
	other.deletes("plain-edit", bucket)
}

// TestAnEditByKeyboardAlone changes a bucket with the keyboard only.
func TestAnEditByKeyboardAlone(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("keyed", "payments-keyed-1", "Enabled")
	x.tabTo(`#buttons a[href$="/edit"]`)
	x.press(kb.Enter)
	x.awaitPath(s3one + "keyed/edit")
	x.tabTo(`[name="spec.versioning"]`)
	x.press("Suspended")
	x.tagsByKeyboard()
	x.tabTo(`.go button[value="review"]`)
	x.press(kb.Enter)
	x.await(`main`, "Looks good.")
	x.await(`pre.diff`, `cost: "42"`)
	x.tabTo(`button[value="create"]`)
	x.press(kb.Enter)
	x.awaitPath(s3one + "keyed")
	x.await(`#status`, "Ready")
	if got := versioning(t, bucket); got != "Suspended" {
		t.Errorf("versioning is %q", got)
	}
	x.deletes("keyed", bucket)
}

// tagsByKeyboard adds two tags and removes the second one: the focus moves to the added input, and after the removal to
// the group that contained it.
func (x *tab) tagsByKeyboard() {
	x.t.Helper()
	for i, key := range []string{"cost", "team"} {
		x.tabTo(`button[value="add spec.tags"]`)
		x.press(kb.Enter)
		x.awaitTrue(fmt.Sprintf(`document.activeElement.name === "spec.tags[%d].key"`, i))
		x.press(key)
		x.press(kb.Tab)
		x.press("42")
	}
	x.tabTo(`button[value="remove spec.tags[1]"]`)
	x.press(kb.Enter)
	x.awaitGone(`[name="spec.tags[1].key"]`)
	x.awaitTrue(`document.activeElement.id === "f-spec-tags"`)
	x.awaitValue("spec.tags[0].value", "42")
}

// TestChoicesByKeyboardAlone checks that a filter updates the list and keeps the focus. A choice that opens another
// page waits for its button, because arrow keys also select the options in between.
func TestChoicesByKeyboardAlone(t *testing.T) {
	x := open(t)
	x.signIn("platform-admin", "_platform")
	x.await(`#list`, "aws-local")
	x.mark()
	x.tabTo(`[name="status"]`)
	x.press("Paused")
	x.await(`#list`, "No matches")
	x.awaitAsked("status=paused")
	x.awaitTrue(`document.activeElement.name === "status"`)
	x.stillMarked()
	x.goTo("/teams/_platform")
	x.mark()
	x.tabTo(`#team`)
	x.press("search")
	x.awaitValue("team", "search")
	x.press(kb.Tab)
	x.stillMarked()
	if !eval[bool](x, `document.activeElement.matches(".team button:focus-visible")`) {
		t.Fatalf("the focus is on %s", eval[string](x, `document.activeElement.outerHTML`))
	}
	x.press(kb.Enter)
	x.awaitPath("/teams/search")
}
