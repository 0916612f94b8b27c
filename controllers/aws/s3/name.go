package s3

import (
	"cmp"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// name returns the name that obj's bucket has or will have. Once recorded it does not change.
func (b bucket) name(obj *v1alpha1.S3Bucket) string {
	return cmp.Or(given(obj), *b.former, b.session.Identity.GeneratedBucketName(obj, longest))
}

// given returns the recorded or requested name; empty: Portico generates it.
func given(obj *v1alpha1.S3Bucket) string {
	return cmp.Or(external.Noted(&obj.Status.AWSStatus, obj.Status.BucketName), obj.Spec.BucketName)
}

// tags returns the tags of obj's bucket. If Portico generates the name and no such bucket exists, a bucket with the
// name that earlier versions generated is obj's too: an object that retained or keeps its bucket, or a restored
// cluster, must not get a second, empty one.
func (b bucket) tags(ctx context.Context, obj *v1alpha1.S3Bucket) (map[string]string, error) {
	tags, err := b.target(obj).tags(ctx)
	if !cloud.IsNotFound(err) || given(obj) != "" {
		return tags, err
	}
	former := b.session.Identity.GeneratedName(obj, longest)
	tags, answer := b.targetOf(former).tags(ctx)
	if cloud.IsNotFound(answer) {
		return nil, err
	}
	if cloud.IsDenied(answer) { // the policy allows only names with the prefix; this proves nothing
		switch there, failed := b.isListed(ctx, former); {
		case cloud.IsDenied(failed):
			return nil, engine.Blocked(v1alpha1.ReasonAccessDenied, "S3 answers 403 for the bucket %s, which an "+
				"earlier version of Portico may have made for this object, and the provider's identity lacks "+
				"s3:ListAllMyBuckets, which would tell whether it is there; nothing was created. Ask a platform "+
				"admin to grant it; Portico tries again by itself, at least every 5 minutes", former)
		case failed != nil:
			return nil, failed
		case !there:
			return nil, err
		}
	}
	*b.former = former
	return tags, answer
}

// isListed reports whether the account has a bucket of this name.
func (b bucket) isListed(ctx context.Context, name string) (bool, error) {
	pages := s3.NewListBucketsPaginator(
		b.api, &s3.ListBucketsInput{Prefix: &name, MaxBuckets: aws.Int32(pageOfBuckets)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return false, err
		}
		for _, listed := range page.Buckets {
			if aws.ToString(listed.Name) == name {
				return true, nil
			}
		}
	}
	return false, nil
}

// explainFirst explains the first call on a bucket: S3 answers 403 for the buckets of other accounts, and a redirect
// for one in another region.
func (b bucket) explainFirst(obj *v1alpha1.S3Bucket, err error) error {
	name := b.name(obj)
	_, explained := engine.AsWait(err)
	switch {
	case explained:
		return err
	case cloud.IsDenied(err) && obj.Status.CreatedUnmarked:
		return engine.Blocked(v1alpha1.ReasonAccessDenied, "S3 has made the bucket %s for this object, and answers "+
			"403 when asked about it: either its owner is not the account %s, which STS names, or the provider's "+
			"identity lacks s3:GetBucketTagging. Ask a platform admin to check both. To stop managing the bucket, "+
			"set spec.deletionPolicy to Retain or Orphan and delete this object", name, b.session.AccountID)
	case cloud.IsDenied(err) && *b.former != "":
		return engine.Blocked(v1alpha1.ReasonAccessDenied, "the bucket %s is there, which an earlier version of "+
			"Portico most likely made for this object, and the provider's identity lacks s3:GetBucketTagging for it; "+
			"no other one was created. Ask a platform admin to attach %s, or request a bucket under another "+
			"object's name", name, chosenNames)
	case cloud.IsDenied(err) && obj.Status.ARN == "" && b.isChosen(obj):
		return engine.Blocked(v1alpha1.ReasonNameTakenOrDenied, "S3 answers 403 for the bucket %s: another account "+
			"has this name, or the provider's identity lacks s3:GetBucketTagging for it. %s without bucketName, and "+
			"Portico picks a name that it may use; or ask a platform admin to check the permission: a name that does "+
			"not begin with %s needs %s", name, again(obj), b.prefix(obj), chosenNames)
	case cloud.IsDenied(err) && obj.Status.ARN == "":
		return engine.Blocked(v1alpha1.ReasonNameTakenOrDenied, "S3 answers 403 for the bucket %s: another account "+
			"has this name, or the provider's identity lacks s3:GetBucketTagging. Ask a platform admin whether the "+
			"policy s3bucket.json (docs/iam) is attached, which allows names that begin with %s. %s with a "+
			"bucketName of your own, if not", name, b.prefix(obj), again(obj))
	case cloud.HasCode(err, "PermanentRedirect"), cloud.HasCode(err, "AuthorizationHeaderMalformed"):
		return engine.Blocked(v1alpha1.ReasonAlreadyExists, "the bucket %s exists in another region than %s. %s with "+
			"another bucketName, or in that region", name, b.session.Config.Region, again(obj))
	}
	return b.explain(obj, err)
}

// again says how to request another name or region: with an edit while nothing is reserved, then with a new object.
func again(obj *v1alpha1.S3Bucket) string {
	if obj.Status.AccountID == "" {
		return "Change the spec: ask for the bucket"
	}
	return "Delete this object and request a new one"
}

// chosenNames names the policy without a prefix, for admins.
const chosenNames = "the policy s3bucket-chosen-names.json (docs/iam)"

// prefix returns the prefix of the names that Portico generates in obj's namespace.
func (b bucket) prefix(obj *v1alpha1.S3Bucket) string {
	return cloud.BucketPrefix(b.session.Identity.Cluster, obj.Namespace) + "-"
}

// isChosen reports whether the bucket's name is not one that Portico generates now.
func (b bucket) isChosen(obj *v1alpha1.S3Bucket) bool {
	return !strings.HasPrefix(b.name(obj), b.prefix(obj))
}

// explain adds to a denial that the name may be its reason.
func (b bucket) explain(obj *v1alpha1.S3Bucket, err error) error {
	if !cloud.IsDenied(err) || !b.isChosen(obj) {
		return cloud.Explain(err)
	}
	return engine.Blocked(v1alpha1.ReasonAccessDenied, "%w. A name that does not begin with %s, as the bucket %s, "+
		"needs %s", cloud.Explain(err), b.prefix(obj), b.name(obj), chosenNames)
}
