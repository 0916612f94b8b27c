// Package s3 keeps S3 kinds.
package s3

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// longest is S3's limit for a bucket name, in characters.
const longest = 63

// bucketState is what AWS has of one bucket.
type bucketState struct {
	tags map[string]string
	// config holds the features that were read, by path: those declared or managed.
	config map[string]any
}

type bucket struct {
	api     api
	session *cloud.Session
}

// Bucket adapts S3Bucket.
func Bucket(session *cloud.Session) external.Adapter[*v1alpha1.S3Bucket, bucketState] {
	return bucket{session: session, api: s3.NewFromConfig(session.Config, func(o *s3.Options) {
		o.UsePathStyle = session.Endpoint != "" // a custom endpoint has no DNS name per bucket
	})}
}

func (b bucket) name(obj *v1alpha1.S3Bucket) string {
	return cmp.Or(obj.Status.BucketName, obj.Spec.BucketName, b.session.Identity.GeneratedName(obj, longest))
}

func (b bucket) target(obj *v1alpha1.S3Bucket) target {
	return target{api: b.api, bucket: aws.String(b.name(obj)), account: aws.String(b.session.AccountID)}
}

// Observe reads the tags, which show existence and ownership in one call, and then only what is declared or managed.
func (b bucket) Observe(ctx context.Context, obj *v1alpha1.S3Bucket) (*bucketState, error) {
	t := b.target(obj)
	tags, err := t.tags(ctx)
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, b.explainFirst(obj, err)
	}
	seen := &bucketState{tags: tags, config: map[string]any{}}
	foreign := b.Owner(obj, seen) == external.Foreign && !observed(obj)
	if foreign || !obj.DeletionTimestamp.IsZero() {
		return seen, nil // nothing more is read of what is not ours, or is to go
	}
	for _, f := range features {
		if !f.wanted(&obj.Spec, obj.Status.ManagedFields) {
			continue
		}
		if seen.config[f.path], err = f.read(ctx, t); err != nil {
			return nil, cloud.Explain(err)
		}
	}
	return seen, nil
}

// explainFirst explains the first call on a bucket: S3 answers 403 for the buckets of other accounts, and a redirect
// for one in another region.
func (b bucket) explainFirst(obj *v1alpha1.S3Bucket, err error) error {
	name := b.name(obj)
	switch {
	case cloud.IsDenied(err) && obj.Status.ARN == "":
		return engine.Blocked("NameTakenOrDenied", "S3 answers 403 for the bucket %s: another account has this name, or the provider's identity lacks s3:GetBucketTagging. Delete this object and request another bucketName, or ask a platform admin to check the permission", name)
	case cloud.HasCode(err, "PermanentRedirect"), cloud.HasCode(err, "AuthorizationHeaderMalformed"):
		return engine.Blocked("AlreadyExists", "the bucket %s exists in another region than %s; delete this object and request another bucketName, or set that region", name, b.session.Config.Region)
	}
	return cloud.Explain(err)
}

// Owner reads ownership off the tags.
func (b bucket) Owner(obj *v1alpha1.S3Bucket, seen *bucketState) external.Owner {
	return b.session.Identity.Owner(obj, seen.tags)
}

// Declared lists the spec paths in use; tags one by one, the provider's default tags among them.
func (b bucket) Declared(obj *v1alpha1.S3Bucket) []string {
	var paths []string
	for _, f := range features {
		paths = append(paths, f.declared(&obj.Spec)...)
	}
	for key := range b.wantTags(obj) {
		if !strings.HasPrefix(key, "portico.dev/") {
			paths = append(paths, tagPath+key)
		}
	}
	slices.Sort(paths)
	return paths
}

// Plan compares.
func (b bucket) Plan(obj *v1alpha1.S3Bucket, seen *bucketState) ([]external.Step, error) {
	t := b.target(obj)
	if seen == nil {
		return []external.Step{b.create(obj, t)}, nil
	}
	var steps []external.Step
	if s, ok := b.planTags(obj, seen, t); ok && !observed(obj) {
		steps = append(steps, s) // first: ownership is marked before anything else is changed
	}
	for _, f := range features {
		have, read := seen.config[f.path]
		if !read {
			continue
		}
		if s, ok := f.plan(&obj.Spec, obj.Status.ManagedFields, have, t); ok {
			steps = append(steps, s)
		}
	}
	return steps, nil
}

