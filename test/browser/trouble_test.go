//go:build browser

package browser

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// TestTroubleIsExplained has three buckets that need attention: the name of one is taken, one cannot be deleted because
// it holds data, and one is paused. Each says so in the list and on its page, and the deletion continues once it can.
func TestTroubleIsExplained(t *testing.T) {
	buckets := bucketsAs(t, "payments-dev")
	x := open(t)
	x.signIn("payments-dev", "payments")
	for _, name := range []string{"invoices", "reports", "statements"} {
		request(t, buckets, name, "", nil)
	}
	takeName(t, "payments-ledger")
	defer giveBack(t, "payments-ledger")
	request(t, buckets, "ledger", "payments-ledger", nil)
	request(t, buckets, "drafts", "", map[string]any{v1alpha1.AnnotationPaused: "true"})
	request(t, buckets, "import-tmp", "payments-import-tmp", nil)
	x.awaitRow("import-tmp", "Ready")
	putObject(t, "payments-import-tmp")
	if err := erase(t.Context(), buckets, "import-tmp"); err != nil {
		t.Fatal(err)
	}
	x.awaitRow("ledger", "does not belong to this object; nothing was changed.")
	x.awaitRow("import-tmp", "still holds objects")
	x.awaitRow("drafts", "Paused")
	x.awaitRow("invoices", "Ready")
	x.every("trouble")
	x.goTo(s3one + "ledger")
	x.await("main", "Choose another name, or adopt it")
	x.every("trouble-detail")
	x.goTo(s3one + "import-tmp")
	x.await("main", "forceDestroy")
	x.every("trouble-deleting")

	patch(t, buckets, "import-tmp", `{"spec":{"forceDestroy":true}}`)
	awaitNoBucket(t, "payments-import-tmp")
	for _, name := range []string{"invoices", "reports", "statements", "ledger", "drafts"} {
		if err := erase(t.Context(), buckets, name); err != nil {
			t.Error(err)
		}
	}
	x.goTo(list)
	x.await("main", "payments has no resources yet")
	if !bucketExists(t, "payments-ledger") {
		t.Error("somebody else's bucket was deleted")
	}
}

// awaitRow waits until the list shows words in the row of name, with live updates.
func (x *tab) awaitRow(name, words string) {
	x.t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		rows := eval[[]string](x, `[...document.querySelectorAll("tbody tr")].map(r => r.innerText)`)
		for _, row := range rows {
			if strings.HasPrefix(strings.TrimSpace(row), name) && strings.Contains(row, words) {
				return
			}
		}
		if time.Since(began) > patience {
			x.t.Fatalf("no row of %s says %q: %q", name, words, rows)
		}
	}
}

// bucketsAs returns a client for the buckets of payments, as a sample user.
func bucketsAs(t *testing.T, user string) dynamic.ResourceInterface {
	t.Helper()
	config, err := world.UserConfig(user)
	if err != nil {
		t.Fatal(err)
	}
	return dynamic.NewForConfigOrDie(config).Resource(v1alpha1.GroupVersion.WithResource("s3buckets")).Namespace(
		"payments")
}

func request(t *testing.T, buckets dynamic.ResourceInterface, name, bucket string, annotations map[string]any) {
	t.Helper()
	spec := map[string]any{"providerRef": map[string]any{"name": stack.Provider}}
	if bucket != "" {
		spec["bucketName"] = bucket
	}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "S3Bucket",
		"metadata": map[string]any{"name": name, "annotations": annotations}, "spec": spec,
	}}
	if _, err := buckets.Create(t.Context(), obj, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// remove deletes a bucket and waits until it is gone.
func remove(t *testing.T, buckets dynamic.ResourceInterface, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := erase(ctx, buckets, name)
	for ; err == nil; _, err = buckets.Get(ctx, name, metav1.GetOptions{}) {
		time.Sleep(100 * time.Millisecond)
	}
	if !apierrors.IsNotFound(err) {
		t.Errorf("bucket %s does not go: %v", name, err)
	}
}

func patch(t *testing.T, buckets dynamic.ResourceInterface, name, merge string) {
	t.Helper()
	if _, err := buckets.Patch(t.Context(), name, types.MergePatchType, []byte(merge),
		metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// erase deletes an object as its owner does with kubectl, with the confirmation that some kinds require.
func erase(ctx context.Context, objects dynamic.ResourceInterface, name string) error {
	confirmed := `{"metadata":{"annotations":{"` + v1alpha1.AnnotationConfirmDeletion + `":"` + name + `"}}}`
	if _, err := objects.Patch(ctx, name, types.MergePatchType, []byte(confirmed), metav1.PatchOptions{}); err != nil {
		return err
	}
	return objects.Delete(ctx, name, metav1.DeleteOptions{})
}

// takeName creates a bucket that belongs to no object.
func takeName(t *testing.T, bucket string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := outside().CreateBucket(
		ctx, &s3.CreateBucketInput{Bucket: &bucket, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
			LocationConstraint: stack.Region,
		}}); err != nil {
		t.Fatal(err)
	}
}

func giveBack(t *testing.T, bucket string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := outside().DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &bucket}); err != nil {
		t.Error(err)
	}
}

func putObject(t *testing.T, bucket string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := outside().PutObject(
		ctx, &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("rows.csv"), Body: strings.NewReader(
			"a,b")}); err != nil {
		t.Fatal(err)
	}
}
