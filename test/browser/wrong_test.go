//go:build browser

package browser

import (
	"regexp"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// raw matches the terms of Kubernetes, which users of a form do not understand.
var raw = regexp.MustCompile(`RFC|in body|regex|disallowed rune|alphanumeric|inclusive|spec\.`)

// complaints returns the messages in the form's summary, and checks that each one is also shown at the input that it
// links to.
func (x *tab) complaints() []string {
	x.t.Helper()
	all := eval[[]string](x, `[...document.querySelectorAll("#problems li")].map(l => l.innerText.trim())`)
	lost := eval[[]string](x, `[...document.querySelectorAll("#problems li")].filter(l => {
		const a = l.querySelector("a"), at = a && document.querySelector(a.getAttribute("href"))
		return !at || !at.closest(".field, fieldset, details, .row").querySelector(".err")
	}).map(l => l.innerText.trim())`)
	for _, l := range lost {
		x.t.Errorf("%q stands at no input", l)
	}
	for _, c := range all {
		if raw.MatchString(c) {
			x.t.Errorf("%q is nobody's language", c)
		}
	}
	return all
}

// TestAFormSaysAllThatIsWrongAtOnce submits empty forms, and one with several mistakes. After the corrections there are
// no more messages.
func TestAFormSaysAllThatIsWrongAtOnce(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	for _, c := range []struct {
		kind string
		want []string
		mend map[string]string
	}{
		{"sqsqueues", []string{"Name: enter a name"}, map[string]string{"metadata.name": "orders"}},
		{
			"rdsinstances",
			[]string{
				"Name: enter a name", "Engine: choose one", "DB instance class: enter a value",
				"Allocated storage: enter a value", "Master username: enter a value",
			},
			map[string]string{
				"metadata.name": "orders", "spec.engine": "postgres", "spec.dbInstanceClass": "db.t4g.micro",
				"spec.allocatedStorage": "20", "spec.masterUsername": "app",
			},
		},
		{
			"ec2instances",
			[]string{
				"Name: enter a name", "Instance name: enter a value", "Instance type: enter a value",
				"Image ID: name the image by exactly one of imageID and imageSSMParameter",
			},
			map[string]string{
				"metadata.name": "worker", "spec.instanceName": "worker", "spec.instanceType": "t3.micro",
				"spec.imageID": "ami-0123456789abcdef0",
			},
		},
	} {
		x.goTo("/teams/payments/new/" + c.kind)
		for name := range c.mend { // some have a default
			_ = eval[bool](x, `(document.querySelector('[name="`+name+`"]').value = "", true)`)
		}
		x.click(`.go button[value="review"]`)
		x.await(`#problems`, "problem")
		if got := x.complaints(); !slices.Equal(got, c.want) {
			t.Errorf("an empty form of %s complains %q, want %q", c.kind, got, c.want)
		}
		for name, value := range c.mend {
			x.do(chromedp.SetValue(chromedp.CSS(`[name="`+name+`"]`), value))
		}
		x.reviews("Looks good.")
	}

	x.goTo("/teams/payments/new/s3buckets")
	x.click(`details.more > summary`)
	for _, add := range []string{"spec.lifecycleRules", "spec.tags"} {
		x.click(`button[value="add ` + add + `"]`)
		x.do(chromedp.WaitVisible(chromedp.CSS(`[name^="` + add + `[0]"]:not([type=hidden])`)))
	}
	for name, value := range map[string]string{
		"metadata.name": "My_Bucket", "spec.bucketName": "ab", "spec.lifecycleRules[0].expirationDays": "-1",
		"spec.tags[0].key": "aws:owner", "spec.tags[0].value": "me",
	} {
		x.do(chromedp.SetValue(chromedp.CSS(`[name="`+name+`"]`), value))
	}
	x.click(`.go button[value="review"]`)
	x.await(`#problems`, "problems")
	want := []string{
		"Name: use lower-case letters, digits, hyphens and dots; start and end with a letter or a digit",
		"Bucket name: use at least 3 characters",
		"Tags: tag keys that start with aws: are reserved by AWS; choose another key",
		"Lifecycle rule 1, Expiration days: use 1 or more",
	}
	if got := x.complaints(); !slices.Equal(got, want) {
		t.Errorf("the form complains %q, want %q", got, want)
	}
	x.every("form-refused")
}
