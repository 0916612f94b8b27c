//go:build integration

package mototest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/portico-platform/portico/test/awsproxy"
)

func TestAServerThatRefusesTagsAtCreation(t *testing.T) {
	w := newWorld(t)
	for _, region := range []string{"us-east-1", "eu-west-1"} {
		c, bucket := w.s3(keyOne, region), unique(t)
		end := w.ServeBucket(bucket, awsproxy.S3Server{RefuseTags: "UnsupportedArgument"})
		_, err := c.CreateBucket(t.Context(), createInput(bucket, region, "team", "a"))
		wantCode(t, err, "UnsupportedArgument")
		wantStatus(t, err, 400)
		in := createInput(bucket, region)
		if region == "us-east-1" {
			in.CreateBucketConfiguration = nil
		}
		_, err = c.CreateBucket(t.Context(), in)
		must(t, err)
		_, err = c.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
		wantCode(t, err, "NoSuchTagSet")
		end()
		if got := tagsOf(t, c, create(t, c, region, "team", "a")); got["team"] != "a" {
			t.Errorf("another bucket has tags %v", got)
		}
	}
}

func TestAServerThatIgnoresTagsAtCreation(t *testing.T) {
	w := newWorld(t)
	c, bucket := w.s3(keyOne, "eu-west-1"), unique(t)
	defer w.ServeBucket(bucket, awsproxy.S3Server{IgnoreTags: true})()
	_, err := c.CreateBucket(t.Context(), createInput(bucket, "eu-west-1", "team", "a"))
	must(t, err)
	_, err = c.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{Bucket: &bucket})
	wantCode(t, err, "NoSuchTagSet")
}

func TestAServerThatKnowsAnotherOwner(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1", "team", "a")
	defer w.ServeBucket(bucket, awsproxy.S3Server{Owner: "root"})()
	_, err := c.GetBucketTagging(t.Context(), &s3.GetBucketTaggingInput{
		Bucket: &bucket, ExpectedBucketOwner: aws.String(accountOne),
	})
	wantCode(t, err, "AccessDenied")
	if got := tagsOf(t, c, bucket); got["team"] != "a" {
		t.Errorf("tags %v", got)
	}
}

func TestAServerThatDoesNotEncryptByItself(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1")
	defer w.ServeBucket(bucket, awsproxy.S3Server{Unencrypted: true})()
	_, err := c.GetBucketEncryption(t.Context(), &s3.GetBucketEncryptionInput{Bucket: &bucket})
	wantCode(t, err, "ServerSideEncryptionConfigurationNotFoundError")
}

func TestAServerThatLacksAnOperation(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1")
	defer w.ServeBucket(bucket, awsproxy.S3Server{Lacks: "GetPublicAccessBlock"})()
	_, err := c.GetPublicAccessBlock(t.Context(), &s3.GetPublicAccessBlockInput{Bucket: &bucket})
	wantCode(t, err, "NotImplemented")
	wantStatus(t, err, 501)
	_, err = c.GetBucketVersioning(t.Context(), &s3.GetBucketVersioningInput{Bucket: &bucket})
	must(t, err)
}
