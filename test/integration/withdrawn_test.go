//go:build integration

package integration

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// A bucket created by hand, with a lifecycle rule and Object Lock, is adopted. AWS refuses a rule of the spec and the
// suspension of versioning, and the spec withdraws them: nothing that others configured is removed, and nothing is
// written any more. A rule that was written, although the reply was lost, is removed.
func TestWhatWasRefusedIsNotTakenBack(t *testing.T) {
	c := withOperator(t)
	// otherwise it triggers the bucket once more
	ready(t, c, &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: stack.Provider}})
	api := outside(t, "test")
	b := bucketOf(team(t, c), "withdrawn")
	b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt
	name := &b.Spec.BucketName
	_, err := api.CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: name, ObjectLockEnabledForBucket: aws.Bool(true),
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{
			LocationConstraint: "eu-west-1", Tags: []s3types.Tag{
				{Key: aws.String("portico.dev/adopt"), Value: aws.String(b.Namespace + "/" + b.Name)},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	rule := func(id string) s3types.LifecycleRule {
		return s3types.LifecycleRule{
			ID: aws.String(id), Status: s3types.ExpirationStatusEnabled, Filter: &s3types.LifecycleRuleFilter{
				Prefix: aws.String(""),
			},
			Expiration: &s3types.LifecycleExpiration{Days: aws.Int32(30)},
		}
	}
	_, err = api.PutBucketLifecycleConfiguration(t.Context(), &s3.PutBucketLifecycleConfigurationInput{
		Bucket: name, LifecycleConfiguration: &s3types.BucketLifecycleConfiguration{
			Rules: []s3types.LifecycleRule{rule("theirs")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	rules := func() string {
		out, err := api.GetBucketLifecycleConfiguration(t.Context(), &s3.GetBucketLifecycleConfigurationInput{
			Bucket: name,
		})
		if err != nil {
			return "none"
		}
		return aws.ToString(out.Rules[0].ID)
	}
	const putRules = "PutBucketLifecycleConfiguration"
	admit := world.Proxy.Inject(
		awsproxy.Fault{Service: "s3", Operation: putRules, Resource: *name, Kind: awsproxy.Denied})
	b.Spec.LifecycleRules = []v1alpha1.S3LifecycleRule{{ID: "ours", ExpirationDays: aws.Int32(1)}}
	create(t, c, b)
	reason(t, c, b, "AccessDenied")
	admit()
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.LifecycleRules, b.Spec.Versioning = nil, "Suspended" })
	reason(t, c, b, "InvalidSpec")
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Versioning = "" })
	m := world.Proxy.Mark()
	ready(t, c, b)
	if n := writes(*name, m); n != 0 || rules() != "theirs" {
		t.Errorf("after both were withdrawn: %d writes, lifecycle rule %s", n, rules())
	}

	defer world.Proxy.Inject(
		awsproxy.Fault{Service: "s3", Operation: putRules, Resource: *name, Kind: awsproxy.LostReply})()
	edit(t, c, b, func(b *v1alpha1.S3Bucket) {
		b.Spec.LifecycleRules = []v1alpha1.S3LifecycleRule{{ID: "ours", ExpirationDays: aws.Int32(1)}}
	})
	await(t, "the rule", func() (bool, string) { return rules() == "ours", rules() })
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.LifecycleRules = nil })
	ready(t, c, b)
	if got := rules(); got != "none" {
		t.Errorf("the rule %s, whose answer was lost, is left", got)
	}
}
