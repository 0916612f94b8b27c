//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

func bucketAt(s *trial, name string) external.Object {
	b := bucketOf(s.ns, name)
	b.Spec.ProviderRef.Name = s.provider.Name
	return b
}

func bucketName(o external.Object) *string { return &o.(*v1alpha1.S3Bucket).Spec.BucketName }

// bucketSettings are the settings of an S3Bucket.
var bucketSettings = []setting{
	{
		name: "tags", set: `{"tags":{"team":"payments"}}`, change: `{"tags":{"team":"search"}}`,
		has: func(s *trial, o external.Object) string { return tagsOf(s.T, s.s3(), *bucketName(o))["team"] },
		spoil: func(s *trial, o external.Object) error {
			retag(s.T, s.s3(), *bucketName(o), func(tags map[string]string) { tags["team"] = "nobody" })
			return nil
		},
	},
	{
		name: "versioning", set: `{"versioning":"Enabled"}`, change: `{"versioning":"Suspended"}`,
		has: func(s *trial, o external.Object) string {
			out, err := s.s3().GetBucketVersioning(s.Context(), &s3.GetBucketVersioningInput{Bucket: bucketName(o)})
			return value(err, func() string { return string(out.Status) })
		},
		spoil: func(s *trial, o external.Object) error {
			_, err := s.s3().PutBucketVersioning(s.Context(), &s3.PutBucketVersioningInput{
				Bucket: bucketName(o), VersioningConfiguration: &s3types.VersioningConfiguration{
					Status: s3types.BucketVersioningStatusEnabled,
				},
			})
			return err
		},
	},
	{
		name: "encryption AES256", set: `{"encryption":{"algorithm":"AES256"}}`,
		change: `{"encryption":{"algorithm":"AES256","bucketKeyEnabled":true}}`,
		has:    encryptionOf, spoil: unencrypt,
	},
	{
		name: "encryption aws:kms", set: `{"encryption":{"algorithm":"aws:kms","kmsKeyID":"one"}}`,
		change: `{"encryption":{"algorithm":"aws:kms","kmsKeyID":"two"}}`,
		has:    encryptionOf, spoil: unencrypt,
	},
	{
		name: "publicAccessBlock", set: `{"publicAccessBlock":{"blockPublicAcls":true}}`,
		change: `{"publicAccessBlock":{"blockPublicAcls":false}}`,
		has: func(s *trial, o external.Object) string {
			out, err := s.s3().GetPublicAccessBlock(s.Context(), &s3.GetPublicAccessBlockInput{Bucket: bucketName(o)})
			return value(err, func() string {
				return fmt.Sprint(aws.ToBool(out.PublicAccessBlockConfiguration.BlockPublicAcls))
			})
		},
		spoil: func(s *trial, o external.Object) error {
			_, err := s.s3().PutPublicAccessBlock(s.Context(), &s3.PutPublicAccessBlockInput{
				Bucket: bucketName(o), PublicAccessBlockConfiguration: &s3types.PublicAccessBlockConfiguration{
					BlockPublicAcls: aws.Bool(true),
				},
			})
			return err
		},
	},
	{
		name: "lifecycleRules", set: `{"lifecycleRules":[{"id":"old","prefix":"logs/","expirationDays":30}]}`,
		change: `{"lifecycleRules":[{"id":"old","prefix":"logs/","expirationDays":60}]}`, has: lifecycleOf,
		spoil: dropRules,
	},
	{
		name: "lifecycleRules of versions", set: `{"lifecycleRules":[{"id":"v","noncurrentVersionExpirationDays":30}]}`,
		change: `{"lifecycleRules":[{"id":"v","noncurrentVersionExpirationDays":60}]}`, has: lifecycleOf,
		spoil: dropRules,
	},
	{
		name:   "lifecycleRules that move",
		set:    `{"lifecycleRules":[{"id":"m","transitions":[{"days":30,"storageClass":"GLACIER"}]}]}`,
		change: `{"lifecycleRules":[{"id":"m","transitions":[{"days":60,"storageClass":"GLACIER"}]}]}`,
		has:    lifecycleOf, spoil: dropRules,
	},
	{
		name: "corsRules", set: `{"corsRules":[{"allowedOrigins":["https://a.example.com"],"allowedMethods":["GET"]}]}`,
		change: `{"corsRules":[{"allowedOrigins":["https://b.example.com"],"allowedMethods":["GET"]}]}`,
		has: func(s *trial, o external.Object) string {
			out, err := s.s3().GetBucketCors(s.Context(), &s3.GetBucketCorsInput{Bucket: bucketName(o)})
			return value(err, func() string { return strings.Join(out.CORSRules[0].AllowedOrigins, " ") })
		},
		spoil: func(s *trial, o external.Object) error {
			_, err := s.s3().DeleteBucketCors(s.Context(), &s3.DeleteBucketCorsInput{Bucket: bucketName(o)})
			return err
		},
	},
}

// value returns the value that was read, or the error.
func value(err error, read func() string) string {
	if err != nil {
		return err.Error()
	}
	return read()
}

func encryptionOf(s *trial, o external.Object) string {
	out, err := s.s3().GetBucketEncryption(s.Context(), &s3.GetBucketEncryptionInput{Bucket: bucketName(o)})
	return value(err, func() string {
		rule := out.ServerSideEncryptionConfiguration.Rules[0]
		by := rule.ApplyServerSideEncryptionByDefault
		return fmt.Sprint(by.SSEAlgorithm, aws.ToString(by.KMSMasterKeyID), aws.ToBool(rule.BucketKeyEnabled))
	})
}

