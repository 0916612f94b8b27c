//go:build browser

package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	list  = "/teams/payments"
	ask   = "/teams/payments/new/s3buckets"
	s3one = "/teams/payments/s3buckets/"
)

// TestLifeOfABucket follows a bucket that is requested, becomes Ready, is changed outside Portico, repaired, and
// deleted.
func TestLifeOfABucket(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("life", "payments-life-1", "Enabled")
	x.repairs("life", bucket)
	x.deletes("life", bucket)
}

// request fills in the form, reviews and confirms it, and watches the bucket become Ready on its page.
func (x *tab) request(name, bucket, versions string) string {
	x.t.Helper()
	x.click(`a[href="/teams/payments/catalog"]`)
	x.awaitPath("/teams/payments/catalog")
	x.click(`a[href="` + ask + `"]`)
	x.awaitPath(ask)
	x.fill(`[name="metadata.name"]`, name)
	x.fill(`[name="spec.bucketName"]`, bucket)
	x.do(chromedp.SetValue(chromedp.CSS(`[name="spec.versioning"]`), versions))
	x.await(`#as-yaml`, "name: "+name) // the preview is updated
	x.click(`.go button[value="review"]`)
	x.await(`main`, "Looks good.")
	x.await(`pre.diff .plus`, "adoptionPolicy")
	x.click(`button[value="create"]`)
	clicked := time.Now()
	x.awaitPath(s3one + name)
	x.mark()
	x.await(`#status`, "Ready")
	x.t.Logf("from the click to Ready on the page: %.2f s", time.Since(clicked).Seconds())
	x.still()
	x.await(`#body`, bucket)
	if !bucketExists(x.t, bucket) {
		x.t.Errorf("bucket %s is not in AWS", bucket)
	}
	return bucket
}

// repairs changes the bucket outside Portico, and awaits the repair as an event, without a reload.
func (x *tab) repairs(name, bucket string) {
	x.t.Helper()
	suspendVersioning(x.t, bucket)
	x.click(`form[action$="/reconcile"] button`)
	x.awaitPath(s3one + name)
	x.await(`.events`, "changed outside Portico")
	if got := versioning(x.t, bucket); got != "Enabled" {
		x.t.Errorf("versioning is %q, want it repaired to Enabled", got)
	}
	x.click(`#tabs a[href$="tab=events"]`)
	x.await(`.events`, "changed outside Portico")
}

// deletes tries with a wrong name, which is refused, and with the right one; the row disappears from the list without a
// reload.
func (x *tab) deletes(name, bucket string) {
	x.t.Helper()
	x.goTo(s3one + name)
	x.click(`#buttons a.danger`)
	x.awaitPath(s3one + name + "/delete")
	x.fill(`#typed`, "something-else")
	x.click(`.go button`)
	x.await(`#typed-error`, "Type the name exactly")
	if !bucketExists(x.t, bucket) {
		x.t.Fatalf("bucket %s is gone though the name was wrong", bucket)
	}
	x.fill(`#typed`, name)
	x.click(`.go button`)
	x.awaitPath(list)
	x.mark()
	x.awaitGone(`#r-s3buckets-` + name)
	x.stillMarked()
	awaitNoBucket(x.t, bucket)
}

// TestListIsLive watches the list while somebody else requests a bucket and deletes it.
func TestListIsLive(t *testing.T) {
	watcher, asker := open(t), open(t)
	watcher.signIn("payments-dev", "payments")
	watcher.await(`#live`, "Live")
	watcher.mark()
	asker.signIn("payments-dev", "payments")
	bucket := asker.request("seen", "payments-seen-1", "")
	watcher.await(`#r-s3buckets-seen`, "Ready")
	watcher.stillMarked()
	asker.deletes("seen", bucket)
	watcher.still()
}

// TestDeletedWhileOpen keeps the page of a resource open until the resource is deleted.
func TestDeletedWhileOpen(t *testing.T) {
	watcher, asker := open(t), open(t)
	asker.signIn("payments-dev", "payments")
	bucket := asker.request("short", "payments-short-1", "")
	watcher.signIn("payments-dev", "payments")
	watcher.goTo(s3one + "short")
	watcher.await(`#live`, "Live")
	asker.deletes("short", bucket)
	watcher.await(`#status`, "Deleted")
	watcher.await(`#live`, "Finished")
}
