package s3

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
)

// Rules are compared in the spec's own terms: what AWS has is read back into the API's types. foreign counts what
// those cannot say, so that a rule changed to something we do not know still differs.
type lifecycleRules struct {
	Rules   []v1alpha1.S3LifecycleRule `json:"rules,omitempty"`
	Foreign int                        `json:"foreign,omitempty"`
}

var lifecycle = part[lifecycleRules]{
	path:  "lifecycleRules",
	paths: whole("lifecycleRules", func(s *v1alpha1.S3BucketSpec) bool { return len(s.LifecycleRules) > 0 }),
	want: func(s *v1alpha1.S3BucketSpec, _ []string, _ lifecycleRules) lifecycleRules {
		rules := make([]v1alpha1.S3LifecycleRule, 0, len(s.LifecycleRules))
		for i, r := range s.LifecycleRules {
			r.ID = cmp.Or(r.ID, fmt.Sprintf("portico-%d", i+1)) // S3 would make up a random one
			r.Enabled = aws.Bool(r.Enabled == nil || *r.Enabled)
			if !aws.ToBool(r.ExpiredObjectDeleteMarker) {
				r.ExpiredObjectDeleteMarker = nil // false does what unset does
			}
			rules = append(rules, r)
		}
		return lifecycleRules{Rules: byID(rules)}
	},
	get: func(ctx context.Context, t target) (lifecycleRules, error) {
		out, err := t.api.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
		if cloud.HasCode(err, "NoSuchLifecycleConfiguration") {
			return lifecycleRules{}, nil
		}
		if err != nil {
			return lifecycleRules{}, err
		}
		return fromLifecycle(out.Rules), nil
	},
	call: "PutBucketLifecycleConfiguration",
	put: func(ctx context.Context, t target, v lifecycleRules) error {
		if len(v.Rules) == 0 {
			_, err := t.api.DeleteBucketLifecycle(ctx, &s3.DeleteBucketLifecycleInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
			return err
		}
		_, err := t.api.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{
			Bucket: t.bucket, ExpectedBucketOwner: t.account,
			LifecycleConfiguration: &s3types.BucketLifecycleConfiguration{Rules: toLifecycle(v.Rules)},
		})
		return err
	},
	text: func(v lifecycleRules) string { return asJSON(v) },
}

func byID(rules []v1alpha1.S3LifecycleRule) []v1alpha1.S3LifecycleRule {
	slices.SortFunc(rules, func(a, b v1alpha1.S3LifecycleRule) int { return cmp.Compare(a.ID, b.ID) })
	return rules
}

func toLifecycle(rules []v1alpha1.S3LifecycleRule) []s3types.LifecycleRule {
	out := make([]s3types.LifecycleRule, 0, len(rules))
	for _, r := range rules {
		to := s3types.LifecycleRule{
			ID: aws.String(r.ID), Status: s3types.ExpirationStatusDisabled,
			Filter: &s3types.LifecycleRuleFilter{Prefix: aws.String(r.Prefix)},
		}
		if *r.Enabled {
			to.Status = s3types.ExpirationStatusEnabled
		}
		if r.ExpirationDays != nil || r.ExpiredObjectDeleteMarker != nil {
			to.Expiration = &s3types.LifecycleExpiration{Days: r.ExpirationDays, ExpiredObjectDeleteMarker: r.ExpiredObjectDeleteMarker}
		}
		if r.NoncurrentVersionExpirationDays != nil {
			to.NoncurrentVersionExpiration = &s3types.NoncurrentVersionExpiration{NoncurrentDays: r.NoncurrentVersionExpirationDays}
		}
		if r.AbortIncompleteMultipartUploadDays != nil {
			to.AbortIncompleteMultipartUpload = &s3types.AbortIncompleteMultipartUpload{DaysAfterInitiation: r.AbortIncompleteMultipartUploadDays}
		}
		for _, m := range r.Transitions {
			to.Transitions = append(to.Transitions, s3types.Transition{Days: aws.Int32(m.Days), StorageClass: s3types.TransitionStorageClass(m.StorageClass)})
		}
		for _, m := range r.NoncurrentVersionTransitions {
			to.NoncurrentVersionTransitions = append(to.NoncurrentVersionTransitions, s3types.NoncurrentVersionTransition{NoncurrentDays: aws.Int32(m.Days), StorageClass: s3types.TransitionStorageClass(m.StorageClass)})
		}
		out = append(out, to)
	}
	return out
}

