//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
)

// A bucket is created, changed and deleted although the server refuses or ignores tags at its creation.
func TestABucketThatIsMadeWithoutTagsIsKeptAndRemoved(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	for name, server := range map[string]awsproxy.S3Server{
		"tagless":   {RefuseTags: "UnsupportedArgument"},
		"forgetful": {IgnoreTags: true},
	} {
		b := bucketOf(ns, name)
		defer world.Proxy.ServeBucket(b.Spec.BucketName, server)()
		createReady(t, c, b)
		if tags := tagsOf(t, outside(t, "test"), b.Spec.BucketName); tags["portico.dev/uid"] != string(b.UID) ||
			b.Status.CreatedUnmarked {
			t.Errorf("%s: tags %v, noted %t", name, tags, b.Status.CreatedUnmarked)
		}
		edit(t, c, b, func(b *v1alpha1.S3Bucket) {
			b.Spec.Versioning, b.Spec.Tags = "Enabled", v1alpha1.Tags{"team": "payments"}
		})
		ready(t, c, b)
		if tags := tagsOf(t, outside(t, "test"), b.Spec.BucketName); tags["team"] != "payments" {
			t.Errorf("%s: tags %v after an edit", name, tags)
		}
		gone(t, c, b)
		if tags := tagsOf(t, outside(t, "test"), b.Spec.BucketName); tags != nil {
			t.Errorf("%s: the bucket is still there, with tags %v", name, tags)
		}
	}
}

// A bucket that was created and could not be tagged is deleted with its object.
func TestABucketThatCouldNotBeMarkedIsRemoved(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "bare")
	defer world.Proxy.ServeBucket(b.Spec.BucketName, awsproxy.S3Server{RefuseTags: "MalformedXML"})()
	defer world.Proxy.Inject(
		awsproxy.Fault{Operation: "PutBucketTagging", Resource: b.Spec.BucketName, Kind: awsproxy.Denied})()
	create(t, c, b)
	reason(t, c, b, "AccessDenied")
	if !b.Status.CreatedUnmarked {
		t.Error("it is not noted that the bucket was made")
	}
	gone(t, c, b)
	if calls := operations(b.Spec.BucketName, 0); !slices.Contains(calls, "DeleteBucket") {
		t.Errorf("calls %v", calls)
	}
}

// A server whose bucket owner differs from the account that STS reports denies access to the new bucket: the message
// does not suggest another name.
func TestAServerThatKnowsAnotherOwnerIsNamed(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "owned")
	defer world.Proxy.ServeBucket(b.Spec.BucketName, awsproxy.S3Server{Owner: "root"})()
	create(t, c, b)
	got := reason(t, c, b, "AccessDenied").Message
	if !strings.Contains(got, "its owner is not the account") || strings.Contains(got, "request another") {
		t.Errorf("message %q", got)
	}
}

// On a server without default encryption, encryption is set, once.
func TestEncryptionIsSetWhereThereIsNone(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "plaintext")
	b.Spec.Encryption = &v1alpha1.S3Encryption{Algorithm: "AES256"}
	defer world.Proxy.ServeBucket(b.Spec.BucketName, awsproxy.S3Server{Unencrypted: true})()
	createReady(t, c, b)
	out, err := outside(t, "test").GetBucketEncryption(t.Context(), &s3.GetBucketEncryptionInput{
		Bucket: &b.Spec.BucketName,
	})
	if err != nil ||
		out.ServerSideEncryptionConfiguration.Rules[0].ApplyServerSideEncryptionByDefault.SSEAlgorithm !=
			s3types.ServerSideEncryptionAes256 {
		t.Errorf("the bucket that was asked for with AES256 has %v, %v", out, err)
	}
	m := requestReconcile(t, c, b, "1")
	if n := writes(b.Spec.BucketName, m); n != 0 {
		t.Errorf("%d writes at rest", n)
	}
}
