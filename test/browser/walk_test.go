//go:build browser

package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/portico-platform/portico/test/stack"
	"github.com/portico-platform/portico/test/tiers"
)

// errand is a task for the portal: from the team's list to the page of the new resource.
type errand struct {
	name, plural, object string
	// clicks and fields are the maximum. A choice from a list is a click; a field is an input for text.
	clicks, fields int
	run            func(*walker)
}

// wholeSet is the maximum number of clicks for all errands together.
const wholeSet = 22

// errands are the resources that a team needs for its first application, in this order.
var errands = []errand{
	{"a bucket with versioning", "s3buckets", "walk-files", 4, 1, func(w *walker) {
		w.begins("walk-files")
		w.chooses("spec.versioning", "Enabled")
	}},
	{"a database", "rdsinstances", "walk-ledger", 5, 3, func(w *walker) {
		w.begins("walk-ledger")
		w.chooses("spec.engine", "mysql") // not the form's default
		w.types("spec.allocatedStorage", "40")
	}},
	{"a hostname", "gatewayhostnamerequests", "walk", 4, 1, func(w *walker) {
		w.begins("") // named after its first label
		w.types("spec.hostname", "walk.payments."+stack.Domain)
		// The hosted zone is derived from the hostname.
	}},
	{"a queue", "sqsqueues", "walk-jobs", 3, 1, func(w *walker) { w.begins("walk-jobs") }},
	{"an app with three bindings", "webapps", "walk-shop", 6, 2, func(w *walker) {
		w.begins("walk-shop")
		w.types("spec.image", "registry.example.com/shop:1.0.0")
		for i, to := range []string{"S3Bucket/walk-files", "RDSInstance/walk-ledger", "SQSQueue/walk-jobs"} {
			w.presses(`button[value="add spec.bindings ` + to + `"]`)
			w.awaitValue(fmt.Sprintf("spec.bindings[%d].name", i), to)
		}
	}},
}

// walker counts the clicks and fields of a user in a tab.
type walker struct {
	*tab
	plural         string
	clicks, fields int
}

func (w *walker) presses(selector string) {
	w.t.Helper()
	// away from the bar at the bottom
	_ = eval[bool](w.tab, `(document.querySelector('`+selector+`').scrollIntoView({block: "center"}), true)`)
	w.click(selector)
	w.clicks++
}

func (w *walker) types(field, text string) {
	w.t.Helper()
	w.fill(`[name="`+field+`"]`, text)
	w.fields++
}

// chooses selects a value of a drop-down list. Chromium draws such lists outside the page, where tests cannot click.
func (w *walker) chooses(field, value string) {
	w.t.Helper()
	w.do(chromedp.SetValue(chromedp.CSS(`[name="`+field+`"]`), value))
	if got := eval[string](w.tab, `document.querySelector('[name="`+field+`"]').value`); got != value {
		w.t.Fatalf("%s does not offer %q", field, value)
	}
	w.clicks++
}

// begins opens the form of the errand's kind and enters the name, if any.
func (w *walker) begins(name string) {
	w.t.Helper()
	form := "/teams/payments/new/" + w.plural
	w.presses(`.asks a[href="` + form + `"]`)
	w.awaitPath(form)
	if name != "" {
		w.types("metadata.name", name)
	}
}

// TestWalk sets up a first application as a user does, and counts the clicks, the fields and, for the record, the
// seconds. With SCREENSHOTS set it takes a screenshot of each form before it is submitted.
func TestWalk(t *testing.T) {
	tiers.Long(t)
	log.SetLogger(logr.Discard())
	if world.Zones == nil { // otherwise an earlier test has installed Gateway API
		if err := world.StartGateways(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	x := open(t)
	x.signIn("payments-dev", "payments")
	clicks, table := 0, "\n"+fmt.Sprintf("%-28s %6s %6s %8s %8s\n", "", "clicks", "fields", "there", "Ready")
	for _, e := range errands {
		w := &walker{tab: x, plural: e.plural}
		there, ready := w.walks(e)
		table += fmt.Sprintf("%-28s %6d %6d %6.1f s %6.1f s\n", e.name, w.clicks, w.fields, there.Seconds(),
			ready.Seconds())
		if w.clicks > e.clicks || w.fields > e.fields {
			t.Errorf("%s takes %d clicks and %d fields, want at most %d and %d", e.name, w.clicks, w.fields, e.clicks,
				e.fields)
		}
		clicks += w.clicks
	}
	t.Log(table + fmt.Sprintf("%-28s %6d", "all of it", clicks))
	if clicks > wholeSet {
		t.Errorf("all of it takes %d clicks, want at most %d", clicks, wholeSet)
	}
	for _, e := range slices.Backward(errands) { // users are deleted before what they use
		x.discards(e.plural, e.object)
	}
}

// walks runs one errand, and returns the times until the page of the new resource was shown and until it was Ready.
func (w *walker) walks(e errand) (there, ready time.Duration) {
	w.t.Helper()
	w.goTo(list)
	began := time.Now()
	e.run(w)
	_ = eval[bool](w.tab, `(scrollTo(0, 0), true)`)
	w.shot(e.plural)
	w.presses(`.go button[value="review"]`)
	w.await(`main`, "Looks good.")
	w.presses(`button[value="create"]`)
	w.awaitPath(strings.Join([]string{list, e.plural, e.object}, "/"))
	there = time.Since(began)
	w.await(`#status`, "Ready")
	return there, time.Since(began)
}
