//go:build browser

package browser

import "testing"

// TestEveryTabOfAResource opens every tab of a bucket's page, and stays on its tab during live updates.
func TestEveryTabOfAResource(t *testing.T) {
	x, other := open(t), open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("tabs", "payments-tabs-1", "Enabled")
	for tab, words := range map[string]string{
		"objects": "arn:aws:s3:::payments-tabs-1", "conditions": "Ready", "activity": "Ready for the first time",
		"yaml": "Change it over REST",
	} {
		x.click(`#tabs a[href$="tab=` + tab + `"]`)
		x.await(`#body`, words)
		x.every("tab-" + tab)
	}
	x.goTo(s3one + "tabs?tab=activity")
	x.await(`#live`, "Live")
	x.mark()
	other.signIn("payments-dev", "payments")
	other.edits("tabs")
	other.choose("spec.versioning", "Suspended")
	other.reviews("Looks good.")
	other.applies("tabs")
	x.await(`#body`, "changed once since it was requested")
	x.still()
	other.goTo(s3one + "tabs")
	other.click(`#buttons a[href*="?like="]`)
	other.awaitPath(ask)
	if got := eval[string](other,
		`document.querySelector('[name="spec.versioning"]').value + document.querySelector('[name="spec.bucketName"]').value`); got != "Suspended" {
		t.Errorf("another one like it begins with %q", got)
	}
	x.deletes("tabs", bucket)
}
