//go:build browser

package browser

import "testing"

// TestWhatWasDeletedComesBack follows the links in the list of deleted resources: to the form for a database with the
// data of a final snapshot, and to that for a bucket that was retained.
func TestWhatWasDeletedComesBack(t *testing.T) {
	const databases = "/teams/payments/rdsinstances/"
	x := open(t)
	x.signIn("payments-dev", "payments")
	x.goTo("/teams/payments/new/rdsinstances")
	x.fill(`[name="metadata.name"]`, "regretted")
	x.reviews("Looks good.")
	x.click(`button[value="create"]`)
	x.awaitPath(databases + "regretted")
	x.await(`#status`, "Ready")
	x.discards("rdsinstances", "regretted")

	x.goTo("/teams/payments/new/s3buckets")
	x.fill(`[name="metadata.name"]`, "treasured")
	x.choose("spec.deletionPolicy", "Retain")
	x.reviews("Looks good.")
	x.click(`button[value="create"]`)
	x.awaitPath(s3one + "treasured")
	x.await(`#status`, "Ready")
	x.discards("s3buckets", "treasured")

	x.click(`a[href="/teams/payments/deleted"]`)
	x.awaitPath("/teams/payments/deleted")
	x.await(`main`, "regretted-")
	x.await(`main`, "treasured")
	x.every("deleted")
	x.click(`a[aria-label="Restore… regretted"]`)
	x.await(`h1`, "Request a database")
	x.awaitValue("metadata.name", "regretted")
	x.reviews("Looks good.")
	x.await(`main`, "regretted-")
	x.every("deleted-restore")
	x.click(`button[value="create"]`)
	x.awaitPath(databases + "regretted")
	x.await(`#status`, "Ready")

	x.goTo("/teams/payments/deleted")
	x.click(`a[aria-label="Manage again… treasured"]`)
	x.awaitValue("metadata.name", "treasured")
	x.awaitValue("spec.deletionPolicy", "Retain")
	x.reviews("Looks good.")
	x.click(`button[value="create"]`)
	x.awaitPath(s3one + "treasured")
	x.await(`#status`, "Ready")
	x.discards("rdsinstances", "regretted")
	x.discards("s3buckets", "treasured")
}
