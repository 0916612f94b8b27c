//go:build browser

package browser

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// TestAnEditOfWhatIsBeingDeletedTellsTheTruth edits a bucket that is being deleted and not empty. The review says what
// the edit does, and it does so.
func TestAnEditOfWhatIsBeingDeletedTellsTheTruth(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("limbo", "payments-limbo-1", "")
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
	x.await(`main`, "limbo is being deleted, and an edit does not cancel that. Applied, this decides at once what "+
		"happens:")
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

// put stores an object in a bucket outside Portico.
func put(t *testing.T, bucket, key string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := outside().PutObject(
		ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("x")}); err != nil {
		t.Fatalf("storing %s in %s: %v", key, bucket, err)
	}
}

// TestADeletionIsCalledOff keeps a bucket that is being deleted and not empty with the button on its page; the object
// in it remains. While an application uses the bucket, it cannot be deleted.
func TestADeletionIsCalledOff(t *testing.T) {
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("rescued", "payments-rescued-1", "")
	put(t, bucket, "invoice.pdf")
	x.goTo(s3one + "rescued/delete")
	x.fill(`#typed`, "rescued")
	x.click(`.go button`)
	x.awaitPath(list)
	x.goTo(s3one + "rescued")
	x.await(`#status`, "still holds objects")
	x.await(`#status`, "You can still keep it")
	x.posts(`form[action$="/keep"] button`)
	x.awaitAnew(`#status`, "Ready")
	key := "invoice.pdf"
	if _, err := outside().HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &bucket, Key: &key}); err != nil {
		t.Errorf("what was in the bucket is gone: %v", err)
	}
	apps := dynamic.NewForConfigOrDie(world.Admin).Resource(v1alpha1.GroupVersion.WithResource("webapps")).Namespace(
		"payments")
	app := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"image":    "registry.example.com/shop:1.0",
		"bindings": []any{map[string]any{"kind": "S3Bucket", "name": "rescued"}},
	}}}
	app.SetAPIVersion(v1alpha1.GroupVersion.String())
	app.SetKind("WebApp")
	app.SetName("rescuer")
	if _, err := apps.Create(t.Context(), app, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	x.goTo(s3one + "rescued/delete")
	x.awaitAnew(`main`, "rescued is in use and cannot be deleted now.")
	x.await(`main`, "rescuer")
	if !eval[bool](x, `document.querySelector(".go button").disabled`) {
		t.Error("the button can be pressed")
	}
	if err := apps.Delete(t.Context(), "rescuer", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := outside().DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &key}); err != nil {
		t.Error(err)
	}
	x.awaitAnew(`main`, "Type rescued")
	x.discards("s3buckets", "rescued")
}
