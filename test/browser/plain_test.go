//go:build browser

package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// awaitAnew reloads the page until the text of an element contains words, because there are no live updates without
// scripts.
func (x *tab) awaitAnew(selector, words string) {
	x.t.Helper()
	for began := time.Now(); !strings.Contains(x.text(selector), words) && time.Since(began) < patience; time.Sleep(
		100 * time.Millisecond) {
		x.do(chromedp.Navigate(x.where()))
	}
	x.await(selector, words)
}

// posts presses a button that reloads the same page, and waits for that page.
func (x *tab) posts(button string) {
	x.t.Helper()
	_ = eval[bool](x, `window.before = true`)
	x.click(button)
	x.awaitTrue(`!window.before && document.readyState === "complete"`)
}

// TestABucketIsLookedAfterWithoutJavaScript pauses and resumes a bucket, has it repaired, and switches from its form to
// YAML and back.
func TestABucketIsLookedAfterWithoutJavaScript(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("plainly", "payments-plainly-1", "Enabled")
	x.scripts(false)
	x.goTo(s3one + "plainly")
	x.posts(`form[action$="/pause"] button`)
	x.awaitAnew(`#status`, "Paused")
	x.do(chromedp.WaitNotPresent(chromedp.CSS(`form[action$="/pause"]`)))
	x.posts(`form[action$="/resume"] button`)
	x.awaitAnew(`#status`, "Ready")
	suspendVersioning(t, bucket)
	x.posts(`form[action$="/reconcile"] button`)
	x.awaitAnew(`.events`, "changed outside Portico")
	if got := versioning(t, bucket); got != "Enabled" {
		t.Errorf("versioning is %q, want it repaired to Enabled", got)
	}
	x.edits("plainly")
	x.choose("spec.versioning", "Suspended")
	x.click(`button[value="yaml"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`#yaml`)))
	x.awaitTrue(`document.querySelector("#yaml").value.includes("versioning: Suspended")`)
	x.click(`button[value="form"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`[name="spec.versioning"]`)))
	x.awaitValue("spec.versioning", "Suspended")
	x.scripts(true)
	x.deletes("plainly", bucket)
}

// TestAnApplicationIsLookedAfterWithoutJavaScript scales and restarts an application, and reads the log of a Pod.
func TestAnApplicationIsLookedAfterWithoutJavaScript(t *testing.T) {
	app := &v1alpha1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "plain-app"},
		Spec:       v1alpha1.WebAppSpec{Image: "registry.example.com/shop:1.0.0"},
	}
	if err := platform(t).Create(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	at := webapps + app.Name
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.scripts(false)
	x.goTo(at)
	x.awaitAnew(`#status`, "Ready")
	x.fill(`#replicas`, "3")
	x.posts(`#scale button`)
	x.awaitAnew(`.bars`, "3 of 3")
	x.click(`#buttons a[href$="/restart"]`)
	x.awaitPath(at + "/restart")
	x.click(`main form button`)
	x.awaitPath(at)
	x.awaitAnew(`.versions`, "revision 2") // Ready may still be from before
	x.awaitAnew(`#status`, "Ready")
	x.click(`.pods a.name`)
	x.awaitAnew(`#status`, "Running and ready")
	x.click(`.tabs a[href$="/logs"]`)
	x.do(chromedp.WaitVisible(chromedp.CSS(`#log`)))
	x.awaitAnew(`#log`, "INFO")
	x.click(`[name="timestamps"]`)
	x.click(`.choices button`)
	x.awaitAsked("timestamps=true")
	x.await(`#log`, "Z INFO")
	x.scripts(true)
	x.discards("webapps", app.Name)
}

// TestTeamsAreSwitchedWithoutJavaScript uses the button of the team switcher.
func TestTeamsAreSwitchedWithoutJavaScript(t *testing.T) {
	x := open(t)
	x.signIn("platform-admin", "_platform")
	x.scripts(false)
	x.goTo("/teams/_platform")
	x.do(chromedp.SetValue(chromedp.CSS(`#team`), "search"))
	x.click(`.team button`)
	x.awaitPath("/teams/search")
}