func fromLifecycle(rules []s3types.LifecycleRule) lifecycleRules {
	have := lifecycleRules{}
	for _, from := range rules {
		r := v1alpha1.S3LifecycleRule{ID: aws.ToString(from.ID), Enabled: aws.Bool(from.Status == s3types.ExpirationStatusEnabled)}
		have.Foreign += unknown(from)
		if f := from.Filter; f != nil {
			r.Prefix = aws.ToString(f.Prefix)
		}
		if e := from.Expiration; e != nil {
			r.ExpirationDays = e.Days
			if aws.ToBool(e.ExpiredObjectDeleteMarker) {
				r.ExpiredObjectDeleteMarker = e.ExpiredObjectDeleteMarker
			}
		}
		if n := from.NoncurrentVersionExpiration; n != nil {
			r.NoncurrentVersionExpirationDays = n.NoncurrentDays
		}
		if a := from.AbortIncompleteMultipartUpload; a != nil {
			r.AbortIncompleteMultipartUploadDays = a.DaysAfterInitiation
		}
		r.Transitions, r.NoncurrentVersionTransitions = fromTransitions(from)
		have.Rules = append(have.Rules, r)
	}
	byID(have.Rules)
	return have
}

func fromTransitions(from s3types.LifecycleRule) (current, noncurrent v1alpha1.S3Transitions) {
	for _, m := range from.Transitions {
		current = append(current, v1alpha1.S3Transition{Days: aws.ToInt32(m.Days), StorageClass: string(m.StorageClass)})
	}
	for _, m := range from.NoncurrentVersionTransitions {
		noncurrent = append(noncurrent, v1alpha1.S3Transition{Days: aws.ToInt32(m.NoncurrentDays), StorageClass: string(m.StorageClass)})
	}
	byDays(current)
	byDays(noncurrent)
	return current, noncurrent
}

func byDays(t v1alpha1.S3Transitions) {
	slices.SortFunc(t, func(a, b v1alpha1.S3Transition) int { return cmp.Compare(a.Days, b.Days) })
}

// unknown counts settings of a rule that the API's types cannot express.
func unknown(r s3types.LifecycleRule) int {
	n := 0
	if f := r.Filter; f != nil && (f.Tag != nil || f.And != nil || f.ObjectSizeGreaterThan != nil || f.ObjectSizeLessThan != nil) {
		n++
	}
	if r.Expiration != nil && r.Expiration.Date != nil {
		n++
	}
	if e := r.NoncurrentVersionExpiration; e != nil && e.NewerNoncurrentVersions != nil {
		n++
	}
	for _, t := range r.Transitions {
		if t.Date != nil {
			n++
		}
	}
	return n
}

var cors = part[[]v1alpha1.S3CORSRule]{
	path:  "corsRules",
	paths: whole("corsRules", func(s *v1alpha1.S3BucketSpec) bool { return len(s.CORSRules) > 0 }),
	want: func(s *v1alpha1.S3BucketSpec, _ []string, _ []v1alpha1.S3CORSRule) []v1alpha1.S3CORSRule {
		return normalCORS(slices.Clone(s.CORSRules))
	},
	get: func(ctx context.Context, t target) ([]v1alpha1.S3CORSRule, error) {
		out, err := t.api.GetBucketCors(ctx, &s3.GetBucketCorsInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
		if cloud.HasCode(err, "NoSuchCORSConfiguration") {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		rules := make([]v1alpha1.S3CORSRule, 0, len(out.CORSRules))
		for _, r := range out.CORSRules {
			rules = append(rules, v1alpha1.S3CORSRule{
				AllowedOrigins: r.AllowedOrigins, AllowedMethods: r.AllowedMethods,
				AllowedHeaders: r.AllowedHeaders, ExposeHeaders: r.ExposeHeaders, MaxAgeSeconds: r.MaxAgeSeconds,
			})
		}
		return normalCORS(rules), nil
	},
	call: "PutBucketCors",
	put: func(ctx context.Context, t target, v []v1alpha1.S3CORSRule) error {
		if len(v) == 0 {
			_, err := t.api.DeleteBucketCors(ctx, &s3.DeleteBucketCorsInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
			return err
		}
		rules := make([]s3types.CORSRule, 0, len(v))
		for _, r := range v {
			rules = append(rules, s3types.CORSRule{
				AllowedOrigins: r.AllowedOrigins, AllowedMethods: r.AllowedMethods,
				AllowedHeaders: r.AllowedHeaders, ExposeHeaders: r.ExposeHeaders, MaxAgeSeconds: r.MaxAgeSeconds,
			})
		}
		_, err := t.api.PutBucketCors(ctx, &s3.PutBucketCorsInput{
			Bucket: t.bucket, ExpectedBucketOwner: t.account,
			CORSConfiguration: &s3types.CORSConfiguration{CORSRules: rules},
		})
		return err
	},
	text: func(v []v1alpha1.S3CORSRule) string { return asJSON(v) },
}

// normalCORS sorts what is a set within a rule. The order of the rules counts: the first that fits answers.
func normalCORS(rules []v1alpha1.S3CORSRule) []v1alpha1.S3CORSRule {
	for i := range rules {
		r := &rules[i]
		for _, set := range []*[]string{&r.AllowedOrigins, &r.AllowedMethods, &r.AllowedHeaders, &r.ExposeHeaders} {
			*set = slices.Sorted(slices.Values(*set))
		}
	}
	return rules
}

// asJSON is a text that differs exactly when the value does; the types marshal without fail.
func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	if s := string(text); s != "null" && s != "{}" && s != "[]" {
		return s
	}
	return "none"
}
