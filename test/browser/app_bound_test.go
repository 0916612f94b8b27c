//go:build browser

package browser

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// TestWhatAnApplicationIsGiven opens the pages of an application that reads a bucket, and of the bucket.
func TestWhatAnApplicationIsGiven(t *testing.T) {
	c := platform(t)
	x := open(t)
	x.signIn("payments-dev", "payments")
	bucket := x.request("receipts", "payments-receipts-1", "")
	app := &v1alpha1.WebApp{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "reader"},
		Spec: v1alpha1.WebAppSpec{
			Image:    "registry.example.com/shop:1.0.0",
			Bindings: []v1alpha1.WebAppBinding{{Kind: "S3Bucket", Name: "receipts", Access: v1alpha1.AccessRead}},
		},
	}
	if err := c.Create(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	x.goTo(webapps + app.Name)
	x.await(`#status`, "Ready")
	x.await(`[aria-labelledby=given]`, "RECEIPTS_BUCKET")
	x.await(`[aria-labelledby=access]`, "Not granted")
	x.await(`[aria-labelledby=access]`, "To list and read its objects.")
	x.click(`#access-policy-fold > summary`)
	x.await(`#access-policy`, "s3:ListBucket")
	x.every("app-bound")
	x.goTo(s3one + "receipts")
	x.await(`aside`, "To list and read its objects")
	if err := c.Delete(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	x.deletes("receipts", bucket)
}
