package s3

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// versioning cannot be removed: a bucket that never had it reports nothing, and one that had it can only be suspended.
// Neither keeps versions, so they compare equal.
var versioning = typedFeature[string]{
	path: "versioning",
	settings: []setting[string]{{
		Path: "versioning", Want: external.Text(func(b *v1alpha1.S3Bucket) string { return b.Spec.Versioning }),
		Have: func(v *string) string { return *v },
	}},
	want: func(_ target, s *v1alpha1.S3BucketSpec, _ func(string) bool, _ string) string {
		return cmp.Or(s.Versioning, string(s3types.BucketVersioningStatusSuspended))
	},
	get: func(ctx context.Context, t target) (string, error) {
		out, err := t.api.GetBucketVersioning(
			ctx, &s3.GetBucketVersioningInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
		if err != nil {
			return "", err
		}
		if out.Status == "" {
			return string(s3types.BucketVersioningStatusSuspended), nil
		}
		return string(out.Status), nil
	},
	call: "PutBucketVersioning",
	put: func(ctx context.Context, t target, v string) error {
		_, err := t.api.PutBucketVersioning(ctx, &s3.PutBucketVersioningInput{
			Bucket: t.bucket, ExpectedBucketOwner: t.account,
			VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatus(v)},
		})
		return err
	},
}

const bucketKeyPath = "encryption.bucketKeyEnabled"

// sse is encryption as S3 reports it, without an algorithm if none is set: AWS always has one, other servers may not.
// blocked is written back unchanged: the call replaces it, and it is not ours.
type sse struct {
	algorithm, key string
	bucketKey      bool
	blocked        *s3types.BlockedEncryptionTypes
}

