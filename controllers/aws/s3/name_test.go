package s3

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// formerName is the name that earlier versions generated for the bucket of object.
var formerName = adapter(nil).session.Identity.GeneratedName(object(), longest)

// formerBucket is a bucket that an earlier version may have created.
type formerBucket struct {
	tags       map[string]string // nil: there is none
	answer     string            // the error code for its tags
	listing    string            // the error code for the listing
	looks, all int               // calls for it, and listings
}

func (b *formerBucket) get() (*s3.GetBucketTaggingOutput, error) {
	b.looks++
	switch {
	case b.answer != "":
		return nil, code(b.answer)
	case b.tags == nil:
		return nil, code("NoSuchBucket")
	}
	return &s3.GetBucketTaggingOutput{TagSet: tagSet(b.tags)}, nil
}

// list answers as servers do that do not support a prefix.
func (b *formerBucket) list() (*s3.ListBucketsOutput, error) {
	b.all++
	if b.listing != "" {
		return nil, code(b.listing)
	}
	out := &s3.ListBucketsOutput{Buckets: []s3types.Bucket{{Name: aws.String("a")}}}
	if b.tags != nil {
		out.Buckets = append(out.Buckets, s3types.Bucket{Name: &formerName})
	}
	return out, nil
}

func reasonOf(err error) string {
	wait, ok := engine.AsWait(err)
	if !ok {
		return ""
	}
	return wait.Reason
}

// An object without a recorded name finds the bucket that an earlier version created under another name; no other one
// is created.
func TestABucketOfBeforeIsFoundByItsName(t *testing.T) {
	ours := adapter(nil).session.Identity.OwnershipTags(object())
	foreign := map[string]string{"made-by": "hand"}
	for _, x := range []struct {
		name        string
		former      formerBucket
		change      func(*v1alpha1.S3Bucket)
		want        string // the name; empty: a new one
		reason      string
		looks, list int
		says        []string
	}{
		{"there is none", formerBucket{}, nil, "", "", 1, 0, nil},
		{"it is ours", formerBucket{tags: ours}, nil, formerName, "", 1, 0, nil},
		{"it is another's", formerBucket{tags: foreign}, nil, formerName, "", 1, 0, nil},
		{"the policy knows new names only", formerBucket{answer: "AccessDenied"}, nil, "", "", 1, 1, nil},
		{"and it is there", formerBucket{answer: "AccessDenied", tags: ours}, nil, formerName, "AccessDenied", 1, 1, []string{formerName, "s3bucket-chosen-names.json"}},
		{"and buckets are not listed", formerBucket{answer: "AccessDenied", listing: "AccessDenied"}, nil, "", "AccessDenied", 1, 1, []string{formerName, "s3:ListAllMyBuckets"}},
		{"the listing fails", formerBucket{answer: "AccessDenied", listing: "SlowDown"}, nil, "", "Throttled", 1, 1, nil},
		{"the look fails", formerBucket{answer: "SlowDown"}, nil, formerName, "Throttled", 1, 0, nil},
		{"a name is asked for", formerBucket{tags: ours}, func(b *v1alpha1.S3Bucket) { b.Spec.BucketName = "mine" }, "mine", "", 0, 0, nil},
		{"a name is noted", formerBucket{tags: ours}, func(b *v1alpha1.S3Bucket) { b.Status.BucketName, b.Status.AccountID = "noted", "123456789012" }, "noted", "", 0, 0, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			f, obj := &fakeS3{former: x.former}, object()
			if x.change != nil {
				x.change(obj)
			}
			a := adapter(f)
			seen, err := a.Observe(t.Context(), obj)
			if got := reasonOf(err); got != x.reason {
				t.Fatalf("%q: %v", got, err)
			}
			for _, text := range x.says {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not say %q", err, text)
				}
			}
			if there := err == nil && x.want == formerName; (seen != nil) != there {
				t.Errorf("seen %+v", seen)
			}
			a.Reserve(obj, nil)
			if x.want == "" {
				x.want = a.session.Identity.GeneratedBucketName(obj, longest)
			}
			if obj.Status.BucketName != x.want || f.former.looks != x.looks || f.former.all != x.list {
				t.Errorf("bucket %s, want %s, after %d looks and %d listings", obj.Status.BucketName, x.want,
					f.former.looks, f.former.all)
			}
		})
	}
}

// The error for a chosen name that the policy does not allow says what to do.
func TestADeniedNameIsToldFromADeniedCall(t *testing.T) {
	prefix := cloud.BucketPrefix("cluster", "payments") + "-"
	chosen := func(b *v1alpha1.S3Bucket) { b.Spec.BucketName = "payments-mine" }
	for name, x := range map[string]struct {
		fake   fakeS3
		change func(*v1alpha1.S3Bucket)
		reason string
		says   []string
	}{
		"S3 answers the first call 403": {fakeS3{fail: code("AccessDenied")}, chosen, "NameTakenOrDenied", []string{"without bucketName", prefix, "s3bucket-chosen-names.json"}},
		"S3 denies the creation":        {fakeS3{refuse: "CreateBucket"}, chosen, "AccessDenied", []string{"payments-mine", prefix, "s3bucket-chosen-names.json"}},
		"it is one of before": {fakeS3{fail: code("AccessDenied")}, func(b *v1alpha1.S3Bucket) {
			b.Status.BucketName, b.Status.ARN = "old", "arn"
		}, "AccessDenied", []string{"bucket old", prefix, "s3bucket-chosen-names.json"}},
		"it is a name that Portico picks":     {fakeS3{fail: code("AccessDenied")}, func(*v1alpha1.S3Bucket) {}, "NameTakenOrDenied", []string{"s3bucket.json", prefix}},
		"and it is the creation that it is":   {fakeS3{refuse: "CreateBucket"}, func(*v1alpha1.S3Bucket) {}, "AccessDenied", []string{"lacks this permission"}},
		"it is no denial that the name is in": {fakeS3{fail: code("SlowDown")}, chosen, "Throttled", nil},
	} {
		obj := object()
		x.change(obj)
		a := adapter(&x.fake)
		seen, err := a.Observe(t.Context(), obj)
		if err == nil && seen == nil {
			err = a.create(obj, a.target(obj)).Do(t.Context())
		}
		if got := reasonOf(err); got != x.reason {
			t.Errorf("%s: %q: %v", name, got, err)
			continue
		}
		for _, text := range x.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q does not say %q", name, err, text)
			}
		}
		if isOurs := slices.Contains(x.says, "s3bucket-chosen-names.json"); strings.Contains(
			err.Error(), "chosen-names") != isOurs {
			t.Errorf("%s: %q", name, err)
		}
	}
}
