//go:build integration

package mototest_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// TestKeysThatXMLCannotCarry checks keys with characters that XML does not allow. Plain listings of them cannot be
// parsed, encoded ones can. DeleteObjects receives a different key, which does not exist, and reports success;
// DeleteObject receives the key.
func TestKeysThatXMLCannotCarry(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	bucket := create(t, c, "eu-west-1")
	odd := []string{"a\x01b", "two\x1fwords and +&%/x", "plain"}
	for _, key := range odd {
		_, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("x")})
		must(t, err)
	}
	if _, err := c.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: &bucket}); err == nil {
		t.Error("a listing with control characters was read")
	}
	listed := func() []string {
		out, err := c.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{
			Bucket: &bucket, EncodingType: types.EncodingTypeUrl,
		})
		must(t, err)
		if out.EncodingType != types.EncodingTypeUrl {
			t.Errorf("encoding type %q", out.EncodingType)
		}
		var keys []string
		for _, v := range out.Versions {
			key, err := url.QueryUnescape(*v.Key)
			must(t, err)
			keys = append(keys, key)
		}
		slices.Sort(keys)
		return keys
	}
	slices.Sort(odd)
	if got := listed(); !slices.Equal(got, odd) {
		t.Fatalf("listed %q, want %q", got, odd)
	}
	out, err := c.DeleteObjects(
		t.Context(), &s3.DeleteObjectsInput{
			Bucket: &bucket, Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: &odd[0]}}},
		})
	must(t, err)
	if len(out.Errors) != 0 || !slices.Equal(listed(), odd) {
		t.Errorf("DeleteObjects: errors %v, left %q", out.Errors, listed())
	}
	for _, key := range odd {
		_, err := c.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
		must(t, err)
	}
	if got := listed(); len(got) != 0 {
		t.Errorf("left %q", got)
	}
}

func TestVersionsOfABucketWithObjectLockCannotBeSuspended(t *testing.T) {
	w := newWorld(t)
	c := w.s3(keyOne, "eu-west-1")
	for _, locked := range []bool{true, false} {
		in := createInput(unique(t), "eu-west-1")
		in.ObjectLockEnabledForBucket = aws.Bool(locked)
		_, err := c.CreateBucket(t.Context(), in)
		must(t, err)
		for _, status := range []types.BucketVersioningStatus{
			types.BucketVersioningStatusEnabled, types.BucketVersioningStatusSuspended,
		} {
			_, err := c.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
				Bucket: in.Bucket, VersioningConfiguration: &types.VersioningConfiguration{Status: status},
			})
			if locked && status == types.BucketVersioningStatusSuspended {
				wantCode(t, err, "InvalidBucketState")
				continue
			}
			must(t, err)
		}
	}
}
