package s3

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/s3control"
	"github.com/aws/smithy-go"
)

var errLost = errors.New("EOF")

// fakeS3 simulates one bucket in S3, as AWS answers: secure defaults, not-found codes, 1,000 versions a page.
type fakeS3 struct {
	exists     bool
	tags       map[string]string
	versioning s3types.BucketVersioningStatus
	encryption *s3types.ServerSideEncryptionConfiguration
	access     *s3types.PublicAccessBlockConfiguration
	lifecycle  []s3types.LifecycleRule
	cors       []s3types.CORSRule
	policy     string
	notified   s3types.NotificationConfiguration
	objects    []string // sorted
	plain      bool     // it does not encode keys
	locked     bool     // Object Lock
	abac       bool     // attribute-based access control
	noControl  bool     // there is no S3 Control

	unencrypted bool   // it does not encrypt by default
	refuse      string // the call that is denied
	lacks       string // the read that it does not support
	stubborn    bool   // it calls an empty bucket not empty
	tagsAnyName bool   // it returns tags of a bucket that does not exist, too

	tagless string // the code with which it refuses tags at creation
	ignores bool   // tags at creation
	again   bool   // it answers 200 if the owner creates a bucket again, as us-east-1 does
	late    int    // how many more reads deny that the bucket exists

	former formerBucket

	writes int
	calls  []string
	fail   error // of every read
	create error // of the creation
	lose   bool  // the reply of every write
}

func code(c string) error { return &smithy.GenericAPIError{Code: c, Message: c} }

func (f *fakeS3) read(call string) error {
	f.calls = append(f.calls, call)
	switch {
	case f.fail != nil:
		return f.fail
	case call == f.lacks:
		return code("NotImplemented")
	}
	if !f.exists || f.late > 0 {
		f.late--
		return code("NoSuchBucket")
	}
	return nil
}

func (f *fakeS3) write(call string, do func() error) error {
	f.calls = append(f.calls, call)
	if call == f.refuse {
		return code("AccessDenied")
	}
	if !f.exists && call != "CreateBucket" {
		return code("NoSuchBucket")
	}
	f.writes++
	if err := do(); err != nil {
		return err
	}
	if f.lose {
		return errLost
	}
	return nil
}

// ListBuckets lists two buckets, one a page; with the name of a former bucket, only that one.
func (f *fakeS3) ListBuckets(_ context.Context, in *s3.ListBucketsInput, _ ...opt) (*s3.ListBucketsOutput, error) {
	if in.Prefix != nil {
		return f.former.list()
	}
	f.calls = append(f.calls, "ListBuckets")
	if in.ContinuationToken == nil {
		return &s3.ListBucketsOutput{Buckets: []s3types.Bucket{{Name: aws.String("a")}}, ContinuationToken: aws.String(
			"2")}, nil
	}
	return &s3.ListBucketsOutput{Buckets: []s3types.Bucket{{Name: aws.String("b")}}}, f.fail
}

func (f *fakeS3) CreateBucket(_ context.Context, in *s3.CreateBucketInput, _ ...opt) (*s3.CreateBucketOutput, error) {
	return &s3.CreateBucketOutput{}, f.write("CreateBucket", func() error {
		var tags []s3types.Tag
		if in.CreateBucketConfiguration != nil {
			tags = in.CreateBucketConfiguration.Tags
		}
		switch {
		case f.create != nil:
			return f.create
		case f.tagless != "" && len(tags) > 0:
			return code(f.tagless)
		case f.exists && f.again:
			return nil
		case f.exists:
			return code("BucketAlreadyOwnedByYou")
		}
		on := aws.Bool(true)
		*f = fakeS3{
			exists: true, tags: map[string]string{}, writes: f.writes, calls: f.calls, lose: f.lose, refuse: f.refuse,
			ignores: f.ignores, again: f.again,
			access: &s3types.PublicAccessBlockConfiguration{
				BlockPublicAcls: on, BlockPublicPolicy: on,
				IgnorePublicAcls: on, RestrictPublicBuckets: on,
			},
		}
		for _, t := range tags {
			if !f.ignores {
				f.tags[*t.Key] = *t.Value
			}
		}
		return nil
	})
}

