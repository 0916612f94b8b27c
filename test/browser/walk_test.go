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
)

// errand is something that a person comes to the portal for: from the team's list to the page of what was requested.
type errand struct {
	name, plural, object string
	// clicks and fields are the most that it may take. A choice of a list is a click; a field is an input that is typed
	// in.
	clicks, fields int
	run            func(*walker)
}

// wholeSet is the most clicks that all errands may take together.
const wholeSet = 22

// errands are what a team needs for its first application, in the order in which it needs them.
var errands = []errand{
	{"a bucket with versioning", "s3buckets", "walk-files", 4, 1, func(w *walker) {
		w.begins("walk-files")
		w.chooses("spec.versioning", "Enabled")
	}},
	{"a database", "rdsinstances", "walk-ledger", 5, 3, func(w *walker) {
		w.begins("walk-ledger")
		w.chooses("spec.engine", "mysql") // another one than the form begins with
		w.types("spec.allocatedStorage", "40")
	}},
	{"a hostname", "gatewayhostnamerequests", "walk", 4, 1, func(w *walker) {
		w.begins("") // it is named after its first part
		w.types("spec.hostname", "walk.payments."+stack.Domain)
		// The hosted zone is found by the hostname.
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

// walker counts what a person does in a tab.
type walker struct {
	*tab
	plural         string
	clicks, fields int
}

func (w *walker) presses(selector string) {
	w.t.Helper()
	_ = eval[bool](w.tab, `(document.querySelector('`+selector+`').scrollIntoView({block: "center"}), true)`) // from under the bar below
	w.click(selector)
	w.clicks++
}

func (w *walker) types(field, text string) {
	w.t.Helper()
	w.fill(`[name="`+field+`"]`, text)
	w.fields++
}

// chooses takes a value of a list that is folded out. Chromium draws such lists outside the page, where no test can
// click.
func (w *walker) chooses(field, value string) {
	w.t.Helper()
	w.do(chromedp.SetValue(chromedp.CSS(`[name="`+field+`"]`), value))
	if got := eval[string](w.tab, `document.querySelector('[name="`+field+`"]').value`); got != value {
		w.t.Fatalf("%s does not offer %q", field, value)
	}
	w.clicks++
}

// begins opens the form of the errand's kind and gives what is requested its name, if any.
func (w *walker) begins(name string) {
	w.t.Helper()
	form := "/teams/payments/new/" + w.plural
	w.presses(`.asks a[href="` + form + `"]`)
	w.awaitPath(form)
	if name != "" {
		w.types("metadata.name", name)
	}
}

// TestWalk does what a person does who sets up a first application, and counts the clicks, the fields and, for the
// record, the seconds. With SCREENSHOTS set it keeps a picture of each form as it is sent.
func TestWalk(t *testing.T) {
	log.SetLogger(logr.Discard())
	if world.Zones == nil { // else an earlier test has Gateway API installed
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
		table += fmt.Sprintf("%-28s %6d %6d %6.1f s %6.1f s\n", e.name, w.clicks, w.fields, there.Seconds(), ready.Seconds())
		if w.clicks > e.clicks || w.fields > e.fields {
			t.Errorf("%s takes %d clicks and %d fields, want at most %d and %d", e.name, w.clicks, w.fields, e.clicks, e.fields)
		}
		clicks += w.clicks
	}
	t.Log(table + fmt.Sprintf("%-28s %6d", "all of it", clicks))
	if clicks > wholeSet {
		t.Errorf("all of it takes %d clicks, want at most %d", clicks, wholeSet)
	}
	for _, e := range slices.Backward(errands) { // what is in use goes after what uses it
		x.discards(e.plural, e.object)
	}
}

// walks runs one errand, and tells after how long the page of what was requested was there, and said that it is Ready.
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
