package s3

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// oldest is the region that answers 200 to whoever creates a bucket that is theirs already, and takes no constraint.
const oldest = "us-east-1"

// tagless are the answers of regions, and of servers that are not AWS, that create no bucket with tags.
var tagless = []string{"UnsupportedArgument", "MalformedXML", "InvalidArgument"}

// create makes the bucket with its tags in one call, so that no bucket of ours is ever without; where that is refused,
// without them.
func (b bucket) create(obj *v1alpha1.S3Bucket, t target) external.Action {
	return external.Action{
		Name: "CreateBucket", Why: "bucket " + *t.bucket + " in " + b.session.Config.Region,
		Changes:    external.InitialChanges(b.session.TagPaths(obj, obj.Spec.Tags)),
		References: encryptionKey(&obj.Spec), // it is set afterwards, and a bucket without it is not what was asked for
		Do: func(ctx context.Context) error {
			// Reserved by now: see Reserve.
			_, err := t.api.CreateBucket(ctx, b.creation(t, b.session.Tags(obj, obj.Spec.Tags)))
			marked := !slices.Contains(tagless, cloud.Code(err))
			if !marked {
				_, err = t.api.CreateBucket(ctx, b.creation(t, nil))
			}
			switch {
			case err == nil:
				isNew := b.isNew(ctx, t, marked)
				obj.Status.CreatedUnmarked = obj.Status.CreatedUnmarked || isNew
				b.closeNew(ctx, obj, t, isNew)
				return nil
			case cloud.HasCode(err, "BucketAlreadyOwnedByYou"):
				return nil // an earlier try got through; the next look tells whose tags it has
			case cloud.HasCode(err, "BucketAlreadyExists"):
				s := &obj.Status
				s.AccountID, s.Region, s.BucketName, s.LastSyncTime = "", "", "", nil // there is nothing of ours to look for
				s.CreatedUnmarked = false
				return engine.Blocked(v1alpha1.ReasonNameTakenOrDenied, "another AWS account has a bucket named %s: bucket names are unique in all of AWS. Choose another bucketName, or leave it out, and Portico picks one", *t.bucket)
			}
			return b.explain(obj, err)
		},
	}
}

// closeNew has a bucket that was just made refuse requests without TLS, unless the spec says otherwise: the look that
// follows saves a call. What fails here that look finds, and it is done as any other change.
func (b bucket) closeNew(ctx context.Context, obj *v1alpha1.S3Bucket, t target, isNew bool) {
	if b.made.here = isNew; !isNew {
		return
	}
	b.made.note("")
	want := bucketPolicy{tls: true}
	if !standsForAWS(b.session) || obj.Spec.RequireTLS != nil && !*obj.Spec.RequireTLS ||
		policyFeature.put(ctx, t, want) == nil {
		return
	}
	b.made.known = false
}

// creation returns what CreateBucket is called with.
func (b bucket) creation(t target, tags map[string]string) *s3.CreateBucketInput {
	config := &s3types.CreateBucketConfiguration{Tags: tagSet(tags)}
	if region := b.session.Config.Region; region != oldest {
		config.LocationConstraint = s3types.BucketLocationConstraint(region)
	}
	in := &s3.CreateBucketInput{Bucket: t.bucket}
	if len(config.Tags) > 0 || config.LocationConstraint != "" { // an empty one is malformed
		in.CreateBucketConfiguration = config
	}
	return in
}

// isNew reports whether the bucket that S3 has just answered 200 for was made by that call. In the oldest region it may
// have been there: only a server that refuses to create it once more would have refused then, too. AWS itself takes
// tags there, which tell as much.
func (b bucket) isNew(ctx context.Context, t target, marked bool) bool {
	if b.session.Config.Region != oldest {
		return true
	}
	if marked && !ownEndpoint(b.session) {
		return false
	}
	_, err := t.api.CreateBucket(ctx, b.creation(t, nil))
	return cloud.HasCode(err, "BucketAlreadyOwnedByYou")
}
