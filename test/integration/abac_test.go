//go:build integration

package integration

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
)

// abac switches attribute-based access control on for a bucket.
func abac(t *testing.T, api *s3.Client, bucket string) {
	t.Helper()
	in := &s3.PutBucketAbacInput{Bucket: &bucket, AbacStatus: &s3types.AbacStatus{
		Status: s3types.BucketAbacStatusEnabled,
	}}
	if _, err := api.PutBucketAbac(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// tagWrites lists the operator's calls since m that write the tags of a bucket.
func tagWrites(bucket string, m awsproxy.Mark) []string {
	return slices.DeleteFunc(operations(bucket, m), func(call string) bool {
		return call != "PutBucketTagging" && call != "DeleteBucketTagging" && call != "TagResource" &&
			call != "UntagResource"
	})
}

// Tags of a bucket with attribute-based access control are changed and removed through S3 Control only.
func TestTagsOfABucketWithABACAreKept(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "byattribute")
	b.Spec.Tags, b.Spec.DeletionPolicy = v1alpha1.Tags{"team": "payments"}, v1alpha1.DeletionOrphan
	createReady(t, c, b)
	api, name := outside(t, "test"), b.Spec.BucketName
	retag(t, api, name, func(tags map[string]string) { tags["owner"] = "finance" })
	abac(t, api, name)

	m := world.Proxy.Mark()
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Tags = v1alpha1.Tags{"cost": "low"} })
	ready(t, c, b)
	tags := tagsOf(t, api, name)
	want := map[string]string{"cost": "low", "team": "", "owner": "finance", "portico.dev/uid": string(b.UID)}
	for key, value := range want {
		if tags[key] != value {
			t.Errorf("tag %s = %q, want %q", key, tags[key], value)
		}
	}
	if got := tagWrites(name, m); !slices.Equal(got, []string{"PutBucketTagging", "TagResource", "UntagResource"}) {
		t.Errorf("calls %v", got)
	}
	m = world.Proxy.Mark()
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Tags = v1alpha1.Tags{"cost": "high"} })
	ready(t, c, b)
	if got := tagWrites(name, m); !slices.Equal(got, []string{"TagResource"}) ||
		tagsOf(t, api, name)["cost"] != "high" {
		t.Errorf("the second change calls %v, tags %v", got, tagsOf(t, api, name))
	}
	gone(t, c, b)
	if tags := tagsOf(t, api, name); tags["portico.dev/uid"] != "" || tags["owner"] != "finance" {
		t.Errorf("after it was orphaned it has tags %v", tags)
	}
}

// A bucket with attribute-based access control is adopted through S3 Control, or the status says what is missing.
func TestABucketWithABACIsAdopted(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	b := bucketOf(ns, "offered")
	b.Spec.DeletionPolicy = v1alpha1.DeletionOrphan
	createReady(t, c, b)
	gone(t, c, b)
	api, name := outside(t, "test"), b.Spec.BucketName
	retag(t, api, name, func(tags map[string]string) { tags["portico.dev/adopt"] = ns + "/offered" })
	abac(t, api, name)

	again := bucketOf(ns, "offered")
	again.Spec.BucketName, again.Spec.AdoptionPolicy = name, v1alpha1.AdoptionAdopt
	allow := world.Proxy.Inject(awsproxy.Fault{
		Service: "s3control", Operation: "TagResource", Resource: name,
		Kind: awsproxy.Denied,
	})
	defer allow()
	create(t, c, again)
	reason(t, c, again, "AccessDenied")
	allow()
	annotate(t, c, again, v1alpha1.AnnotationReconcileRequestedAt, "1")
	ready(t, c, again)
	if tags := tagsOf(t, api, name); tags["portico.dev/uid"] != string(again.UID) || tags["portico.dev/adopt"] != "" {
		t.Errorf("tags %v", tags)
	}
}
