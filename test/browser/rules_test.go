//go:build browser

package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// TestBadNameStandsBesideItsInput submits what a CEL rule of the API server refuses.
func TestBadNameStandsBesideItsInput(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo(ask)
	x.fill(`[name="metadata.name"]`, "refused")
	x.fill(`[name="spec.bucketName"]`, "Invoices_2026")
	x.click(`.go button[value="review"]`)
	x.await(`#f-spec-bucketName-error`, "lower-case letters")
	x.await(`#problems:focus`, "lower-case letters") // the script moves the focus there once the page is loaded
	if got := eval[string](x, `document.querySelector('[name="spec.bucketName"]').value`); got != "Invoices_2026" {
		t.Errorf("the input holds %q: what was typed is lost", got)
	}
	described := eval[string](
		x, `document.querySelector('[name="spec.bucketName"][aria-invalid="true"]').getAttribute("aria-describedby")`)
	if !strings.Contains(described, "f-spec-bucketName-error") {
		t.Errorf("the input is described by %q", described)
	}
	x.click(`#problems a`)
	if got := eval[string](x, `location.hash`); got != "#f-spec-bucketName" {
		t.Errorf("the summary leads to %q", got)
	}
}

// TestOtherTeamSeesNothing checks that another team's developer gets the same response for what exists and what does
// not.
func TestOtherTeamSeesNothing(t *testing.T) {
	owner := open(t)
	owner.signIn("payments-dev", "payments")
	bucket := owner.request("private", "payments-private-1", "")
	x := open(t)
	x.signIn("search-dev", "search")
	if strings.Contains(x.text(`#team`), "payments") {
		t.Errorf("the switcher offers payments to the search developer")
	}
	for _, path := range []string{s3one + "private", s3one + "there-is-none", list} {
		x.goTo(path)
		x.await(`main`, "You have no access to this")
		if strings.Contains(x.body(), bucket) {
			t.Errorf("%s shows the bucket's name", path)
		}
	}
	owner.deletes("private", bucket)
}

// TestViewerMayOnlyLook checks that a viewer sees which actions are not allowed, and why.
func TestViewerMayOnlyLook(t *testing.T) {
	owner := open(t)
	owner.signIn("payments-dev", "payments")
	bucket := owner.request("looked-at", "payments-looked-at-1", "")
	defer owner.deletes("looked-at", bucket)
	x := open(t)
	x.signIn("viewer", "payments")
	x.await(`.head`, "Your role in payments can view, but not request.")
	if got := eval[int](
		x, `document.querySelectorAll('.head a.btn:not([href$="/deleted"]), .asks a').length`); got > 0 {
		t.Error("the list leads a viewer to what cannot be sent")
	}
	x.shot("list")
	x.goTo(s3one + "looked-at")
	x.await(`#buttons`, "Your role in payments can view this, but not change or delete it. Ask a developer of "+
		"the team.")
	x.await(`#live`, "Live")
	x.every("viewer")
	x.goTo("/teams/payments/catalog")
	x.await(`.tile.off`, "can view, but not request")
	x.goTo(ask)
	x.await(`main`, "You have no access to this")
}