func unencrypt(s *trial, o external.Object) error {
	_, err := s.s3().DeleteBucketEncryption(s.Context(), &s3.DeleteBucketEncryptionInput{Bucket: bucketName(o)})
	return err
}

func lifecycleOf(s *trial, o external.Object) string {
	out, err := s.s3().GetBucketLifecycleConfiguration(s.Context(), &s3.GetBucketLifecycleConfigurationInput{
		Bucket: bucketName(o),
	})
	return value(err, func() string { return external.JSON(out.Rules) })
}

func dropRules(s *trial, o external.Object) error {
	_, err := s.s3().DeleteBucketLifecycle(s.Context(), &s3.DeleteBucketLifecycleInput{Bucket: bucketName(o)})
	return err
}

// lists returns what the server still has of the object's resource.
func (s *trial) lists(o external.Object) string {
	s.Helper()
	if q, ok := o.(*v1alpha1.SQSQueue); ok {
		return s.listsQueue(q)
	}
	out, err := s.s3().ListBuckets(s.Context(), &s3.ListBucketsInput{})
	if err != nil {
		s.Fatal(err)
	}
	for _, b := range out.Buckets {
		if *b.Name == *bucketName(o) {
			return *b.Name
		}
	}
	return ""
}

// oddKeys are names of objects that are difficult for a client, a listing or XML.
var oddKeys = []string{
	"plain", "a b", "ä/ü&<+>%2F", "quote\"'", "line\nfeed", unspelt, "deep/er/and/deeper",
	climbing, strings.Repeat("k", 200),
}

// deletes tests the deletion of buckets with content.
func (s *trial) deletes() {
	s.Helper()
	if s.service == "sqs" {
		s.deletesQueue()
		return
	}
	for _, versioning := range []string{`{}`, `{"versioning":"Enabled"}`} {
		b := bucketAt(s, "full"+fmt.Sprint(len(versioning))).(*v1alpha1.S3Bucket)
		create(s.T, s.Client, b)
		s.outcome(b)
		s.patch(b, versioning)
		if got, _ := s.outcome(b); got != carried {
			s.patch(b, `{"versioning":null}`)
			s.outcome(b)
		}
		keys := slices.Clone(oddKeys)
		if b.Spec.Versioning != "" {
			keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(s.forgets, key) })
		}
		stored := s.fill(b.Spec.BucketName, keys)
		if err := erase(s.T, s.Client, b); err != nil {
			s.Fatal(err)
		}
		reason(s.T, s.Client, b, "BucketNotEmpty")
		s.atRest()
		s.patch(b, `{"forceDestroy":true}`)
		s.empties(b)
		if left := s.lists(b); left != "" {
			s.Errorf("%s is still there", left)
		}
		s.Logf("forceDestroy with %s removed all %d keys that the server took of %d", versioning, stored, len(keys))
	}
	s.orphans()
}

// empties waits until the bucket is deleted. A key that the server does not encode in its listings is reported, and
// the test removes it by name.
func (s *trial) empties(b *v1alpha1.S3Bucket) {
	s.Helper()
	await(s.T, "the bucket to go or to be kept", func() (bool, string) {
		if err := s.Get(s.Context(), client.ObjectKeyFromObject(b), b); err != nil {
			return apierrors.IsNotFound(err), err.Error()
		}
		got := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady)
		return got.Reason == v1alpha1.ReasonObjectsKept, got.Message
	})
	if s.keysLeft(b) == 0 {
		awaitGone(s.T, s.Client, b)
		return
	}
	s.Logf("%s", meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReady).Message)
	s.atRest()
	if _, err := s.s3().DeleteObject(
		s.Context(), &s3.DeleteObjectInput{Bucket: bucketName(b), Key: aws.String(unspelt)}); err != nil {
		s.Fatal(err)
	}
	wakeNow(s.T, s.Client, b)
	awaitGone(s.T, s.Client, b)
}

const (
	unspelt  = "ctrl\x01x" // XML cannot represent it
	climbing = "dots/../x"
)

// keysLeft returns how many keys are left in a bucket.
func (s *trial) keysLeft(b *v1alpha1.S3Bucket) int {
	s.Helper()
	out, err := s.s3().ListObjectVersions(s.Context(), &s3.ListObjectVersionsInput{Bucket: bucketName(b)})
	if err != nil {
		if strings.Contains(err.Error(), "NoSuchBucket") {
			return 0
		}
		s.Fatal(err)
	}
	return len(out.Versions) + len(out.DeleteMarkers)
}

// fill puts objects under odd keys, twice each, and returns how many the server accepted.
func (s *trial) fill(bucket string, keys []string) (stored int) {
	s.Helper()
	for _, key := range keys {
		for range 2 {
			if _, err := s.s3().PutObject(
				s.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("x")}); err != nil {
				s.Logf("the server does not take the key %q: %s", key, cloud.Code(err))
				continue
			}
			stored++
		}
	}
	return stored / 2
}

// orphans releases a bucket, which then has none of Portico's marks.
func (s *trial) orphans() {
	s.Helper()
	b := bucketAt(s, "orphan").(*v1alpha1.S3Bucket)
	b.Spec.DeletionPolicy = v1alpha1.DeletionOrphan
	create(s.T, s.Client, b)
	s.outcome(b)
	gone(s.T, s.Client, b.DeepCopyObject().(client.Object))
	if tags := tagsOf(s.T, s.s3(), b.Spec.BucketName); tags == nil || len(tags) > 0 {
		s.Errorf("the orphan has the tags %v", tags)
	}
}
