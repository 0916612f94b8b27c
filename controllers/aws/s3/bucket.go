// Package s3 manages the S3 kinds.
package s3

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3control"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// longest is the limit for a bucket name, in characters.
const longest = cloud.LongestBucketName

// Settling is how long S3 may report that a new bucket does not exist. Its guide calls buckets eventually consistent
// and gives no time; Terraform's provider waits as long.
const Settling = 2 * time.Minute

// bucketState is the observed state of one bucket in AWS.
type bucketState struct {
	tags map[string]string
	// config holds the features that were read, by path: those declared or managed, and in audits those with safe
	// values.
	config map[string]any
}

// bucket adapts S3Bucket for one pass.
type bucket struct {
	api     api
	session *cloud.Session
	tagging *tagging
	former  *string // the name that earlier versions generated, if the bucket has it; see tags
	made    *made
	kube    external.Kube
	// receivers and to describe the queues and topics that are notified; see Resolve.
	receivers receivers
	to        *destinations
}

var (
	_ external.TagRestorer[*v1alpha1.S3Bucket, bucketState] = bucket{}
	_ external.Resolver[*v1alpha1.S3Bucket]                 = bucket{}
	_ external.SafePather[*v1alpha1.S3Bucket, bucketState]  = bucket{}
)

// Bucket returns the adapter of S3Bucket for one pass.
func Bucket(session *cloud.Session, kube external.Kube) external.Adapter[*v1alpha1.S3Bucket, bucketState] {
	return bucket{
		session: session, api: clientFor(session), tagging: taggingFor(session), former: new(string), made: new(made),
		kube:      kube,
		receivers: receiversFor(session), to: new(destinations),
	}
}

// ownEndpoint reports whether buckets are on a server other than AWS.
func ownEndpoint(session *cloud.Session) bool { return session.Services.Endpoint(s3.ServiceID) != "" }

// standsForAWS reports whether buckets are in AWS, or on a server that has all of its services. A server for buckets
// alone may have no TLS.
func standsForAWS(session *cloud.Session) bool {
	return session.Services.Own[s3.ServiceID] == "" && !session.Stated
}

func clientFor(session *cloud.Session) client {
	return cloud.Shared(session, func() client {
		return client{controlAPI: controlFor(session), Client: s3.NewFromConfig(session.ConfigFor(s3.ServiceID),
			func(o *s3.Options) {
				o.UsePathStyle = ownEndpoint(session) // a custom endpoint has no DNS name per bucket
			})}
	})
}

// pageOfBuckets is S3's maximum of buckets per page.
const pageOfBuckets = 10_000

// Buckets lists the ARNs of the account's buckets in the session's region.
func Buckets(ctx context.Context, session *cloud.Session) ([]string, error) {
	return list(ctx, clientFor(session), session)
}

