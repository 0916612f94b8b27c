package s3

import (
	"context"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/s3control"
	controltypes "github.com/aws/aws-sdk-go-v2/service/s3control/types"
	smithyendpoints "github.com/aws/smithy-go/endpoints"

	"github.com/portico-platform/portico/controllers/cloud"
)

// tagging remembers which buckets accept tags only from S3 Control, such as those with attribute-based access control.
// For all others S3's own call is tried first: it makes any change in one call and needs no second host. Regions,
// partitions and other servers lack S3 Control in so many ways (MethodNotAllowed, AccessDenied, 404, no such host) that
// calling it first could not distinguish its absence from a failure.
type tagging struct {
	byControl sync.Map // names of buckets
}

func taggingFor(session *cloud.Session) *tagging {
	return cloud.Shared(session, func() *tagging { return &tagging{} })
}

func controlFor(session *cloud.Session) *s3control.Client {
	return s3control.NewFromConfig(session.ConfigFor(s3control.ServiceID), func(o *s3control.Options) {
		if ownEndpoint(session) {
			o.EndpointResolverV2 = oneHost{s3control.NewDefaultEndpointResolverV2()}
		}
	})
}

// oneHost sends the account only in the header x-amz-account-id, and not in the host name as in AWS: a custom endpoint
// has no DNS name per account.
type oneHost struct{ s3control.EndpointResolverV2 }

func (h oneHost) ResolveEndpoint(ctx context.Context, params s3control.EndpointParameters) (
	smithyendpoints.Endpoint, error,
) {
	params.AccountId, params.RequiresAccountId = nil, nil
	return h.EndpointResolverV2.ResolveEndpoint(ctx, params)
}

// tags returns the bucket's tags, whatever call wrote them.
func (t target) tags(ctx context.Context) (map[string]string, error) {
	out, err := t.api.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
	if cloud.HasCode(err, "NoSuchTagSet") {
		return map[string]string{}, t.absence(ctx)
	}
	if err != nil {
		return nil, err
	}
	return cloud.TagMap(out.TagSet, func(t s3types.Tag) (key, value *string) { return t.Key, t.Value }), nil
}

// absence returns the server's error for a bucket that does not exist. That a bucket has no tags does not prove that it
// exists: MinIO answers that for any name.
func (t target) absence(ctx context.Context) error {
	if !t.ownEndpoint {
		return nil
	}
	_, err := t.api.GetBucketVersioning(
		ctx, &s3.GetBucketVersioningInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
	if cloud.IsNotFound(err) {
		return err
	}
	return nil // it exists, or the server lacks versioning and this proves nothing
}

// refusals are the codes with which S3 may refuse to tag a bucket with attribute-based access control: the first was
// observed, the others are its codes for calls that do not fit a bucket. Refusals for other reasons have them too, and
// then S3 Control refuses as well.
var refusals = []string{"BadRequest", "InvalidRequest", "MethodNotAllowed"}

// changeTags applies change to a bucket whose current tags are have.
func (t target) changeTags(ctx context.Context, have map[string]string, change cloud.TagChange) error {
	_, byControl := t.tagging.byControl.Load(*t.bucket)
	var refusal error
	if !byControl {
		if refusal = t.replaceTags(ctx, change.Apply(have)); !slices.Contains(refusals, cloud.Code(refusal)) {
			return refusal
		}
	}
	err := t.changeByControl(ctx, change)
	switch {
	case err == nil:
		t.tagging.byControl.Store(*t.bucket, true)
	case byControl && cloud.IsDenied(err): // S3's own call may work again
		t.tagging.byControl.Delete(*t.bucket)
	case t.ownEndpoint && !cloud.IsDenied(err): // there is no S3 Control, and S3 refused for another reason
		return refusal
	}
	return err
}

// replaceTags replaces the whole set, which is the only call of S3 itself.
func (t target) replaceTags(ctx context.Context, tags map[string]string) error {
	if len(tags) == 0 {
		_, err := t.api.DeleteBucketTagging(
			ctx, &s3.DeleteBucketTaggingInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
		return err
	}
	_, err := t.api.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{
		Bucket: t.bucket, ExpectedBucketOwner: t.account,
		Tagging: &s3types.Tagging{TagSet: tagSet(tags)},
	})
	return err
}

// changeByControl sets tags before it removes others: the offer of a bucket is removed only after it is marked.
func (t target) changeByControl(ctx context.Context, change cloud.TagChange) error {
	if len(change.Set) > 0 {
		_, err := t.api.TagResource(ctx, &s3control.TagResourceInput{
			ResourceArn: t.arn, AccountId: t.accountID,
			Tags: cloud.TagList(change.Set, func(key, value *string) controltypes.Tag {
				return controltypes.Tag{Key: key, Value: value}
			}),
		})
		if err != nil {
			return err
		}
	}
	if len(change.Remove) == 0 {
		return nil
	}
	_, err := t.api.UntagResource(
		ctx, &s3control.UntagResourceInput{ResourceArn: t.arn, AccountId: t.accountID, TagKeys: change.Remove})
	return err
}

func tagSet(tags map[string]string) []s3types.Tag {
	return cloud.TagList(tags, func(key, value *string) s3types.Tag { return s3types.Tag{Key: key, Value: value} })
}
