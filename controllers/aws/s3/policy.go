package s3

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// Paths of the parts of a bucket's policy.
const (
	policyPath = "policy"
	tlsPath    = "requireTLS"
)

// bucketPolicy is a bucket's policy: whether it has Portico's statement that refuses requests without TLS, and all
// other statements.
type bucketPolicy struct {
	tls  bool
	odd  bool // it has other statements with a Sid of Portico's, which Portico writes to no bucket
	rest string
}

// made is what this pass knows about a bucket that it has created. The next read of the policy, after the creation and
// after each change, needs no call to S3.
type made struct {
	here   bool // by this pass
	known  bool // policy is known
	policy string
}

func (m *made) note(policy string) { m.known, m.policy = m.here, policy }

// policyFeature is written to new buckets: unlike other settings that deny access to others, requireTLS is no default
// of S3.
var policyFeature = typedFeature[bucketPolicy]{
	path: policyPath, onlyKept: true,
	settings: []setting[bucketPolicy]{
		{Path: policyPath, Want: external.Text(func(b *v1alpha1.S3Bucket) string { return b.Spec.Policy })},
		{
			Path: tlsPath, Default: "true", Safe: true,
			Want: external.Bool(func(b *v1alpha1.S3Bucket) *bool { return b.Spec.RequireTLS }),
			Have: func(p *bucketPolicy) string { return fmt.Sprint(p.tls) },
		},
	},
	want: func(_ target, s *v1alpha1.S3BucketSpec, ours func(string) bool, have bucketPolicy) bucketPolicy {
		have.odd = false
		switch {
		case s.RequireTLS != nil:
			have.tls = *s.RequireTLS
		case ours(tlsPath):
			have.tls = true
		}
		if s.Policy != "" || ours(policyPath) {
			have.rest = s.Policy
		}
		return have
	},
	get: func(ctx context.Context, t target) (bucketPolicy, error) {
		if t.made.known {
			t.made.known = false
			return divided(t.made.policy, *t.arn), nil
		}
		out, err := t.api.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{
			Bucket:              t.bucket,
			ExpectedBucketOwner: t.account,
		})
		if cloud.HasCode(err, "NoSuchBucketPolicy") {
			return bucketPolicy{}, nil
		}
		if err != nil {
			return bucketPolicy{}, err
		}
		return divided(aws.ToString(out.Policy), *t.arn), nil
	},
	call: "PutBucketPolicy",
	put: func(ctx context.Context, t target, v bucketPolicy) (err error) {
		text := v.document(*t.arn)
		if text == "" {
			_, err = t.api.DeleteBucketPolicy(ctx,
				&s3.DeleteBucketPolicyInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
		} else {
			_, err = t.api.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{
				Bucket:              t.bucket,
				ExpectedBucketOwner: t.account, Policy: &text,
			})
		}
		if err == nil {
			t.made.note(text)
		}
		return err
	},
	whole: func(v bucketPolicy) string {
		text := fmt.Sprintf("requireTLS=%t %s", v.tls, external.OrNone(iampolicy.Normal(v.rest)))
		if v.odd {
			text += " and statements of Portico's for other resources"
		}
		return text
	},
	parts: []part[bucketPolicy]{
		{tlsPath, func(into *bucketPolicy, want bucketPolicy) { into.tls, into.odd = want.tls, want.odd }},
		{policyPath, func(into *bucketPolicy, want bucketPolicy) { into.rest = want.rest }},
	},
	refuse: func(t target, have, want bucketPolicy) error {
		if iampolicy.Normal(have.rest) == iampolicy.Normal(want.rest) {
			return nil // it is unchanged
		}
		return senders.Refuse(want.rest, t.caller, needed)
	},
	references: func(t target, have, want bucketPolicy) []external.Reference {
		return senders.Principals(*t.accountID, have.rest, want.rest)
	},
}

// needed are the operator's own calls that a bucket's policy can deny.
var needed = []string{
	"s3:GetBucketTagging", "s3:PutBucketTagging", "s3:GetBucketPublicAccessBlock", "s3:PutBucketPublicAccessBlock",
	"s3:GetBucketPolicy",
	"s3:PutBucketPolicy", "s3:DeleteBucketPolicy", "s3:DeleteBucket", "s3:GetBucketNotification",
	"s3:PutBucketNotification",
	"s3:ListTagsForResource", "s3:TagResource", "s3:UntagResource",
}

// divided splits a policy into its parts.
func divided(text, arn string) bucketPolicy {
	own, rest := iampolicy.Split(text)
	tls := own != "" && iampolicy.Normal(own) == iampolicy.Normal(requireTLS(arn))
	return bucketPolicy{tls: tls, odd: own != "" && !tls, rest: rest}
}

// document returns the policy of a bucket, empty for none.
func (p bucketPolicy) document(arn string) string {
	if !p.tls {
		return p.rest
	}
	return iampolicy.Join(requireTLS(arn), p.rest)
}

// tlsStatement refuses every request to a bucket without TLS. Source: AWS Config rule s3-bucket-ssl-requests-only.
type tlsStatement struct {
	Sid, Effect, Principal, Action string
	Resource                       []string
	Condition                      map[string]map[string]string
}

// requireTLS returns the statement for a bucket, as a policy.
func requireTLS(arn string) string {
	return iampolicy.Of(tlsStatement{
		Sid: iampolicy.Own + "RequireTLS", Effect: "Deny", Principal: "*", Action: "s3:*",
		Resource:  []string{arn, arn + "/*"},
		Condition: map[string]map[string]string{"Bool": {"aws:SecureTransport": "false"}},
	})
}