// TestYAMLTabKeepsTheRequest switches from the form to YAML and back.
func TestYAMLTabKeepsTheRequest(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo(ask)
	x.fill(`[name="metadata.name"]`, "as-yaml")
	x.click(`details.more > summary`)
	x.click(`button[value="add spec.tags"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`[name="spec.tags[0].key"]`)))
	x.fill(`[name="spec.tags[0].key"]`, "cost")
	x.fill(`[name="spec.tags[0].value"]`, "42")
	x.await(`#as-yaml`, `cost: "42"`)
	x.click(`button[value="yaml"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`#yaml`)))
	if got := eval[string](x, `document.querySelector("#yaml").value`); !strings.Contains(got, `cost: "42"`) {
		t.Errorf("the YAML lacks the tag:\n%s", got)
	}
	x.click(`button[value="form"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`[name="spec.tags[0].key"]`)))
	if got := eval[string](x, `document.querySelector('[name="spec.tags[0].value"]').value`); got != "42" {
		t.Errorf("back in the form the tag is %q", got)
	}
}

// TestWithoutJavaScript requests a bucket with scripts switched off.
func TestWithoutJavaScript(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.scripts(false)
	x.goTo(ask)
	if eval[bool](x, `document.documentElement.classList.contains("js")`) {
		t.Fatal("scripts ran")
	}
	x.fill(`[name="metadata.name"]`, "plain")
	x.fill(`[name="spec.bucketName"]`, "payments-plain-1")
	x.click(`details.more > summary`)
	x.click(`button[value="add spec.lifecycleRules"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`[name="spec.lifecycleRules[0].expirationDays"]`)))
	x.fill(`[name="spec.lifecycleRules[0].expirationDays"]`, "30")
	x.click(`.go button[value="review"]`)
	x.await(`main`, "Looks good.")
	x.click(`button[value="create"]`)
	x.awaitPath(s3one + "plain")
	x.awaitAnew(`#status`, "Ready")
	x.goTo(list + "?q=plain&status=ready")
	x.await(`#r-s3buckets-plain`, "Ready")
	x.goTo(s3one + "plain/delete")
	x.fill(`#typed`, "plain")
	x.click(`.go button`)
	x.awaitPath(list)
	awaitNoBucket(t, "payments-plain-1")
}

// TestByKeyboardAlone requests a bucket with the keyboard only.
func TestByKeyboardAlone(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo(ask)
	x.press(kb.Tab)
	if got := eval[string](x, `document.activeElement.className`); got != "skip" {
		t.Errorf("the first stop is %q, want the link that skips to the content", got)
	}
	x.press(kb.Enter)
	x.tabTo(`[name="metadata.name"]`)
	x.press("by-keyboard")
	x.tabTo(`[name="spec.bucketName"]`)
	x.press("payments-keyboard-1")
	x.press(kb.Enter) // in a text field it submits for review
	x.await(`main`, "Looks good.")
	x.tabTo(`button[value="create"]`)
	x.press(kb.Enter)
	x.awaitPath(s3one + "by-keyboard")
	x.await(`#status`, "Ready")
	x.tabTo(`#buttons a.danger`)
	x.press(kb.Enter)
	x.awaitPath(s3one + "by-keyboard/delete")
	x.tabTo(`#typed`)
	x.press("by-keyboard")
	x.press(kb.Enter)
	x.awaitPath(list)
	awaitNoBucket(t, "payments-keyboard-1")
}

func (x *tab) press(keys string) {
	x.t.Helper()
	x.do(chromedp.KeyEvent(keys))
}

// tabTo presses Tab until the element has the focus, and checks that the focus is visible.
func (x *tab) tabTo(selector string) {
	x.t.Helper()
	for range 60 {
		if eval[bool](x, `document.activeElement.matches(`+quote(selector)+`)`) {
			if eval[string](x, `getComputedStyle(document.activeElement).outlineStyle`) == "none" {
				x.t.Errorf("the focus on %s cannot be seen", selector)
			}
			return
		}
		x.press(kb.Tab)
	}
	x.t.Fatalf("Tab never reaches %s:\n%s", selector, x.body())
}

func quote(s string) string { return "`" + s + "`" }

// TestPlatformAdminSeesProviders opens the pages of resources that belong to no team.
func TestPlatformAdminSeesProviders(t *testing.T) {
	x := open(t)
	x.signIn("platform-admin", "_platform")
	x.await(`#list`, "aws-local")
	x.every("platform")
	x.click(`#list a.name`)
	x.await(`#status`, "Ready")
	x.every("provider")
	x.goTo("/teams/_platform/new/awsproviders")
	x.await(`main`, "Add an AWS account")
	x.every("provider-form")
	x.asksForAccount("aws-second")
}

// asksForAccount requests an AWS account with the settings of the first one in the form, watches it become Ready, and
// deletes it.
func (x *tab) asksForAccount(name string) {
	x.t.Helper()
	accounts := dynamic.NewForConfigOrDie(world.Admin).Resource(v1alpha1.GroupVersion.WithResource("awsproviders"))
	first, err := accounts.Get(x.t.Context(), stack.Provider, metav1.GetOptions{})
	x.must(err)
	endpoint, _, err := unstructured.NestedString(first.Object, "spec", "endpoint")
	x.must(err)
	x.fill(`[name="metadata.name"]`, name)
	for input, value := range map[string]string{
		"region": "eu-west-1", "endpoint": endpoint, "accessKeyIDRef.name": stack.Provider,
		"accessKeyIDRef.key":      "accessKeyID",
		"secretAccessKeyRef.name": stack.Provider, "secretAccessKeyRef.key": "secretAccessKey",
	} {
		x.do(chromedp.SetValue(chromedp.CSS(`[name="spec.`+input+`"]`), value))
	}
	x.click(`.go button[value="review"]`)
	x.await(`main`, "Looks good.")
	x.click(`button[value="create"]`)
	at := "/teams/_platform/awsproviders/" + name
	x.awaitPath(at)
	x.await(`#status`, "Ready")
	x.goTo(at + "/delete")
	x.fill(`#typed`, name)
	x.click(`.go button`)
	x.awaitPath("/teams/_platform")
	x.awaitGone(`#r-awsproviders-` + name)
}