func (f *fakeS3) DeleteBucket(context.Context, *s3.DeleteBucketInput, ...opt) (*s3.DeleteBucketOutput, error) {
	return &s3.DeleteBucketOutput{}, f.write("DeleteBucket", func() error {
		if len(f.objects) > 0 || f.stubborn {
			return code("BucketNotEmpty")
		}
		f.exists = false
		return nil
	})
}

func (f *fakeS3) GetBucketTagging(_ context.Context, in *s3.GetBucketTaggingInput, _ ...opt) (
	*s3.GetBucketTaggingOutput, error,
) {
	if *in.Bucket == formerName {
		return f.former.get()
	}
	if err := f.read("GetBucketTagging"); err != nil && f.tagsAnyName {
		return nil, code("NoSuchTagSet")
	} else if err != nil {
		return nil, err
	}
	if len(f.tags) == 0 {
		return nil, code("NoSuchTagSet")
	}
	return &s3.GetBucketTaggingOutput{TagSet: tagSet(f.tags)}, nil
}

func (f *fakeS3) PutBucketTagging(_ context.Context, in *s3.PutBucketTaggingInput, _ ...opt) (
	*s3.PutBucketTaggingOutput, error,
) {
	return &s3.PutBucketTaggingOutput{}, f.write("PutBucketTagging", func() error {
		if f.abac {
			return code("BadRequest")
		}
		f.tags = map[string]string{}
		for _, t := range in.Tagging.TagSet {
			f.tags[*t.Key] = *t.Value
		}
		return nil
	})
}

func (f *fakeS3) DeleteBucketTagging(context.Context, *s3.DeleteBucketTaggingInput, ...opt) (
	*s3.DeleteBucketTaggingOutput, error,
) {
	return &s3.DeleteBucketTaggingOutput{}, f.write("DeleteBucketTagging", func() error {
		if f.abac {
			return code("BadRequest")
		}
		f.tags = nil
		return nil
	})
}

func (f *fakeS3) TagResource(_ context.Context, in *s3control.TagResourceInput, _ ...func(*s3control.Options)) (
	*s3control.TagResourceOutput, error,
) {
	return &s3control.TagResourceOutput{}, f.write("TagResource", func() error {
		if f.noControl {
			return code("MethodNotAllowed")
		}
		for _, t := range in.Tags {
			f.tags[*t.Key] = *t.Value
		}
		return nil
	})
}

func (f *fakeS3) UntagResource(_ context.Context, in *s3control.UntagResourceInput, _ ...func(*s3control.Options)) (
	*s3control.UntagResourceOutput, error,
) {
	return &s3control.UntagResourceOutput{}, f.write("UntagResource", func() error {
		if f.noControl {
			return code("MethodNotAllowed")
		}
		for _, key := range in.TagKeys {
			delete(f.tags, key)
		}
		return nil
	})
}

// ListObjectVersions lists up to 1,000 keys, every other as a delete marker. A character that XML cannot represent
// arrives as another one, unless the call asks for encoded keys and the server supports that.
func (f *fakeS3) ListObjectVersions(_ context.Context, in *s3.ListObjectVersionsInput, _ ...opt) (
	*s3.ListObjectVersionsOutput, error,
) {
	out := &s3.ListObjectVersionsOutput{}
	if !f.plain {
		out.EncodingType = in.EncodingType
	}
	for i, key := range f.objects[:min(len(f.objects), 1000)] {
		if out.EncodingType == s3types.EncodingTypeUrl {
			key = url.QueryEscape(key)
		}
		key := aws.String(arriving(key))
		if i%2 == 0 {
			out.Versions = append(out.Versions, s3types.ObjectVersion{Key: key, VersionId: aws.String("null")})
		} else {
			out.DeleteMarkers = append(out.DeleteMarkers, s3types.DeleteMarkerEntry{
				Key: key, VersionId: aws.String("null"),
			})
		}
	}
	return out, f.read("ListObjectVersions")
}

// arriving returns a key as XML represents it.
func arriving(key string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' {
			return '\ufffd'
		}
		return c
	}, key)
}

// DeleteObjects reports success for keys that do not exist, too.
func (f *fakeS3) DeleteObjects(_ context.Context, in *s3.DeleteObjectsInput, _ ...opt) (
	*s3.DeleteObjectsOutput, error,
) {
	out := &s3.DeleteObjectsOutput{}
	return out, f.write("DeleteObjects", func() error {
		for _, o := range in.Delete.Objects {
			if key := arriving(*o.Key); strings.HasPrefix(key, "locked") {
				out.Errors = append(out.Errors,
					s3types.Error{Key: &key, Code: aws.String("AccessDenied"), Message: aws.String("locked")})
			} else {
				f.remove(key)
			}
		}
		return nil
	})
}

