//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
)

func TestANonEmptyBucketIsNotDeleted(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "data")
	createReady(t, c, b)
	api := outside(t, "test")
	put(t, api, b.Spec.BucketName, "ledger.csv")
	if err := erase(t, c, b); err != nil {
		t.Fatal(err)
	}
	got := reason(t, c, b, "BucketNotEmpty")
	for _, help := range []string{"forceDestroy", "Retain", "nothing was deleted"} {
		if !strings.Contains(got.Message, help) {
			t.Errorf("message %q does not speak of %s", got.Message, help)
		}
	}
	if _, err := api.HeadObject(
		t.Context(), &s3.HeadObjectInput{Bucket: &b.Spec.BucketName, Key: aws.String("ledger.csv")}); err != nil {
		t.Fatalf("the object is gone: %v", err)
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.ForceDestroy = true })
	awaitGone(t, c, b)
	if tagsOf(t, api, b.Spec.BucketName) != nil {
		t.Error("the bucket is left")
	}
}

func TestForceDestroyEmptiesVersionsAndMarkersInBatches(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "deep")
	b.Spec.Versioning, b.Spec.ForceDestroy = "Enabled", true
	createReady(t, c, b)
	api := outside(t, "test")
	for i := range 30 {
		key := fmt.Sprintf("k%d", i%10)
		put(t, api, b.Spec.BucketName, key)
		if _, err := api.DeleteObject(
			t.Context(), &s3.DeleteObjectInput{Bucket: &b.Spec.BucketName, Key: &key}); err != nil {
			t.Fatal(err)
		}
	}
	gone(t, c, b)
	if tagsOf(t, api, b.Spec.BucketName) != nil {
		t.Error("the bucket is left")
	}
}

// Keys may have characters that XML cannot represent: plain listings of them cannot be parsed, and DeleteObjects does
// not remove them.
func TestForceDestroyRemovesKeysThatXMLCannotCarry(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "odd")
	b.Spec.ForceDestroy = true
	createReady(t, c, b)
	api := outside(t, "test")
	for _, key := range []string{"a\x01b", "two\x1fwords and +&%/x", "plain"} {
		put(t, api, b.Spec.BucketName, key)
	}
	gone(t, c, b)
	if tagsOf(t, api, b.Spec.BucketName) != nil {
		t.Error("the bucket is left")
	}
}

func TestRetainedBucketIsTakenBack(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "kept")
	b.Spec.DeletionPolicy = v1alpha1.DeletionRetain
	createReady(t, c, b)
	api := outside(t, "test")
	put(t, api, b.Spec.BucketName, "kept.txt")
	m := world.Proxy.Mark()
	gone(t, c, b)
	if got := operations(b.Spec.BucketName, m); len(got) != 0 {
		t.Errorf("Retain called AWS: %v", got)
	}
	again := bucketOf(b.Namespace, b.Name)
	createReady(t, c, again)
	if uid := tagsOf(t, api, b.Spec.BucketName)["portico.dev/uid"]; uid != string(again.UID) {
		t.Errorf("the bucket carries UID %s, want the new object's %s", uid, again.UID)
	}
}

func TestOrphanedBucketLosesOurTagsOnly(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "freed")
	b.Spec.DeletionPolicy = v1alpha1.DeletionOrphan
	createReady(t, c, b)
	api := outside(t, "test")
	retag(t, api, b.Spec.BucketName, func(tags map[string]string) { tags["owner"] = "finance" })
	gone(t, c, b)
	if tags := tagsOf(t, api, b.Spec.BucketName); len(tags) != 1 || tags["owner"] != "finance" {
		t.Errorf("tags %v, want only the foreign one", tags)
	}
}

// lost creates a ready bucket and removes its provider by force.
func lost(t *testing.T, c client.Client, accountID string, policy v1alpha1.DeletionPolicy) *v1alpha1.S3Bucket {
	t.Helper()
	p := account(t, c, accountID)
	b := bucketOf(team(t, c), "lost")
	b.Spec.ProviderRef.Name, b.Spec.DeletionPolicy = p.Name, policy
	createReady(t, c, b)
	if err := erase(t, c, p); err != nil {
		t.Fatal(err)
	}
	edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Finalizers = nil })
	reason(t, c, b, "ProviderNotFound")
	return b
}

func TestRetainAndOrphanNeedNoProvider(t *testing.T) {
	c := withOperator(t)
	gone(t, c, lost(t, c, "220000000001", v1alpha1.DeletionRetain))
	gone(t, c, lost(t, c, "220000000002", v1alpha1.DeletionOrphan))
}

func TestDeletionWaitsForAMissingProviderAndSaysSo(t *testing.T) {
	c := withOperator(t)
	b := lost(t, c, "220000000003", v1alpha1.DeletionDelete)
	if err := erase(t, c, b); err != nil {
		t.Fatal(err)
	}
	if got := reason(t, c, b, "ProviderNotFound"); !strings.Contains(got.Message, b.Spec.ProviderRef.Name) {
		t.Errorf("message %q does not name the provider", got.Message)
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.DeletionPolicy = v1alpha1.DeletionRetain })
	awaitGone(t, c, b)
}

func TestWhatNeverGotAnythingGoesAtOnce(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "never")
	b.Spec.ProviderRef.Name = "no-such-provider"
	create(t, c, b)
	reason(t, c, b, "ProviderNotFound")
	gone(t, c, b)
}

