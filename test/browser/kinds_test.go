//go:build browser

package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// wanted is a kind and what its form must be told.
type wanted struct {
	plural string
	fields map[string]string // name to text; of a select, the value
	shows  string            // on the page of the resource, once it is Ready
}

var everyKind = []wanted{
	{plural: "s3buckets", shows: "arn:aws:s3"},
	{plural: "sqsqueues", fields: map[string]string{"spec.visibilityTimeout": "60"}, shows: "arn:aws:sqs"},
	{plural: "snstopics", shows: "arn:aws:sns"},
	{plural: "rdsinstances", shows: "arn:aws:rds", fields: map[string]string{
		"spec.engine": "postgres", "spec.dbInstanceClass": "db.t4g.micro", "spec.allocatedStorage": "20", "spec.masterUsername": "portico",
	}},
	{plural: "ec2instances", shows: "arn:aws:ec2", fields: map[string]string{
		"spec.instanceName": "worker", "spec.instanceType": "t3.micro", "spec.imageID": "ami-12c6146b",
	}},
	{plural: "webapps", shows: "every-webapps", fields: map[string]string{"spec.image": "registry.example.com/payments/shop:1.4.2"}},
}

// TestEveryKindIsRequestedInTheBrowser asks for each kind with nothing but what it needs, and watches it become Ready.
func TestEveryKindIsRequestedInTheBrowser(t *testing.T) {
	for _, w := range everyKind {
		t.Run(w.plural, func(t *testing.T) {
			x := open(t)
			x.signIn("payments-dev", "payments")
			x.goTo("/teams/payments/catalog")
			x.click(`a[href="/teams/payments/new/` + w.plural + `"]`)
			x.awaitPath("/teams/payments/new/" + w.plural)
			x.every("form-" + w.plural)
			x.fill(`[name="metadata.name"]`, "every-"+w.plural)
			for name, value := range w.fields {
				x.do(chromedp.SetValue(chromedp.CSS(`[name="`+name+`"]`), value))
			}
			x.click(`.go button[value="review"]`)
			x.await(`main`, "Looks good.")
			x.click(`button[value="create"]`)
			x.awaitPath("/teams/payments/" + w.plural + "/every-" + w.plural)
			x.mark()
			x.await(`#status`, "Ready")
			x.still()
			x.await(`#body`, w.shows)
			x.every("detail-" + w.plural)
			x.discards(w.plural, "every-"+w.plural)
		})
	}
}

// discards removes a resource by its page.
func (x *tab) discards(plural, name string) {
	x.t.Helper()
	x.goTo("/teams/payments/" + plural + "/" + name + "/delete")
	x.fill(`#typed`, name)
	x.click(`.go button`)
	x.awaitPath(list)
	x.awaitGone(`#r-` + plural + `-` + name)
}