func (f *fakeS3) DeleteObject(_ context.Context, in *s3.DeleteObjectInput, _ ...opt) (*s3.DeleteObjectOutput, error) {
	return &s3.DeleteObjectOutput{}, f.write("DeleteObject", func() error { f.remove(*in.Key); return nil })
}

func (f *fakeS3) remove(key string) {
	if at, found := slices.BinarySearch(f.objects, key); found {
		f.objects = slices.Delete(f.objects, at, at+1)
	}
}

func (f *fakeS3) GetBucketVersioning(context.Context, *s3.GetBucketVersioningInput, ...opt) (
	*s3.GetBucketVersioningOutput, error,
) {
	return &s3.GetBucketVersioningOutput{Status: f.versioning}, f.read("GetBucketVersioning")
}

func (f *fakeS3) PutBucketVersioning(_ context.Context, in *s3.PutBucketVersioningInput, _ ...opt) (
	*s3.PutBucketVersioningOutput, error,
) {
	return &s3.PutBucketVersioningOutput{}, f.write("PutBucketVersioning", func() error {
		if f.locked && in.VersioningConfiguration.Status == s3types.BucketVersioningStatusSuspended {
			return code("InvalidBucketState")
		}
		f.versioning = in.VersioningConfiguration.Status
		return nil
	})
}

func (f *fakeS3) GetBucketEncryption(context.Context, *s3.GetBucketEncryptionInput, ...opt) (
	*s3.GetBucketEncryptionOutput, error,
) {
	if err := f.read("GetBucketEncryption"); err != nil {
		return nil, err
	}
	switch {
	case f.encryption == nil && f.unencrypted:
		return nil, code("ServerSideEncryptionConfigurationNotFoundError")
	case f.encryption == nil:
		return &s3.GetBucketEncryptionOutput{
			ServerSideEncryptionConfiguration: &s3types.ServerSideEncryptionConfiguration{
				Rules: []s3types.ServerSideEncryptionRule{{
					ApplyServerSideEncryptionByDefault: &s3types.ServerSideEncryptionByDefault{
						SSEAlgorithm: s3types.ServerSideEncryptionAes256,
					},
				}},
			},
		}, nil
	}
	return &s3.GetBucketEncryptionOutput{ServerSideEncryptionConfiguration: f.encryption}, nil
}

func (f *fakeS3) PutBucketEncryption(_ context.Context, in *s3.PutBucketEncryptionInput, _ ...opt) (
	*s3.PutBucketEncryptionOutput, error,
) {
	return &s3.PutBucketEncryptionOutput{},
		f.write("PutBucketEncryption", func() error { f.encryption = in.ServerSideEncryptionConfiguration; return nil })
}

func (f *fakeS3) GetBucketPolicy(context.Context, *s3.GetBucketPolicyInput, ...opt) (*s3.GetBucketPolicyOutput, error) {
	if err := f.read("GetBucketPolicy"); err != nil {
		return nil, err
	}
	if f.policy == "" {
		return nil, code("NoSuchBucketPolicy")
	}
	return &s3.GetBucketPolicyOutput{Policy: aws.String(f.policy)}, nil
}

func (f *fakeS3) PutBucketPolicy(_ context.Context, in *s3.PutBucketPolicyInput, _ ...opt) (
	*s3.PutBucketPolicyOutput, error,
) {
	return &s3.PutBucketPolicyOutput{}, f.write("PutBucketPolicy", func() error { f.policy = *in.Policy; return nil })
}

func (f *fakeS3) DeleteBucketPolicy(context.Context, *s3.DeleteBucketPolicyInput, ...opt) (
	*s3.DeleteBucketPolicyOutput, error,
) {
	return &s3.DeleteBucketPolicyOutput{}, f.write("DeleteBucketPolicy", func() error { f.policy = ""; return nil })
}

