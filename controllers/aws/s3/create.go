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

// oldest is the region that answers 200 if the owner of a bucket creates it again, and accepts no constraint.
const oldest = "us-east-1"

// tagless are the error codes of regions, and of servers other than AWS, that do not create buckets with tags.
var tagless = []string{"UnsupportedArgument", "MalformedXML", "InvalidArgument"}

// create plans the call that creates the bucket with its tags, so that no bucket of ours is ever without; if that is
// refused, without them.
func (b bucket) create(obj *v1alpha1.S3Bucket, t target) external.Action {
	return external.Action{
		Name: "CreateBucket", Why: "bucket " + *t.bucket + " in " + b.session.Config.Region,
		Changes:    external.InitialChanges(b.session.TagPaths(obj, obj.Spec.Tags)),
		References: encryptionKey(&obj.Spec), // it is set afterwards; without it the bucket is not as requested
		Do: func(ctx context.Context) error {
			// The name is saved already: see Reserve.
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
				return nil // an earlier try succeeded; the next pass reads whose tags it has
			case cloud.HasCode(err, "BucketAlreadyExists"):
				s := &obj.Status
				// there is no bucket of ours to find
				s.AccountID, s.Region, s.BucketName, s.LastSyncTime = "", "", "", nil
				s.CreatedUnmarked = false
				return engine.Blocked(v1alpha1.ReasonNameTakenOrDenied, "another AWS account has a bucket named %s: "+
					"bucket names are unique in all of AWS. Choose another bucketName, or leave it out, and Portico "+
					"picks one", *t.bucket)
			}
			return b.explain(obj, err)
		},
	}
}

// closeNew makes a new bucket refuse requests without TLS, unless the spec says otherwise. It also saves the next pass
// a call. If it fails, the next pass finds the difference and repairs it like any other.
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

// creation returns the input of CreateBucket.
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

// isNew reports whether the call for which S3 has just answered 200 created the bucket. In the oldest region it may
// have existed: then only a server that refuses a second creation would have refused the first one, too. AWS itself
// accepts tags there, and they show the same.
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
