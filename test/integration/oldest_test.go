//go:build integration

package integration

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// In us-east-1 S3 answers 200 when an account creates a bucket that it already owns. Somebody with access to the
// account creates the bucket between the operator's read and its create call: Portico does not change the bucket, and
// does not delete it with the object.
func TestABucketOfTheSameAccountIsNotTakenInTheOldestRegion(t *testing.T) {
	calm(t)
	const oldest = "us-east-1"
	c := withOperator(t)
	p, ns := account(t, c, "230000000079"), team(t, c)
	edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedRegions = []string{stack.Region, oldest} })
	ready(t, c, p)
	api := s3.NewFromConfig(outsideConfig(t, p.Name), func(o *s3.Options) { o.UsePathStyle, o.Region = true, oldest })
	for name, row := range map[string]struct {
		tags   map[string]string
		server awsproxy.S3Server
	}{
		"theirs":            {tags: map[string]string{"team": "search"}},
		"theirs-bare":       {},
		"theirs-and-refuse": {server: awsproxy.S3Server{RefuseTags: "UnsupportedArgument"}},
	} {
		b := bucketOf(ns, name)
		b.Spec.ProviderRef.Name, b.Spec.Region = p.Name, oldest
		bucket := b.Spec.BucketName // b is read again while the hook runs
		serve := world.Proxy.ServeBucket(bucket, row.server)
		var once sync.Once
		world.Proxy.OnCall(func(ctx context.Context, call awsproxy.Call, phase awsproxy.Phase) error {
			if call.Operation != "CreateBucket" || call.Resource != bucket || phase != awsproxy.Before {
				return nil
			}
			var err error
			once.Do(func() { err = makeBucket(ctx, api, bucket, row.tags) })
			return err
		})
		m := world.Proxy.Mark()
		create(t, c, b)
		reason(t, c, b, "AlreadyExists")
		world.Proxy.OnCall(nil)
		if b.Status.CreatedUnmarked {
			t.Errorf("%s: it is noted as made by Portico", name)
		}
		gone(t, c, b)
		calls := operations(b.Spec.BucketName, m)
		if !slices.Contains(calls, "CreateBucket") || slices.Contains(calls, "PutBucketTagging") ||
			slices.Contains(calls, "DeleteBucket") {
			t.Errorf("%s: calls %v", name, calls)
		}
		if tags := tagsOf(t, api, b.Spec.BucketName); tags == nil || !maps.Equal(tags, row.tags) {
			t.Errorf("%s: tags %v, want %v", name, tags, row.tags)
		}
		serve()
	}
}

func makeBucket(ctx context.Context, api *s3.Client, name string, tags map[string]string) error {
	if _, err := api.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &name}); err != nil || len(tags) == 0 {
		return err
	}
	set := &s3types.Tagging{}
	for key, value := range tags {
		set.TagSet = append(set.TagSet, s3types.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	_, err := api.PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: &name, Tagging: set})
	return err
}
