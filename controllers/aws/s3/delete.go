package s3

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// batches of 1,000 that one pass removes before it says how far it is.
const batches = 10

// Delete removes the bucket. One that holds anything is refused, unless forceDestroy says that it may be emptied.
func (b bucket) Delete(ctx context.Context, obj *v1alpha1.S3Bucket, _ *bucketState) (bool, error) {
	t := b.target(obj)
	_, err := t.api.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
	if cloud.IsNotFound(err) {
		return false, nil
	}
	if !cloud.HasCode(err, "BucketNotEmpty") {
		return err == nil, cloud.Explain(err)
	}
	if !obj.Spec.ForceDestroy {
		return false, engine.Blocked("BucketNotEmpty", "the bucket %s still holds objects, versions or delete markers; nothing was deleted. Empty it, set spec.forceDestroy to true to lose its content, or set spec.deletionPolicy to Retain or Orphan to keep it", *t.bucket)
	}
	return false, b.empty(ctx, obj, t)
}

// empty removes objects, versions and delete markers, as many as one pass may.
func (b bucket) empty(ctx context.Context, obj *v1alpha1.S3Bucket, t target) error {
	before, next := obj.Status.RemovedObjects, time.Duration(0)
	for range batches {
		n, err := t.removeBatch(ctx)
		obj.Status.RemovedObjects += int64(n)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	if obj.Status.RemovedObjects == before {
		next = 10 * time.Second // S3 lists nothing, and yet says that the bucket is not empty: it needs a moment
	}
	return engine.Wait("Emptying", next, "emptying the bucket %s: %d objects, versions and delete markers removed so far", *t.bucket, obj.Status.RemovedObjects)
}

// removeBatch removes up to 1,000 versions and tells how many.
func (t target) removeBatch(ctx context.Context) (int, error) {
	page, err := t.api.ListObjectVersions(ctx, &s3.ListObjectVersionsInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
	if err != nil {
		return 0, cloud.Explain(err)
	}
	ids := make([]s3types.ObjectIdentifier, 0, len(page.Versions)+len(page.DeleteMarkers))
	for _, v := range page.Versions {
		ids = append(ids, s3types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
	}
	for _, m := range page.DeleteMarkers {
		ids = append(ids, s3types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
	}
	if len(ids) == 0 {
		return 0, nil
	}
	out, err := t.api.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: t.bucket, ExpectedBucketOwner: t.account,
		Delete: &s3types.Delete{Objects: ids, Quiet: aws.Bool(true)},
	})
	if err != nil {
		return 0, cloud.Explain(err)
	}
	if len(out.Errors) > 0 {
		first := out.Errors[0]
		if code := aws.ToString(first.Code); code != "AccessDenied" && code != "MethodNotAllowed" && code != "InvalidRequest" {
			return len(ids) - len(out.Errors), engine.Wait("Emptying", 10*time.Second, "%d objects could not be removed for now, the first with %s", len(out.Errors), code)
		}
		return len(ids) - len(out.Errors), engine.Blocked("ObjectsKept", "%d objects could not be removed, the first with %s: %s. Look for Object Lock, or a missing s3:DeleteObjectVersion permission",
			len(out.Errors), aws.ToString(first.Code), fmt.Sprint(aws.ToString(first.Message)))
	}
	return len(ids), nil
}

// Disown removes our tags and leaves all others.
func (b bucket) Disown(ctx context.Context, obj *v1alpha1.S3Bucket, seen *bucketState) error {
	return cloud.Explain(b.target(obj).putTags(ctx, cloud.TagChange{Remove: cloud.Marked(seen.tags)}.Apply(seen.tags)))
}
