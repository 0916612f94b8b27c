//go:build browser

package browser

import "testing"

// TestAPageThatWasLeftComesBackFromMemory checks that Back restores the page as it was, with live updates, and that
// after signing out it shows nothing of its content.
func TestAPageThatWasLeftComesBackFromMemory(t *testing.T) {
	x, other := openFull(t), open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("memorable", "payments-memorable-1", "Enabled")
	x.goTo(list)
	x.await(`#live`, "Live")
	x.mark()
	x.click(`#r-s3buckets-memorable a`)
	x.awaitPath(s3one + "memorable")
	x.await(`#live`, "Live")
	x.back()
	x.awaitPath(list)
	x.still() // otherwise it was loaded again
	x.await(`#live`, "Live")
	other.signIn("platform-admin", "payments")
	other.deletes("memorable", bucket)
	x.awaitGone(`#r-s3buckets-memorable`)
	x.still()

	x.goTo("/teams/payments/about")
	x.click(signOut)
	x.await(`main`, "signed out")
	x.back()
	x.awaitTrue(`!document.body.innerText.includes("payments")`)
}
