//go:build integration

package mototest_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/s3control"
	controltypes "github.com/aws/aws-sdk-go-v2/service/s3control/types"

	"github.com/portico-platform/portico/test/awsproxy"
)

// s3control returns a client that calls the host <account>.<endpoint>, as for AWS.
func (w *world) s3control(t *testing.T, key, region string) *s3control.Client {
	t.Helper()
	address := strings.TrimPrefix(w.operator.URL, "http://")
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	cfg := config(w.operator, key, region)
	cfg.BaseEndpoint, cfg.HTTPClient = aws.String("http://s3-control."+region+".amazonaws.com"),
		&http.Client{Transport: transport}
	return s3control.NewFromConfig(cfg)
}

func abac(t *testing.T, c *s3.Client, bucket string, to types.BucketAbacStatus) {
	t.Helper()
	_, err := c.PutBucketAbac(
		t.Context(), &s3.PutBucketAbacInput{Bucket: &bucket, AbacStatus: &types.AbacStatus{Status: to}})
	must(t, err)
	out, err := c.GetBucketAbac(t.Context(), &s3.GetBucketAbacInput{Bucket: &bucket})
	must(t, err)
	if out.AbacStatus.Status != to {
		t.Errorf("the switch is %s, want %s", out.AbacStatus.Status, to)
	}
}

func tagging(bucket, key, value string) *s3.PutBucketTaggingInput {
	return &s3.PutBucketTaggingInput{
		Bucket: &bucket, Tagging: &types.Tagging{TagSet: []types.Tag{{Key: &key, Value: &value}}},
	}
}

func tagResource(bucket, account, key, value string) *s3control.TagResourceInput {
	return &s3control.TagResourceInput{
		ResourceArn: aws.String("arn:aws:s3:::" + bucket), AccountId: &account,
		Tags: []controltypes.Tag{{Key: &key, Value: &value}},
	}
}

func TestABACLeavesTagsToS3Control(t *testing.T) {
	w := newWorld(t)
	c, control := w.s3(keyOne, "eu-west-1"), w.s3control(t, keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1", "team", "a")
	abac(t, c, bucket, types.BucketAbacStatusEnabled)

	_, err := c.PutBucketTagging(t.Context(), tagging(bucket, "cost", "low"))
	wantCode(t, err, "BadRequest")
	wantStatus(t, err, http.StatusBadRequest)
	_, err = c.DeleteBucketTagging(t.Context(), &s3.DeleteBucketTaggingInput{Bucket: &bucket})
	wantCode(t, err, "BadRequest")

	_, err = control.TagResource(t.Context(), tagResource(bucket, accountOne, "cost", "a b=c"))
	must(t, err)
	if got := tagsOf(t, c, bucket); got["team"] != "a" || got["cost"] != "a b=c" || len(got) != 2 {
		t.Errorf("tags %v, want both", got)
	}
	_, err = control.UntagResource(t.Context(), &s3control.UntagResourceInput{
		ResourceArn: aws.String("arn:aws:s3:::" + bucket), AccountId: aws.String(accountOne), TagKeys: []string{"team"},
	})
	must(t, err)
	if got := tagsOf(t, c, bucket); got["cost"] != "a b=c" || len(got) != 1 {
		t.Errorf("tags %v, want what was not removed", got)
	}
	if n := len(w.Calls(awsproxy.To("s3control"), awsproxy.About(bucket), awsproxy.Writes)); n != 2 {
		t.Errorf("%d writes of S3 Control in the journal, want 2", n)
	}

	abac(t, c, bucket, types.BucketAbacStatusDisabled)
	_, err = c.PutBucketTagging(t.Context(), tagging(bucket, "cost", "low"))
	must(t, err)
}

// TestABACEndsWithTheBucket checks that a new bucket has attribute-based access control off, even if a deleted bucket
// of the same name had it on.
func TestABACEndsWithTheBucket(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1")
	abac(t, c, bucket, types.BucketAbacStatusEnabled)
	_, err := c.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: &bucket})
	must(t, err)
	_, err = c.CreateBucket(t.Context(), createInput(bucket, "eu-west-1"))
	must(t, err)
	_, err = c.PutBucketTagging(t.Context(), tagging(bucket, "cost", "low"))
	must(t, err)
}

func TestS3ControlKeepsToOwnersAndRegions(t *testing.T) {
	w := newWorld(t)
	c, missing := w.s3(keyOne, "eu-west-1"), unique(t)
	bucket := create(t, c, "eu-west-1", "team", "a")
	_, err := w.s3control(t, keyTwo, "eu-west-1").TagResource(t.Context(), tagResource(bucket, accountTwo, "team", "b"))
	wantCode(t, err, "AccessDenied")
	_, err = w.s3control(t, keyTwo, "eu-west-1").TagResource(t.Context(), tagResource(bucket, accountOne, "team", "b"))
	wantCode(t, err, "AccessDenied")
	_, err = w.s3control(t, keyOne, "eu-central-1").TagResource(
		t.Context(), tagResource(bucket, accountOne, "team", "b"))
	wantCode(t, err, "PermanentRedirect")
	_, err = w.s3control(t, keyOne, "eu-west-1").TagResource(t.Context(), tagResource(missing, accountOne, "team", "b"))
	wantCode(t, err, "NoSuchBucket")
	_, err = w.s3control(t, keyOne, "eu-west-1").TagResource(
		t.Context(), tagResource(bucket, accountOne, "aws:team", "b"))
	wantCode(t, err, "InvalidTag")
	if got := tagsOf(t, c, bucket); got["team"] != "a" || len(got) != 1 {
		t.Errorf("tags %v", got)
	}
}
