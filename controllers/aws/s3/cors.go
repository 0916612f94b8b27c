package s3

import (
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

var cors = typedFeature[[]v1alpha1.S3CORSRule]{
	path: "corsRules",
	settings: []setting[[]v1alpha1.S3CORSRule]{{
		Path: "corsRules", Want: external.Whole(func(b *v1alpha1.S3Bucket) bool { return len(b.Spec.CORSRules) > 0 }),
		Have: func(v *[]v1alpha1.S3CORSRule) string { return asJSON(withoutZeroAge(*v)) },
	}},
	want: func(_ target, s *v1alpha1.S3BucketSpec, _ func(string) bool, _ []v1alpha1.S3CORSRule) []v1alpha1.S3CORSRule {
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
			_, err := t.api.DeleteBucketCors(
				ctx, &s3.DeleteBucketCorsInput{Bucket: t.bucket, ExpectedBucketOwner: t.account})
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
	diff: func(have, want []v1alpha1.S3CORSRule) string {
		return describeChanges(corsTexts(have), corsTexts(want))
	},
}

// corsTexts returns the rules by their position, which matters.
func corsTexts(rules []v1alpha1.S3CORSRule) map[string]string {
	texts := map[string]string{}
	for i, r := range withoutZeroAge(rules) {
		texts[fmt.Sprintf("rule %d", i+1)] = asJSON(r)
	}
	return texts
}

// withoutZeroAge returns the rules without a maxAgeSeconds of 0, which S3 may return or omit.
func withoutZeroAge(rules []v1alpha1.S3CORSRule) []v1alpha1.S3CORSRule {
	rules = slices.Clone(rules)
	for i := range rules {
		if age := &rules[i].MaxAgeSeconds; aws.ToInt32(*age) == 0 {
			*age = nil
		}
	}
	return rules
}

// normalCORS sorts the sets within a rule. The order of the rules matters: the first that matches applies.
func normalCORS(rules []v1alpha1.S3CORSRule) []v1alpha1.S3CORSRule {
	for i := range rules {
		r := &rules[i]
		for _, set := range []*[]string{&r.AllowedOrigins, &r.AllowedMethods, &r.AllowedHeaders, &r.ExposeHeaders} {
			*set = slices.Sorted(slices.Values(*set))
		}
	}
	return rules
}
