//go:build browser

package browser

import "testing"

// TestAnEntryOfTheCatalogIsShown looks at the page of an entry that the operator has written.
func TestAnEntryOfTheCatalogIsShown(t *testing.T) {
	admin := open(t)
	admin.signIn("platform-admin", "payments")
	admin.goTo("/teams/_platform/catalogentries/s3buckets.portico.dev")
	admin.await(`#tabs`, "Status details")
	admin.every("detail-catalogentries")
}
