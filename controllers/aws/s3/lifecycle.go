package s3

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// lifecycleRules are compared in the spec's own terms: AWS's rules are converted to the API's types. Foreign counts
// settings that these cannot express, so that a rule with unknown settings still differs.
type lifecycleRules struct {
	Rules   []v1alpha1.S3LifecycleRule `json:"rules,omitempty"`
	Foreign int                        `json:"foreign,omitempty"`
	// minimum is written back unchanged: the call replaces it, and it is not ours.
	minimum s3types.TransitionDefaultMinimumObjectSize
}

var lifecycle = typedFeature[lifecycleRules]{
	path: "lifecycleRules",
	settings: []setting[lifecycleRules]{{
		Path: "lifecycleRules",
		Want: external.Whole(func(b *v1alpha1.S3Bucket) bool { return len(b.Spec.LifecycleRules) > 0 }),
		Have: func(v *lifecycleRules) string { return asJSON(*v) },
	}},
	want: func(_ target, s *v1alpha1.S3BucketSpec, _ func(string) bool, have lifecycleRules) lifecycleRules {
		rules := make([]v1alpha1.S3LifecycleRule, 0, len(s.LifecycleRules))
		for i, r := range s.LifecycleRules {
			r.ID = cmp.Or(r.ID, fmt.Sprintf("portico-%d", i+1)) // S3 would generate a random one
			r.Enabled = aws.Bool(r.Enabled == nil || *r.Enabled)
			if !aws.ToBool(r.ExpiredObjectDeleteMarker) {
				r.ExpiredObjectDeleteMarker = nil // false means the same as unset
			}
			rules = append(rules, r)
		}
		return lifecycleRules{Rules: byID(rules), minimum: have.minimum}
	},
	get: func(ctx context.Context, t target) (lifecycleRules, error) {
		out, err := t.api.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{
			Bucket: t.bucket, ExpectedBucketOwner: t.account,
		})
		if cloud.HasCode(err, "NoSuchLifecycleConfiguration") {
			return lifecycleRules{}, nil
		}
		if err != nil {
			return lifecycleRules{}, err
		}
		have := fromLifecycle(out.Rules)
		have.minimum = out.TransitionDefaultMinimumObjectSize
		return have, nil
	},
	call: "PutBucketLifecycleConfiguration",
	put: func(ctx context.Context, t target, v lifecycleRules) error {
		if len(v.Rules) == 0 {
			_, err := t.api.DeleteBucketLifecycle(
				ctx, &s3.DeleteBucketLifecycleInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
			return err
		}
		_, err := t.api.PutBucketLifecycleConfiguration(ctx, &s3.PutBucketLifecycleConfigurationInput{
			Bucket: t.bucket, ExpectedBucketOwner: t.account,
			TransitionDefaultMinimumObjectSize: v.minimum,
			LifecycleConfiguration:             &s3types.BucketLifecycleConfiguration{Rules: toLifecycle(v.Rules)},
		})
		return err
	},
	diff: func(have, want lifecycleRules) string { return describeChanges(ruleTexts(have), ruleTexts(want)) },
}

// ruleTexts returns the rules by ID.
func ruleTexts(v lifecycleRules) map[string]string {
	texts := map[string]string{}
	for _, r := range v.Rules {
		texts[r.ID] = asJSON(r)
	}
	if v.Foreign > 0 {
		texts["settings unknown to Portico"] = fmt.Sprint(v.Foreign)
	}
	return texts
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
			to.Expiration = &s3types.LifecycleExpiration{
				Days: r.ExpirationDays, ExpiredObjectDeleteMarker: r.ExpiredObjectDeleteMarker,
			}
		}
		if r.NoncurrentVersionExpirationDays != nil {
			to.NoncurrentVersionExpiration = &s3types.NoncurrentVersionExpiration{
				NoncurrentDays: r.NoncurrentVersionExpirationDays,
			}
		}
		if r.AbortIncompleteMultipartUploadDays != nil {
			to.AbortIncompleteMultipartUpload = &s3types.AbortIncompleteMultipartUpload{
				DaysAfterInitiation: r.AbortIncompleteMultipartUploadDays,
			}
		}
		for _, m := range r.Transitions {
			to.Transitions = append(to.Transitions,
				s3types.Transition{Days: aws.Int32(m.Days), StorageClass: s3types.TransitionStorageClass(
					m.StorageClass)})
		}
		for _, m := range r.NoncurrentVersionTransitions {
			to.NoncurrentVersionTransitions = append(to.NoncurrentVersionTransitions,
				s3types.NoncurrentVersionTransition{
					NoncurrentDays: aws.Int32(m.Days), StorageClass: s3types.TransitionStorageClass(m.StorageClass),
				})
		}
		out = append(out, to)
	}
	return out
}

func fromLifecycle(rules []s3types.LifecycleRule) lifecycleRules {
	have := lifecycleRules{}
	for _, from := range rules {
		r := v1alpha1.S3LifecycleRule{
			ID: aws.ToString(from.ID), Enabled: aws.Bool(from.Status == s3types.ExpirationStatusEnabled),
		}
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
		current = append(current, v1alpha1.S3Transition{
			Days: aws.ToInt32(m.Days), StorageClass: string(m.StorageClass),
		})
	}
	for _, m := range from.NoncurrentVersionTransitions {
		noncurrent = append(noncurrent, v1alpha1.S3Transition{
			Days: aws.ToInt32(m.NoncurrentDays), StorageClass: string(m.StorageClass),
		})
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
	count := func(set bool) {
		if set {
			n++
		}
	}
	if f := r.Filter; f != nil {
		count(f.Tag != nil || f.And != nil || f.ObjectSizeGreaterThan != nil || f.ObjectSizeLessThan != nil)
	} else {
		count(aws.ToString(r.Prefix) != "") //nolint:staticcheck // the older way to write a prefix, which others still use
	}
	count(r.Expiration != nil && r.Expiration.Date != nil)
	count(r.NoncurrentVersionExpiration != nil && r.NoncurrentVersionExpiration.NewerNoncurrentVersions != nil)
	for _, t := range r.Transitions {
		count(t.Date != nil)
	}
	for _, t := range r.NoncurrentVersionTransitions {
		count(t.NewerNoncurrentVersions != nil)
	}
	return n
}