func list(ctx context.Context, api bucketAPI, session *cloud.Session) ([]string, error) {
	var all []string
	pages := s3.NewListBucketsPaginator(api, &s3.ListBucketsInput{
		BucketRegion: aws.String(session.Config.Region), MaxBuckets: aws.Int32(pageOfBuckets),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for _, b := range page.Buckets {
			all = append(all, arn(session.Partition, aws.ToString(b.Name)))
		}
	}
	return all, nil
}

func arn(partition, bucket string) string { return fmt.Sprintf("arn:%s:s3:::%s", partition, bucket) }

func (b bucket) target(obj *v1alpha1.S3Bucket) target { return b.targetOf(b.name(obj)) }

func (b bucket) targetOf(name string) target {
	t := target{
		api: b.api, bucket: &name, accountID: aws.String(b.session.AccountID),
		arn:     aws.String(arn(b.session.Partition, name)),
		tagging: b.tagging, ownEndpoint: ownEndpoint(b.session), caller: b.session, made: b.made, to: b.to,
	}
	if !b.session.Stated { // a stated account proves nothing, and the server may know another owner
		t.account = t.accountID
	}
	return t
}

// Observe reads the tags, which show existence and ownership in one call, and then only what is declared or managed; in
// audits also settings that must be safe.
func (b bucket) Observe(ctx context.Context, obj *v1alpha1.S3Bucket) (*bucketState, error) {
	tags, err := b.tags(ctx, obj)
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, b.explainFirst(obj, err)
	}
	if b.session.Identity.Owner(obj, tags) == external.Ours {
		obj.Status.CreatedUnmarked = false // from here on only the tags show the owner
	}
	seen := &bucketState{tags: tags, config: map[string]any{}}
	if !external.ReadsSettings(obj, b.Owner(obj, seen)) {
		return seen, nil
	}
	t := b.target(obj)
	for _, f := range features {
		if err := f.observe(ctx, obj, t, seen); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// Owner determines ownership by the tags. A bucket that was created for obj and has no tags at all is adopted like one
// that an earlier object left: that it was created is saved before anything is written. When obj is deleted, so is the
// bucket.
func (b bucket) Owner(obj *v1alpha1.S3Bucket, seen *bucketState) external.Owner {
	switch made := obj.Status.CreatedUnmarked && len(seen.tags) == 0; {
	case made && obj.DeletionTimestamp.IsZero():
		return external.Earlier
	case made:
		return external.Ours
	}
	return b.session.Identity.Owner(obj, seen.tags)
}

// RestoreCommand implements external.TagRestorer. The command of S3 replaces all tags, so it includes those of others.
func (b bucket) RestoreCommand(obj *v1alpha1.S3Bucket, seen *bucketState) string {
	marks, t := b.session.Identity.LostMarks(obj, seen.tags), b.target(obj)
	if marks == nil {
		return ""
	}
	if _, byControl := b.tagging.byControl.Load(*t.bucket); byControl {
		return b.session.Command(s3control.ServiceID, "s3control", "tag-resource", "--account-id", *t.accountID,
			"--resource-arn", *t.arn, "--tags", cloud.TagText(marks))
	}
	all := `{"TagSet":` + cloud.TagText(cloud.TagChange{Set: marks}.Apply(seen.tags)) + `}`
	words := []string{"s3api", "put-bucket-tagging", "--bucket", *t.bucket, "--tagging", all}
	if t.account != nil {
		words = append(words, "--expected-bucket-owner", *t.account)
	}
	return b.session.Command(s3.ServiceID, words...)
}

// Declared lists the spec paths in use; tags one by one, including the provider's default tags.
func (b bucket) Declared(obj *v1alpha1.S3Bucket) []string {
	var paths []string
	for _, f := range features {
		paths = append(paths, f.declared(obj)...)
	}
	paths = append(paths, b.session.TagPaths(obj, obj.Spec.Tags)...)
	slices.Sort(paths)
	return paths
}

// SafePaths implements external.SafePather.
func (b bucket) SafePaths(_ *v1alpha1.S3Bucket, seen *bucketState) []string {
	var paths []string
	for _, f := range features {
		paths = append(paths, f.safePaths(b.session, seen)...)
	}
	return paths
}

// Plan compares the spec with the observed state, and returns the actions and what remains afterwards.
func (b bucket) Plan(obj *v1alpha1.S3Bucket, seen *bucketState) ([]external.Action, error) {
	t := b.target(obj)
	if seen == nil {
		return []external.Action{b.create(obj, t)}, nil
	}
	var actions []external.Action
	if s, ok := b.planTags(obj, seen, t); ok && !external.ObserveOnly(obj) {
		actions = append(actions, s) // first: ownership is marked before anything else is changed
	}
	for _, f := range features {
		if s, ok := f.plan(obj, seen, t); ok {
			actions = append(actions, s)
		}
	}
	return actions, b.to.rest
}

// Reserve records where the bucket will be.
func (b bucket) Reserve(obj *v1alpha1.S3Bucket, _ *bucketState) {
	s := &obj.Status
	s.BucketName, s.Region, s.AccountID = b.name(obj), b.session.Config.Region, b.session.AccountID
}

// planTags returns the action that changes the tags, and whether there is a change.
func (b bucket) planTags(obj *v1alpha1.S3Bucket, seen *bucketState, t target) (external.Action, bool) {
	change, have := b.session.PlanTags(obj, obj.Spec.Tags, seen.tags), seen.tags
	return change.Action("PutBucketTagging", func(ctx context.Context, part cloud.TagChange) error {
		err := t.changeTags(ctx, have, part)
		if err == nil {
			have = part.Apply(have) // the next part replaces all tags, these included
		}
		return cloud.Explain(err)
	}), !change.Empty()
}

// Report fills the status.
func (b bucket) Report(obj *v1alpha1.S3Bucket, seen *bucketState) map[string]string {
	b.Reserve(obj, nil)
	s := &obj.Status
	s.KMSKey = admittedKey(obj, seen)
	name, region := s.BucketName, s.Region
	s.ARN = arn(b.session.Partition, name)
	s.BucketDomainName = domainName(b.session, name)
	return map[string]string{
		"type": "s3", "provider": "aws", "bucket": name, "region": region, "arn": s.ARN,
		"uri": "s3://" + name, "endpoint": b.session.Services.Endpoint(s3.ServiceID),
	}
}

// admittedKey returns the KMS key that the bucket is encrypted with, if the bucket may use it.
func admittedKey(obj *v1alpha1.S3Bucket, seen *bucketState) string {
	if obj.Spec.Encryption == nil {
		return ""
	}
	have, _ := seen.config[encryption.path].(sse)
	return external.Effective(obj.Status.KMSKey, obj.Spec.Encryption.KMSKeyID, have.key)
}

// domainName returns where the SDK reaches the bucket: in AWS at a host of its own, whose suffix depends on the
// partition, and at a custom endpoint by a path. AWS's certificates cover only one label in front of its host, so
// buckets whose names have dots are reached by a path, too.
func domainName(session *cloud.Session, name string) string {
	params := s3.EndpointParameters{Region: &session.Config.Region}
	endpoint := session.Services.Endpoint(s3.ServiceID)
	if endpoint != "" {
		params.Endpoint = &endpoint
	}
	at, err := s3.NewDefaultEndpointResolverV2().ResolveEndpoint(context.Background(), params)
	switch {
	case err != nil:
		return "" // calls fail there, too
	case endpoint != "", strings.Contains(name, "."):
		return at.URI.Host + path.Join("/", at.URI.Path, name)
	}
	return name + "." + at.URI.Host
}
