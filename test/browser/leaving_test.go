//go:build browser

package browser

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// TestAnEditOfWhatIsBeingDeletedTellsTheTruth: a bucket that is not empty hangs in its deletion. The review of an edit says
// what that does, and it does so.
func TestAnEditOfWhatIsBeingDeletedTellsTheTruth(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("limbo", "portico-limbo-1", "")
	put(t, bucket, "invoice.pdf")
	x.goTo(s3one + "limbo/delete")
	x.fill(`#typed`, "limbo")
	x.click(`.go button`)
	x.awaitPath(list)
	x.goTo(s3one + "limbo")
	x.await(`#status`, "still holds objects")
	x.click(`#buttons a[href$="/edit"]`)
	x.awaitPath(s3one + "limbo/edit")
	x.await(`main`, "limbo is being deleted. An edit does not cancel that.")
	x.choose("spec.deletionPolicy", "Retain")
	x.reviews("Looks good.")
	x.await(`main`, "limbo is being deleted, and an edit does not cancel that. Applied, this decides at once what happens:")
	x.await(`main`, bucket+" and its data stay.")
	x.await(`main`, "limbo disappears from Portico and from the cluster at once.")
	if text := x.text(`main`); strings.Contains(text, "Nothing changes now") {
		t.Errorf("the review says that nothing changes now:\n%s", text)
	}
	x.every("edit-deleting-review")
	x.click(`button[value="create"]`)
	x.awaitPath(list)
	x.awaitGone(`#r-s3buckets-limbo`)
	if !bucketExists(t, bucket) {
		t.Error("the bucket is gone, though it was to be kept")
	}
}

// put stores something outside Portico.
func put(t *testing.T, bucket, key string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := outside().PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("x")}); err != nil {
		t.Fatalf("storing %s in %s: %v", key, bucket, err)
	}
}