func TestForeignBucketIsNeitherTouchedNorAdoptedWithoutBothConsents(t *testing.T) {
	c := withOperator(t)
	api := outside(t, "test")
	b := bucketOf(team(t, c), "taken")
	foreignBucket(t, api, b.Spec.BucketName)
	m := world.Proxy.Mark()
	create(t, c, b)
	reason(t, c, b, "AlreadyExists")
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt })
	reason(t, c, b, "AlreadyExists")
	if n := writes(b.Spec.BucketName, m); n != 0 {
		t.Fatalf("%d writes on a foreign bucket", n)
	}
	retag(t, api, b.Spec.BucketName, func(tags map[string]string) {
		tags["portico.dev/adopt"] = b.Namespace + "/" + b.Name
	})
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.AdoptionPolicy = v1alpha1.AdoptionNever })
	if got := reason(t, c, b, "AlreadyExists"); !strings.Contains(got.Message, "adoptionPolicy") {
		t.Errorf("message %q does not say how to take the offer", got.Message)
	}
	if n := writes(b.Spec.BucketName, m); n != 0 {
		t.Fatalf("%d writes with one consent only", n)
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt })
	ready(t, c, b)
	tags := tagsOf(t, api, b.Spec.BucketName)
	if tags["portico.dev/uid"] != string(b.UID) || tags["made-by"] != "hand" {
		t.Errorf("tags %v: want ours beside the foreign one", tags)
	}
	if _, left := tags["portico.dev/adopt"]; left {
		t.Error("the offer is still there for the next object of this name")
	}
}

// Deleting an object that never got its bucket does not affect the bucket with that name.
func TestDeletingALoserLeavesTheForeignBucket(t *testing.T) {
	c := withOperator(t)
	api := outside(t, "test")
	b := bucketOf(team(t, c), "loser")
	foreignBucket(t, api, b.Spec.BucketName)
	create(t, c, b)
	reason(t, c, b, "AlreadyExists")
	gone(t, c, b)
	if tags := tagsOf(t, api, b.Spec.BucketName); tags["made-by"] != "hand" {
		t.Errorf("the foreign bucket has tags %v", tags)
	}
}

func TestABucketOfAnotherAccountIsReported(t *testing.T) {
	c := withOperator(t)
	world.Proxy.MapKey("elsewhere", "999999999999")
	b := bucketOf(team(t, c), "abroad")
	foreignBucket(t, outside(t, "elsewhere"), b.Spec.BucketName)
	m := world.Proxy.Mark()
	create(t, c, b)
	reason(t, c, b, "NameTakenOrDenied")
	gone(t, c, b) // it never had a resource: its name alone must not block it
	if n := len(world.Proxy.CallsSince(m, awsproxy.About(b.Spec.BucketName), awsproxy.Writes)); n != 0 {
		t.Errorf("%d writes", n)
	}
}

// A namespace with the name of a former team's inherits nothing from it.
func TestANamespaceOfTheSameNameInheritsNothing(t *testing.T) {
	c := withOperator(t)
	api := outside(t, "test")
	b := bucketOf(team(t, c), "heir")
	createReady(t, c, b)
	retag(t, api, b.Spec.BucketName, func(tags map[string]string) {
		tags["portico.dev/namespace-uid"] = "of-the-first-team"
	})
	edit(t, c, b, func(b *v1alpha1.S3Bucket) {
		b.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: "1"}
	})
	reason(t, c, b, "AlreadyExists")
	gone(t, c, b)
	if tagsOf(t, api, b.Spec.BucketName) == nil {
		t.Error("the other team's bucket was deleted")
	}
}

func TestDeletedOutsideIsNotRecreatedWithoutTheOwnersWord(t *testing.T) {
	c := withOperator(t)
	api := outside(t, "test")
	b := bucketOf(team(t, c), "lost")
	createReady(t, c, b)
	if _, err := api.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &b.Spec.BucketName}); err != nil {
		t.Fatal(err)
	}
	m := requestReconcile(t, c, b, "1")
	got := reason(t, c, b, "ExternallyDeleted")
	if !strings.Contains(got.Message, v1alpha1.AnnotationAcknowledgeRecreate+"=1") {
		t.Errorf("message %q does not say how to go on", got.Message)
	}
	if n := writes(b.Spec.BucketName, m); n != 0 {
		t.Fatalf("%d writes without acknowledgement", n)
	}
	acknowledge := func(value string) {
		edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Annotations[v1alpha1.AnnotationAcknowledgeRecreate] = value })
	}
	acknowledge("1")
	ready(t, c, b)
	if b.Status.Recreations != 1 {
		t.Errorf("recreations %d, want 1", b.Status.Recreations)
	}
	// One confirmation is valid for one re-creation.
	if _, err := api.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &b.Spec.BucketName}); err != nil {
		t.Fatal(err)
	}
	requestReconcile(t, c, b, "2")
	reason(t, c, b, "ExternallyDeleted")
}

func foreignBucket(t *testing.T, api *s3.Client, name string) {
	t.Helper()
	_, err := api.CreateBucket(
		t.Context(), &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
			LocationConstraint: "eu-west-1", Tags: []s3types.Tag{
				{Key: aws.String("made-by"), Value: aws.String("hand")},
			},
		}})
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, api *s3.Client, bucket, key string) {
	t.Helper()
	_, err := api.PutObject(t.Context(),
		&s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("content")})
	if err != nil {
		t.Fatal(err)
	}
}