// create makes the bucket with its tags in one call, so that no bucket of ours is ever without.
func (b bucket) create(obj *v1alpha1.S3Bucket, t target) external.Step {
	// Reserved by now: see Reserve.
	in := &s3.CreateBucketInput{Bucket: t.bucket, CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
		Tags: tagSet(b.wantTags(obj)),
	}}
	if region := b.session.Config.Region; region != "us-east-1" { // which S3 does not take as a constraint
		in.CreateBucketConfiguration.LocationConstraint = s3types.BucketLocationConstraint(region)
	}
	return external.Step{
		Name: "CreateBucket", Why: "bucket " + *t.bucket + " in " + b.session.Config.Region,
		Do: func(ctx context.Context) error {
			_, err := t.api.CreateBucket(ctx, in)
			switch {
			case cloud.HasCode(err, "BucketAlreadyOwnedByYou"):
				return nil // an earlier try got through; the next look tells whose tags it has
			case cloud.HasCode(err, "BucketAlreadyExists"):
				s := &obj.Status
				s.AccountID, s.Region, s.BucketName, s.LastSyncTime = "", "", "", nil // there is nothing of ours to look for
				return engine.Blocked("NameTakenOrDenied", "another AWS account has a bucket named %s: bucket names are unique in all of AWS. Delete this object and request another bucketName, or none and Portico picks one", *t.bucket)
			}
			return cloud.Explain(err)
		},
	}
}

// Reserve notes where the bucket will be.
func (b bucket) Reserve(obj *v1alpha1.S3Bucket) {
	s := &obj.Status
	s.BucketName, s.Region, s.AccountID = b.name(obj), b.session.Config.Region, b.session.AccountID
}

func observed(obj *v1alpha1.S3Bucket) bool {
	return obj.Spec.ManagementPolicy == v1alpha1.ManagementObserve
}

// tagPath and a key make the managed path of one tag.
const tagPath = "tags."

func (b bucket) wantTags(obj *v1alpha1.S3Bucket) map[string]string {
	return b.session.Tags(obj, obj.Spec.Tags)
}

// planTags merges: foreign tags stay, ours are set, and those that were ours and are declared no more go.
func (b bucket) planTags(obj *v1alpha1.S3Bucket, seen *bucketState, t target) (external.Step, bool) {
	all, diff := maps.Clone(seen.tags), []string{}
	want := b.wantTags(obj)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if have, ok := all[key]; !ok || have != want[key] {
			diff = append(diff, fmt.Sprintf("tag %s %s → %s", key, shown(have), shown(want[key])))
			all[key] = want[key]
		}
	}
	for _, key := range b.unwanted(obj, want) {
		if have, ok := all[key]; ok {
			diff = append(diff, fmt.Sprintf("tag %s %s → none", key, shown(have)))
			delete(all, key)
		}
	}
	return external.Step{Name: "PutBucketTagging", Why: strings.Join(diff, ", "), Do: func(ctx context.Context) error {
		return cloud.Explain(t.putTags(ctx, all))
	}}, len(diff) > 0
}

// unwanted are the tags to remove: those that were ours and are declared no more, and the offer that was taken, which
// must not be there for the next object of this name.
func (b bucket) unwanted(obj *v1alpha1.S3Bucket, want map[string]string) []string {
	keys := []string{cloud.TagAdopt}
	for _, path := range obj.Status.ManagedFields {
		key, isTag := strings.CutPrefix(path, tagPath)
		if _, wanted := want[key]; isTag && !wanted {
			keys = append(keys, key)
		}
	}
	return keys
}

// Report fills the status.
func (b bucket) Report(obj *v1alpha1.S3Bucket, _ *bucketState) map[string]string {
	b.Reserve(obj)
	s := &obj.Status
	name, region := s.BucketName, s.Region
	s.ARN = fmt.Sprintf("arn:%s:s3:::%s", b.session.Partition, name)
	s.BucketDomainName = fmt.Sprintf("%s.s3.%s.%s", name, region, domain(b.session.Partition))
	return map[string]string{
		"type": "s3", "provider": "aws", "bucket": name, "region": region, "arn": s.ARN,
		"uri": "s3://" + name, "endpoint": b.session.Endpoint,
	}
}

func domain(partition string) string {
	if partition == "aws-cn" {
		return "amazonaws.com.cn"
	}
	return "amazonaws.com"
}

func shown(value string) string {
	if value == "" {
		return "none"
	}
	return value
}