func (f *fakeS3) GetBucketNotificationConfiguration(context.Context, *s3.GetBucketNotificationConfigurationInput,
	...opt,
) (*s3.GetBucketNotificationConfigurationOutput, error) {
	return &s3.GetBucketNotificationConfigurationOutput{
		QueueConfigurations: f.notified.QueueConfigurations, TopicConfigurations: f.notified.TopicConfigurations,
		LambdaFunctionConfigurations: f.notified.LambdaFunctionConfigurations,
		EventBridgeConfiguration:     f.notified.EventBridgeConfiguration,
	}, f.read("GetBucketNotificationConfiguration")
}

func (f *fakeS3) PutBucketNotificationConfiguration(_ context.Context, in *s3.PutBucketNotificationConfigurationInput,
	_ ...opt,
) (*s3.PutBucketNotificationConfigurationOutput, error) {
	return &s3.PutBucketNotificationConfigurationOutput{},
		f.write("PutBucketNotificationConfiguration",
			func() error { f.notified = *in.NotificationConfiguration; return nil })
}

func (f *fakeS3) GetPublicAccessBlock(context.Context, *s3.GetPublicAccessBlockInput, ...opt) (
	*s3.GetPublicAccessBlockOutput, error,
) {
	if err := f.read("GetPublicAccessBlock"); err != nil {
		return nil, err
	}
	if f.access == nil {
		return nil, code("NoSuchPublicAccessBlockConfiguration")
	}
	return &s3.GetPublicAccessBlockOutput{PublicAccessBlockConfiguration: f.access}, nil
}

func (f *fakeS3) PutPublicAccessBlock(_ context.Context, in *s3.PutPublicAccessBlockInput, _ ...opt) (
	*s3.PutPublicAccessBlockOutput, error,
) {
	return &s3.PutPublicAccessBlockOutput{},
		f.write("PutPublicAccessBlock", func() error { f.access = in.PublicAccessBlockConfiguration; return nil })
}

func (f *fakeS3) GetBucketLifecycleConfiguration(context.Context, *s3.GetBucketLifecycleConfigurationInput, ...opt) (
	*s3.GetBucketLifecycleConfigurationOutput, error,
) {
	if err := f.read("GetBucketLifecycleConfiguration"); err != nil {
		return nil, err
	}
	if len(f.lifecycle) == 0 {
		return nil, code("NoSuchLifecycleConfiguration")
	}
	return &s3.GetBucketLifecycleConfigurationOutput{Rules: f.lifecycle}, nil
}

func (f *fakeS3) PutBucketLifecycleConfiguration(_ context.Context, in *s3.PutBucketLifecycleConfigurationInput,
	_ ...opt,
) (*s3.PutBucketLifecycleConfigurationOutput, error) {
	return &s3.PutBucketLifecycleConfigurationOutput{}, f.write("PutBucketLifecycleConfiguration", func() error {
		f.lifecycle = in.LifecycleConfiguration.Rules
		return nil
	})
}

func (f *fakeS3) DeleteBucketLifecycle(context.Context, *s3.DeleteBucketLifecycleInput, ...opt) (
	*s3.DeleteBucketLifecycleOutput, error,
) {
	return &s3.DeleteBucketLifecycleOutput{},
		f.write("DeleteBucketLifecycle", func() error { f.lifecycle = nil; return nil })
}

func (f *fakeS3) GetBucketCors(context.Context, *s3.GetBucketCorsInput, ...opt) (*s3.GetBucketCorsOutput, error) {
	if err := f.read("GetBucketCors"); err != nil {
		return nil, err
	}
	if len(f.cors) == 0 {
		return nil, code("NoSuchCORSConfiguration")
	}
	return &s3.GetBucketCorsOutput{CORSRules: f.cors}, nil
}

func (f *fakeS3) PutBucketCors(_ context.Context, in *s3.PutBucketCorsInput, _ ...opt) (
	*s3.PutBucketCorsOutput, error,
) {
	return &s3.PutBucketCorsOutput{},
		f.write("PutBucketCors", func() error { f.cors = in.CORSConfiguration.CORSRules; return nil })
}

func (f *fakeS3) DeleteBucketCors(context.Context, *s3.DeleteBucketCorsInput, ...opt) (
	*s3.DeleteBucketCorsOutput, error,
) {
	return &s3.DeleteBucketCorsOutput{}, f.write("DeleteBucketCors", func() error { f.cors = nil; return nil })
}

// strip removes all of our tags.
func (f *fakeS3) strip() {
	maps.DeleteFunc(f.tags, func(key, _ string) bool { return key != "made-by" })
}