var encryption = typedFeature[sse]{
	path: "encryption",
	settings: []setting[sse]{
		{Path: "encryption", Want: external.Whole(func(b *v1alpha1.S3Bucket) bool { return b.Spec.Encryption != nil })},
		{Path: bucketKeyPath, Want: external.Bool(func(b *v1alpha1.S3Bucket) *bool {
			if b.Spec.Encryption == nil {
				return nil
			}
			return b.Spec.Encryption.BucketKeyEnabled
		})},
	},
	want: func(_ target, s *v1alpha1.S3BucketSpec, ours func(string) bool, have sse) sse {
		e := s.Encryption
		switch {
		case e == nil && have.algorithm == "":
			return have // there is nothing to go back to
		case e == nil:
			return sse{algorithm: string(s3types.ServerSideEncryptionAes256), blocked: have.blocked}
		}
		want := sse{
			algorithm: e.Algorithm, key: e.KMSKeyID, bucketKey: have.bucketKey && e.Algorithm == "aws:kms",
			blocked: have.blocked,
		}
		switch {
		case e.BucketKeyEnabled != nil:
			want.bucketKey = *e.BucketKeyEnabled
		case ours(bucketKeyPath):
			want.bucketKey = false
		}
		return want
	},
	get: func(ctx context.Context, t target) (sse, error) {
		out, err := t.api.GetBucketEncryption(
			ctx, &s3.GetBucketEncryptionInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
		if cloud.HasCode(err, "ServerSideEncryptionConfigurationNotFoundError") {
			return sse{}, nil
		}
		if err != nil {
			return sse{}, err
		}
		for _, rule := range out.ServerSideEncryptionConfiguration.Rules {
			if d := rule.ApplyServerSideEncryptionByDefault; d != nil {
				have := sse{
					algorithm: string(d.SSEAlgorithm), key: aws.ToString(d.KMSMasterKeyID),
					blocked: rule.BlockedEncryptionTypes,
				}
				have.bucketKey = aws.ToBool(rule.BucketKeyEnabled) && have.algorithm == "aws:kms"
				return have, nil
			}
		}
		return sse{}, nil
	},
	call: "PutBucketEncryption",
	put: func(ctx context.Context, t target, v sse) error {
		byDefault := &s3types.ServerSideEncryptionByDefault{SSEAlgorithm: s3types.ServerSideEncryption(v.algorithm)}
		if v.key != "" {
			byDefault.KMSMasterKeyID = aws.String(v.key)
		}
		_, err := t.api.PutBucketEncryption(ctx, &s3.PutBucketEncryptionInput{
			Bucket: t.bucket, ExpectedBucketOwner: t.account,
			ServerSideEncryptionConfiguration: &s3types.ServerSideEncryptionConfiguration{
				Rules: []s3types.ServerSideEncryptionRule{
					{
						ApplyServerSideEncryptionByDefault: byDefault, BucketKeyEnabled: aws.Bool(v.bucketKey),
						BlockedEncryptionTypes: v.blocked,
					},
				},
			},
		})
		return err
	},
	references: func(_ target, have, want sse) []external.Reference {
		return reference.Added(reference.KMSKey, []string{"", have.key}, []string{want.key})
	},
	whole: func(v sse) string {
		text := cmp.Or(v.algorithm, "not set")
		if v.key != "" {
			text += " with key " + v.key
		}
		if v.bucketKey {
			text += ", bucket key on"
		}
		return text
	},
}

// encryptionKey returns the KMS key that spec names.
func encryptionKey(spec *v1alpha1.S3BucketSpec) []external.Reference {
	if spec.Encryption == nil {
		return nil
	}
	return reference.Added(reference.KMSKey, []string{""}, []string{spec.Encryption.KMSKeyID})
}

// access are the four switches of Block Public Access; AWS's default is all on.
type access struct{ blockACLs, ignoreACLs, blockPolicy, restrict bool }

// accessMembers maps each switch to its spec field.
var accessMembers = []struct {
	path string
	spec func(*v1alpha1.S3PublicAccessBlock) *bool
	have func(*access) *bool
}{
	{"publicAccessBlock.blockPublicAcls", func(b *v1alpha1.S3PublicAccessBlock) *bool { return b.BlockPublicAcls }, func(a *access) *bool { return &a.blockACLs }},
	{"publicAccessBlock.blockPublicPolicy", func(b *v1alpha1.S3PublicAccessBlock) *bool { return b.BlockPublicPolicy }, func(a *access) *bool { return &a.blockPolicy }},
	{"publicAccessBlock.ignorePublicAcls", func(b *v1alpha1.S3PublicAccessBlock) *bool { return b.IgnorePublicAcls }, func(a *access) *bool { return &a.ignoreACLs }},
	{"publicAccessBlock.restrictPublicBuckets", func(b *v1alpha1.S3PublicAccessBlock) *bool { return b.RestrictPublicBuckets }, func(a *access) *bool { return &a.restrict }},
}

// accessSettings describes the switches.
func accessSettings() []setting[access] {
	var all []setting[access]
	for _, m := range accessMembers {
		all = append(all, setting[access]{
			Path: m.path, Default: "true", Safe: true,
			Want: external.Bool(func(b *v1alpha1.S3Bucket) *bool {
				if b.Spec.PublicAccessBlock == nil {
					return nil
				}
				return m.spec(b.Spec.PublicAccessBlock)
			}),
			Have: func(a *access) string { return strconv.FormatBool(*m.have(a)) },
		})
	}
	return all
}

var publicAccess = typedFeature[access]{
	path:     "publicAccessBlock",
	settings: accessSettings(),
	want: func(_ target, s *v1alpha1.S3BucketSpec, ours func(string) bool, have access) access {
		for _, m := range accessMembers {
			switch {
			case s.PublicAccessBlock != nil && m.spec(s.PublicAccessBlock) != nil:
				*m.have(&have) = *m.spec(s.PublicAccessBlock)
			case ours(m.path):
				*m.have(&have) = true
			}
		}
		return have
	},
	get: func(ctx context.Context, t target) (access, error) {
		out, err := t.api.GetPublicAccessBlock(
			ctx, &s3.GetPublicAccessBlockInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
		if cloud.HasCode(err, "NoSuchPublicAccessBlockConfiguration") {
			return access{}, nil // somebody removed it: all switches are off
		}
		if err != nil {
			return access{}, err
		}
		c := out.PublicAccessBlockConfiguration
		return access{
			aws.ToBool(c.BlockPublicAcls), aws.ToBool(c.IgnorePublicAcls), aws.ToBool(c.BlockPublicPolicy),
			aws.ToBool(c.RestrictPublicBuckets),
		}, nil
	},
	call: "PutPublicAccessBlock",
	put: func(ctx context.Context, t target, v access) error {
		_, err := t.api.PutPublicAccessBlock(ctx, &s3.PutPublicAccessBlockInput{
			Bucket: t.bucket, ExpectedBucketOwner: t.account,
			PublicAccessBlockConfiguration: &s3types.PublicAccessBlockConfiguration{
				BlockPublicAcls: &v.blockACLs, IgnorePublicAcls: &v.ignoreACLs,
				BlockPublicPolicy: &v.blockPolicy, RestrictPublicBuckets: &v.restrict,
			},
		})
		return err
	},
	whole: func(v access) string {
		var parts []string
		for _, m := range accessMembers {
			_, name, _ := strings.Cut(m.path, ".")
			parts = append(parts, fmt.Sprintf("%s=%t", name, *m.have(&v)))
		}
		return strings.Join(parts, " ")
	},
}
