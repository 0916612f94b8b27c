package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// Delete deletes the bucket. If it is not empty, that is refused unless forceDestroy allows emptying it.
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
		return false, engine.Blocked(v1alpha1.ReasonBucketNotEmpty, "the bucket %s still holds objects, versions or "+
			"delete markers; nothing was deleted. Empty it, set spec.forceDestroy to true to lose its content, or "+
			"set spec.deletionPolicy to Retain or Orphan to keep it", *t.bucket)
	}
	return false, b.empty(ctx, obj, t)
}

// Disown removes our tags and leaves all others.
func (b bucket) Disown(ctx context.Context, obj *v1alpha1.S3Bucket, seen *bucketState) error {
	return cloud.Explain(b.target(obj).changeTags(
		ctx, seen.tags, cloud.TagChange{Remove: cloud.OwnershipTagKeys(seen.tags)}))
}
