//go:build browser

package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/portico-platform/portico/web/views"
)

const askApp = "/teams/payments/new/webapps"

// adds presses the button that adds a row, and waits for its input.
func (x *tab) adds(list, input string) {
	x.t.Helper()
	add := `button[value="add ` + list + `"]`
	// away from the bar at the bottom
	_ = eval[bool](x, `(document.querySelector('`+add+`').scrollIntoView({block: "center"}), true)`)
	x.click(add)
	x.do(chromedp.WaitVisible(chromedp.CSS(`[name="` + input + `"]`)))
}

// TestFormOfAnApplication fills in variables and bindings, is refused with messages beside the inputs, and reviews the
// request.
func TestFormOfAnApplication(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("app-uploads", "payments-app-uploads-1", "")
	x.goTo(askApp)
	x.fill(`[name="metadata.name"]`, "2shop")
	x.fill(`[name="spec.image"]`, "registry.example.com/payments/shop:1.4.2")
	for i, e := range []string{"LOG_LEVEL=info", "PAYMENT_TIMEOUT=30s", "API_TOKEN="} {
		name, value, _ := strings.Cut(e, "=")
		row := fmt.Sprintf("spec.env[%d]", i)
		x.adds("spec.env", row+".name")
		x.fill(`[name="`+row+`.name"]`, name)
		x.fill(`[name="`+row+`.value"]`, value)
	}
	x.click(`#f-spec-env-2-valueFrom > summary`)
	x.fill(`[name="spec.env[2].valueFrom.secretKeyRef.name"]`, "shop-secrets")
	x.fill(`[name="spec.env[2].valueFrom.secretKeyRef.key"]`, "token")
	for _, row := range []string{"spec.bindings[0]", "spec.bindings[1]"} {
		x.adds("spec.bindings", row+".name")
	}
	x.do(chromedp.SetValue(chromedp.CSS(`[name="spec.bindings[0].name"]`), "S3Bucket/app-uploads"))
	x.click(`details.more > summary`)
	x.fill(`[name="spec.resources.requests.cpu"]`, "2")
	x.fill(`[name="spec.resources.limits.cpu"]`, "1")
	x.every("filled")
	x.refusedAt("spec.bindings[1].name", "Choose one")
	x.click(`button[value="remove spec.bindings[1]"]`)
	x.do(chromedp.WaitNotPresent(chromedp.CSS(`[name="spec.bindings[1].name"]`)))
	x.refusedAt("metadata.name", "a letter in front")
	x.await(`#f-spec-resources-requests-cpu-error`, "must not be more than limits.cpu")
	x.every("refused")
	x.fill(`[name="metadata.name"]`, "shop")
	x.fill(`[name="spec.resources.requests.cpu"]`, "500m")
	x.click(`.go button[value="review"]`)
	x.await(`main`, "Looks good.")
	x.await(`pre.diff .plus`, "port: 8080")
	x.await(`pre.diff`, "- kind: S3Bucket")
	x.deletes("app-uploads", bucket)
}

// refusedAt submits the form for review and awaits an error message at an input.
func (x *tab) refusedAt(name, words string) {
	x.t.Helper()
	x.click(`.go button[value="review"]`)
	x.await(`#`+views.ID(name)+`-error`, words)
}
