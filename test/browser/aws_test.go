//go:build browser

package browser

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/test/stack"
)

// outside returns a client for AWS that does not use Portico's access.
func outside() *s3.Client {
	return s3.New(s3.Options{
		Region: stack.Region, BaseEndpoint: aws.String(world.OutsideAWSEndpoint), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
	})
}

// bucketExists reports whether the bucket exists in AWS.
func bucketExists(t *testing.T, bucket string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := outside().HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &bucket})
	var gone *s3types.NotFound
	if err != nil && !errors.As(err, &gone) && !strings.Contains(err.Error(), "404") {
		t.Fatalf("asking AWS for bucket %s: %v", bucket, err)
	}
	return err == nil
}

func awaitNoBucket(t *testing.T, bucket string) {
	t.Helper()
	for began := time.Now(); bucketExists(t, bucket); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("bucket %s is still in AWS", bucket)
		}
	}
}

func versioning(t *testing.T, bucket string) s3types.BucketVersioningStatus {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := outside().GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &bucket})
	if err != nil {
		t.Fatalf("reading the versioning of %s: %v", bucket, err)
	}
	return out.Status
}

// suspendVersioning changes the bucket outside Portico.
func suspendVersioning(t *testing.T, bucket string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := outside().PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{
		Bucket:                  &bucket,
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusSuspended},
	})
	if err != nil {
		t.Fatalf("suspending the versioning of %s: %v", bucket, err)
	}
}
