package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3control"

	"github.com/portico-platform/portico/controllers/cloud"
)

type opt = func(*s3.Options)

// api lists the calls that Portico makes to S3; docs/iam is checked against it.
type api interface {
	bucketAPI
	objectAPI
	accessAPI
	policyAPI
	rulesAPI
	controlAPI
}

type bucketAPI interface {
	ListBuckets(context.Context, *s3.ListBucketsInput, ...opt) (*s3.ListBucketsOutput, error)
	CreateBucket(context.Context, *s3.CreateBucketInput, ...opt) (*s3.CreateBucketOutput, error)
	DeleteBucket(context.Context, *s3.DeleteBucketInput, ...opt) (*s3.DeleteBucketOutput, error)
	GetBucketTagging(context.Context, *s3.GetBucketTaggingInput, ...opt) (*s3.GetBucketTaggingOutput, error)
	PutBucketTagging(context.Context, *s3.PutBucketTaggingInput, ...opt) (*s3.PutBucketTaggingOutput, error)
	DeleteBucketTagging(context.Context, *s3.DeleteBucketTaggingInput, ...opt) (*s3.DeleteBucketTaggingOutput, error)
}

type objectAPI interface {
	ListObjectVersions(context.Context, *s3.ListObjectVersionsInput, ...opt) (*s3.ListObjectVersionsOutput, error)
	DeleteObject(context.Context, *s3.DeleteObjectInput, ...opt) (*s3.DeleteObjectOutput, error)
	DeleteObjects(context.Context, *s3.DeleteObjectsInput, ...opt) (*s3.DeleteObjectsOutput, error)
	GetBucketVersioning(context.Context, *s3.GetBucketVersioningInput, ...opt) (*s3.GetBucketVersioningOutput, error)
	PutBucketVersioning(context.Context, *s3.PutBucketVersioningInput, ...opt) (*s3.PutBucketVersioningOutput, error)
}

type accessAPI interface {
	GetBucketEncryption(context.Context, *s3.GetBucketEncryptionInput, ...opt) (*s3.GetBucketEncryptionOutput, error)
	PutBucketEncryption(context.Context, *s3.PutBucketEncryptionInput, ...opt) (*s3.PutBucketEncryptionOutput, error)
	GetPublicAccessBlock(context.Context, *s3.GetPublicAccessBlockInput, ...opt) (*s3.GetPublicAccessBlockOutput, error)
	PutPublicAccessBlock(context.Context, *s3.PutPublicAccessBlockInput, ...opt) (*s3.PutPublicAccessBlockOutput, error)
}

type policyAPI interface {
	GetBucketPolicy(context.Context, *s3.GetBucketPolicyInput, ...opt) (*s3.GetBucketPolicyOutput, error)
	PutBucketPolicy(context.Context, *s3.PutBucketPolicyInput, ...opt) (*s3.PutBucketPolicyOutput, error)
	DeleteBucketPolicy(context.Context, *s3.DeleteBucketPolicyInput, ...opt) (*s3.DeleteBucketPolicyOutput, error)
	GetBucketNotificationConfiguration(context.Context, *s3.GetBucketNotificationConfigurationInput, ...opt) (
		*s3.GetBucketNotificationConfigurationOutput, error)
	PutBucketNotificationConfiguration(context.Context, *s3.PutBucketNotificationConfigurationInput, ...opt) (
		*s3.PutBucketNotificationConfigurationOutput, error)
}

type rulesAPI interface {
	GetBucketLifecycleConfiguration(context.Context, *s3.GetBucketLifecycleConfigurationInput, ...opt) (
		*s3.GetBucketLifecycleConfigurationOutput, error)
	PutBucketLifecycleConfiguration(context.Context, *s3.PutBucketLifecycleConfigurationInput, ...opt) (
		*s3.PutBucketLifecycleConfigurationOutput, error)
	DeleteBucketLifecycle(context.Context, *s3.DeleteBucketLifecycleInput, ...opt) (
		*s3.DeleteBucketLifecycleOutput, error)
	GetBucketCors(context.Context, *s3.GetBucketCorsInput, ...opt) (*s3.GetBucketCorsOutput, error)
	PutBucketCors(context.Context, *s3.PutBucketCorsInput, ...opt) (*s3.PutBucketCorsOutput, error)
	DeleteBucketCors(context.Context, *s3.DeleteBucketCorsInput, ...opt) (*s3.DeleteBucketCorsOutput, error)
}

// controlAPI lists the calls to S3 Control, which writes tags where S3 itself does not.
type controlAPI interface {
	TagResource(context.Context, *s3control.TagResourceInput, ...func(*s3control.Options)) (
		*s3control.TagResourceOutput, error)
	UntagResource(context.Context, *s3control.UntagResourceInput, ...func(*s3control.Options)) (
		*s3control.UntagResourceOutput, error)
}

// client combines both services.
type client struct {
	*s3.Client
	controlAPI
}

var _ api = client{}

// target is one bucket, and the account that must own it: every call contains both.
type target struct {
	api       api
	bucket    *string
	account   *string // nil if it is not known
	accountID *string // for S3 Control, known or stated
	arn       *string

	tagging     *tagging
	made        *made
	to          *destinations
	ownEndpoint bool
	caller      *cloud.Session // whose calls a policy must not deny
}
