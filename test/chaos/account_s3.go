package chaos

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/test/stack"
)

// buckets implements service for S3 buckets.
type buckets struct{ *account }

func (a buckets) list(ctx context.Context) (all []resource, err error) {
	pages := s3.NewListBucketsPaginator(a.s3, &s3.ListBucketsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, b := range page.Buckets {
			r, err := a.bucket(ctx, *b.Name)
			if err = absent(err, "NoSuchBucket"); err != nil {
				return nil, err
			}
			if r.id != "" {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

func (a buckets) make(ctx context.Context, name string, tags map[string]string) error {
	_, err := a.s3.CreateBucket(
		ctx, &s3.CreateBucketInput{Bucket: &name, CreateBucketConfiguration: &types.CreateBucketConfiguration{
			LocationConstraint: stack.Region, Tags: bucketTags(tags),
		}})
	return err
}

func (a buckets) tag(ctx context.Context, id string, tags map[string]string) error {
	have, err := a.tagsOfBucket(ctx, id)
	if err != nil {
		return err
	}
	maps.Copy(have, tags)
	_, err = a.s3.PutBucketTagging(
		ctx, &s3.PutBucketTaggingInput{Bucket: &id, Tagging: &types.Tagging{TagSet: bucketTags(have)}})
	return err
}

func (a buckets) drift(ctx context.Context, lot *rand.Rand, id string) error {
	if lot.IntN(2) == 0 {
		_, err := a.s3.DeletePublicAccessBlock(ctx, &s3.DeletePublicAccessBlockInput{Bucket: &id})
		return err
	}
	_, err := a.s3.PutBucketVersioning(
		ctx, &s3.PutBucketVersioningInput{Bucket: &id, VersioningConfiguration: &types.VersioningConfiguration{
			Status: pick(lot, []types.BucketVersioningStatus{
				types.BucketVersioningStatusEnabled, types.BucketVersioningStatusSuspended,
			}),
		}})
	return err
}

func (a buckets) destroy(ctx context.Context, id string) error {
	_, err := a.s3.DeleteBucket(ctx, &s3.DeleteBucketInput{Bucket: &id})
	return err
}

func bucketTags(tags map[string]string) []types.Tag {
	return cloud.TagList(tags, func(key, value *string) types.Tag { return types.Tag{Key: key, Value: value} })
}

func (a *account) tagsOfBucket(ctx context.Context, id string) (map[string]string, error) {
	out, err := a.s3.GetBucketTagging(ctx, &s3.GetBucketTaggingInput{Bucket: &id})
	if err != nil {
		return map[string]string{}, absent(err, "NoSuchTagSet")
	}
	return cloud.TagMap(out.TagSet, func(t types.Tag) (key, value *string) { return t.Key, t.Value }), nil
}

func (a *account) bucket(ctx context.Context, id string) (resource, error) {
	tags, err := a.tagsOfBucket(ctx, id)
	if err != nil {
		return resource{}, err
	}
	versioning, err := a.s3.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &id})
	if err != nil {
		return resource{}, err
	}
	config := []any{versioning.Status, tags}
	block, err := a.s3.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: &id})
	if err = absent(err, "NoSuchPublicAccessBlockConfiguration"); err != nil {
		return resource{}, err
	}
	if block != nil {
		config = append(config, block.PublicAccessBlockConfiguration)
	}
	rules, err := a.s3.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: &id})
	if err = absent(err, "NoSuchLifecycleConfiguration"); err != nil {
		return resource{}, err
	}
	if rules != nil {
		config = append(config, rules.Rules)
	}
	// a bucket whose versioning was never enabled counts as suspended
	kept := cmp.Or(versioning.Status, types.BucketVersioningStatusSuspended)
	return resource{id: id, tags: tags, config: text(config), fields: map[string]string{"versioning": string(kept)}},
		nil
}

// put writes an object into a bucket.
func (a *account) put(ctx context.Context, id, key string) error {
	_, err := a.s3.PutObject(ctx, &s3.PutObjectInput{Bucket: &id, Key: aws.String(key)})
	return err
}
