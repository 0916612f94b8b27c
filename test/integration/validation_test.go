//go:build integration

package integration

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/test/stack"
)

// Every rule of the schema refuses with a helpful message, at the field concerned.
func TestTheSchemaRefusesBadBuckets(t *testing.T) {
	c := admin(t)
	for _, x := range []struct {
		reason string
		change func(*v1alpha1.S3BucketSpec)
		field  string
		says   string
	}{
		{"upper case", named("Invoices"), "spec.bucketName", "lower-case letters"},
		{"underscore", named("my_bucket"), "spec.bucketName", "lower-case letters"},
		{"too short", named("ab"), "spec.bucketName", "at least 3"},
		{"too long", named(strings.Repeat("a", 64)), "spec.bucketName", "63"},
		{"starts with a hyphen", named("-abc"), "spec.bucketName", "begins and ends"},
		{"ends with a dot", named("abc."), "spec.bucketName", "begins and ends"},
		{"two dots", named("a..b"), "spec.bucketName", "begins and ends"},
		{"dot beside hyphen", named("ab.-cd"), "spec.bucketName", "begins and ends"},
		{"IP address", named("192.168.5.4"), "spec.bucketName", "IP address"},
		{"xn--", named("xn--bucket"), "spec.bucketName", "reserves names that start"},
		{"sthree-", named("sthree-x"), "spec.bucketName", "reserves names that start"},
		{"amzn-s3-demo-", named("amzn-s3-demo-x"), "spec.bucketName", "reserves names that start"},
		{"-s3alias", named("x-s3alias"), "spec.bucketName", "reserves names that end"},
		{"--ol-s3", named("x--ol-s3"), "spec.bucketName", "reserves names that end"},
		{".mrap", named("x.mrap"), "spec.bucketName", "reserves names that end"},
		{"--x-s3", named("x--x-s3"), "spec.bucketName", "reserves names that end"},
		{"--table-s3", named("x--table-s3"), "spec.bucketName", "reserves names that end"},
		{"KMS without key", func(s *v1alpha1.S3BucketSpec) { s.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws:kms"} }, "spec.encryption", "kmsKeyID is required"},
		{"key without KMS", func(s *v1alpha1.S3BucketSpec) {
			s.Encryption = &v1alpha1.S3Encryption{Algorithm: "AES256", KMSKeyID: "x"}
		}, "spec.encryption", "needs algorithm aws:kms"},
		{"bucket key without KMS", func(s *v1alpha1.S3BucketSpec) {
			s.Encryption = &v1alpha1.S3Encryption{Algorithm: "AES256", BucketKeyEnabled: aws.Bool(true)}
		}, "spec.encryption", "bucketKeyEnabled"},
		{"unknown algorithm", func(s *v1alpha1.S3BucketSpec) { s.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws_kms"} }, "spec.encryption.algorithm", "aws:kms"},
		{"rule without action", rule(v1alpha1.S3LifecycleRule{Prefix: "x"}), "spec.lifecycleRules[0]", "needs an action"},
		{"rule with an action switched off", rule(v1alpha1.S3LifecycleRule{ExpiredObjectDeleteMarker: aws.Bool(false)}), "spec.lifecycleRules[0]", "needs an action"},
		{
			"transitions out of order", moves(v1alpha1.S3Transition{Days: 90, StorageClass: "STANDARD_IA"},
				v1alpha1.S3Transition{Days: 60, StorageClass: "GLACIER"}), "spec.lifecycleRules[0].transitions",
			"in order of days",
		},
		{
			"transitions to warmer storage", moves(v1alpha1.S3Transition{Days: 60, StorageClass: "GLACIER"},
				v1alpha1.S3Transition{Days: 90, StorageClass: "STANDARD_IA"}), "spec.lifecycleRules[0].transitions",
			"warmer to colder",
		},
		{
			"a move that S3 does not know", moves(v1alpha1.S3Transition{Days: 30, StorageClass: "ONEZONE_IA"},
				v1alpha1.S3Transition{Days: 60, StorageClass: "GLACIER_IR"}), "spec.lifecycleRules[0].transitions",
			"cannot move",
		},
		{"a rule id of ours", rule(v1alpha1.S3LifecycleRule{ID: "portico-1", ExpirationDays: aws.Int32(1)}), "spec.lifecycleRules[0].id", "given by Portico"},
		{"transition too early", moves(v1alpha1.S3Transition{Days: 7, StorageClass: "STANDARD_IA"}), "spec.lifecycleRules[0].transitions[0]", "30 days"},
		{"expiration before transition", func(s *v1alpha1.S3BucketSpec) {
			moves(v1alpha1.S3Transition{Days: 60, StorageClass: "GLACIER"})(s)
			s.LifecycleRules[0].ExpirationDays = aws.Int32(50)
		}, "spec.lifecycleRules[0]", "later than every transition"},
		{"same rule id", func(s *v1alpha1.S3BucketSpec) {
			s.LifecycleRules = []v1alpha1.S3LifecycleRule{
				{ID: "a", ExpirationDays: aws.Int32(1)}, {ID: "a", ExpirationDays: aws.Int32(2)},
			}
		}, "spec.lifecycleRules", "same id"},
		{"aws: tag", tagged("aws:owner"), "spec.tags", "reserved by AWS"},
		{"AWS: tag", tagged("AWS:owner"), "spec.tags", "reserved by AWS"},
		{"portico.dev/ tag", tagged("portico.dev/uid"), "spec.tags", "reserved by Portico"},
		{"no provider", func(s *v1alpha1.S3BucketSpec) { s.ProviderRef.Name = "" }, "spec.providerRef.name", "at least 1"},
		{"no such policy", func(s *v1alpha1.S3BucketSpec) { s.DeletionPolicy = "Forget" }, "spec.deletionPolicy", "Retain"},
	} {
		t.Run(x.reason, func(t *testing.T) {
			b := bucketOf("default", "bad")
			x.change(&b.Spec)
			assertRefused(t, c.Create(t.Context(), b, client.DryRunAll), x.field, x.says)
		})
	}
	good := bucketOf("default", "good")
	configure(&good.Spec)
	if err := c.Create(t.Context(), good, client.DryRunAll); err != nil {
		t.Errorf("a bucket with everything is refused: %v", err)
	}
}

// The API server accepts the samples unchanged, because people copy them.
func TestSamplesAreAccepted(t *testing.T) {
	c := admin(t)
	samples, err := stack.ReadObjects(os.DirFS("../../config"), "samples")
	if err != nil || len(samples) == 0 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	for _, sample := range samples {
		if sample.GetKind() != "AWSProvider" {
			sample.SetNamespace("default")
		}
		if err := c.Create(t.Context(), sample, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
			t.Errorf("%s %s: %v", sample.GetKind(), sample.GetName(), err)
		}
	}
}

func named(name string) func(*v1alpha1.S3BucketSpec) {
	return func(s *v1alpha1.S3BucketSpec) { s.BucketName = name }
}

func tagged(key string) func(*v1alpha1.S3BucketSpec) {
	return func(s *v1alpha1.S3BucketSpec) { s.Tags = v1alpha1.Tags{key: "x"} }
}

func rule(r v1alpha1.S3LifecycleRule) func(*v1alpha1.S3BucketSpec) {
	return func(s *v1alpha1.S3BucketSpec) { s.LifecycleRules = []v1alpha1.S3LifecycleRule{r} }
}

func moves(m ...v1alpha1.S3Transition) func(*v1alpha1.S3BucketSpec) {
	return rule(v1alpha1.S3LifecycleRule{Transitions: m})
}

func assertRefused(t *testing.T, err error, field, says string) {
	t.Helper()
	if !apierrors.IsInvalid(err) {
		t.Fatalf("got %v, want a refusal", err)
	}
	status, _ := err.(apierrors.APIStatus)
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == field && strings.Contains(cause.Message, says) {
			return
		}
	}
	t.Errorf("no cause at %s says %q: %v", field, says, err)
}

func TestWhatCannotChangeIsRefused(t *testing.T) {
	c := admin(t)
	b := bucketOf(team(t, c), "fixed")
	b.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"}
	create(t, c, b)
	rows := []struct {
		field  string
		change func(*v1alpha1.S3BucketSpec)
	}{
		{"spec.bucketName", named("another-name")},
		{"spec.bucketName", named("")},
		{"spec.providerRef", func(s *v1alpha1.S3BucketSpec) { s.ProviderRef.Name = "other" }},
		{"spec.region", func(s *v1alpha1.S3BucketSpec) { s.Region = stack.Region }},
	}
	for _, x := range rows {
		changed := b.DeepCopy()
		x.change(&changed.Spec)
		if err := c.Update(t.Context(), changed, client.DryRunAll); err != nil {
			t.Errorf("%s, before anything is reserved: %v", x.field, err)
		}
	}
	b.Status.AccountID = "123456789012"
	if err := c.Status().Update(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	for _, x := range rows {
		changed := b.DeepCopy()
		x.change(&changed.Spec)
		assertRefused(t, c.Update(t.Context(), changed, client.DryRunAll), x.field, "immutable")
	}
}

func TestTheSchemaRefusesBadProviders(t *testing.T) {
	c := admin(t)
	ref := &v1alpha1.SecretKeyRef{Name: "n", Key: "k"}
	for _, x := range []struct {
		reason string
		change func(*v1alpha1.AWSProviderSpec)
		field  string
		says   string
	}{
		{"half a key", func(s *v1alpha1.AWSProviderSpec) { s.AccessKeyIDRef = ref }, "spec", "go together"},
		{"token alone", func(s *v1alpha1.AWSProviderSpec) { s.SessionTokenRef = ref }, "spec", "sessionTokenRef needs"},
		{"two sources", func(s *v1alpha1.AWSProviderSpec) {
			s.AccessKeyIDRef, s.SecretAccessKeyRef, s.RoleARN = ref, ref, "arn:aws:iam::111122223333:role/x"
		}, "spec", "choose one source"},
		{"external ID alone", func(s *v1alpha1.AWSProviderSpec) { s.ExternalID = "xx" }, "spec", "set assumeRoleARN"},
		{"region not allowed", func(s *v1alpha1.AWSProviderSpec) { s.AllowedRegions = []string{"us-east-1"} }, "spec", "one of allowedRegions"},
		{"no region", func(s *v1alpha1.AWSProviderSpec) { s.Region = "Ireland" }, "spec.region", "should match"},
		{"endpoint", func(s *v1alpha1.AWSProviderSpec) { s.Endpoint = "file:///etc/passwd" }, "spec.endpoint", "should match"},
		{"endpoint of a service", func(s *v1alpha1.AWSProviderSpec) {
			s.Endpoints = &v1alpha1.ServiceEndpoints{S3: "s3.example.com", STS: "https://sts.example.com"}
		}, "spec.endpoints.s3", "should match"},
		{"no endpoint of any service", func(s *v1alpha1.AWSProviderSpec) { s.Endpoints = &v1alpha1.ServiceEndpoints{} }, "spec.endpoints", "at least 1"},
		{"a role without STS", func(s *v1alpha1.AWSProviderSpec) {
			s.Endpoints = &v1alpha1.ServiceEndpoints{S3: "https://s3.example.com"}
			s.AccessKeyIDRef, s.SecretAccessKeyRef, s.AssumeRoleARN = ref, ref, "arn:aws:iam::111122223333:role/x"
		}, "spec", "assumeRoleARN needs STS, and this provider has none"},
		{"web identity without STS", func(s *v1alpha1.AWSProviderSpec) {
			s.Endpoints, s.RoleARN = &v1alpha1.ServiceEndpoints{S3: "https://s3.example.com"},
				"arn:aws:iam::111122223333:role/x"
		}, "spec", "roleARN (web identity) needs STS, and this provider has none"},
		{"the operator's credentials without STS", func(s *v1alpha1.AWSProviderSpec) {
			s.Endpoints = &v1alpha1.ServiceEndpoints{S3: "https://s3.example.com"}
		}, "spec", "needs static keys"},
		{"account", func(s *v1alpha1.AWSProviderSpec) { s.AccountID = "12" }, "spec.accountID", "should match"},
		{"a subnet's name", func(s *v1alpha1.AWSProviderSpec) { s.AllowedSubnets = []string{"private"} }, "spec.allowedSubnets[0]", "should match"},
		{"a group's name", func(s *v1alpha1.AWSProviderSpec) { s.AllowedSecurityGroups = []string{"default"} }, "spec.allowedSecurityGroups[0]", "should match"},
		{"the name of all machines", func(s *v1alpha1.AWSProviderSpec) { s.EnforcedTags = v1alpha1.Tags{"Name": "x"} }, "spec", "cannot be enforced"},
		{"our own tags", func(s *v1alpha1.AWSProviderSpec) { s.EnforcedTags = v1alpha1.Tags{"portico.dev/namespace": "x"} }, "spec.enforcedTags", "reserved by Portico"},
		{"default tags that AWS does not take", func(s *v1alpha1.AWSProviderSpec) { s.DefaultTags = v1alpha1.Tags{"a*b": "x"} }, "spec.defaultTags", "AWS takes letters, digits"},
		{"enforced tags that AWS does not take", func(s *v1alpha1.AWSProviderSpec) { s.EnforcedTags = v1alpha1.Tags{"a": "x;y"} }, "spec.enforcedTags", "AWS takes letters, digits"},
		{"more tags than AWS takes", func(s *v1alpha1.AWSProviderSpec) {
			s.DefaultTags, s.EnforcedTags = v1alpha1.Tags{"0": "", "1": "", "2": "", "3": "", "4": "", "5": ""},
				v1alpha1.Tags{"a": "", "b": "", "c": "", "d": "", "e": ""}
		}, "spec", "room for 10 tags"},
	} {
		t.Run(x.reason, func(t *testing.T) {
			p := &v1alpha1.AWSProvider{ObjectMeta: metav1.ObjectMeta{Name: "bad"}, Spec: v1alpha1.AWSProviderSpec{
				Region: stack.Region,
			}}
			x.change(&p.Spec)
			assertRefused(t, c.Create(t.Context(), p, client.DryRunAll), x.field, x.says)
		})
	}
}

func TestPausedObjectsRestAndStillGo(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "paused")
	createReady(t, c, b)
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"} })
	await(t, "the Paused condition", func() (bool, string) {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(b), b)
		return err == nil && meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionPaused), "not paused"
	})
	if !b.Status.Ready {
		t.Error("pausing took Ready away")
	}
	m := world.Proxy.Mark()
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Versioning = "Enabled" })
	time.Sleep(quiet) // there is nothing to wait for
	if got := operations(b.Spec.BucketName, m); len(got) != 0 {
		t.Errorf("a paused bucket was worked on: %v", got)
	}
	gone(t, c, b)
	if tagsOf(t, outside(t, "test"), b.Spec.BucketName) != nil {
		t.Error("the deletion of a paused object left the bucket")
	}
}

func TestObserveChangesNothing(t *testing.T) {
	c := withOperator(t)
	api := outside(t, "test")
	b := bucketOf(team(t, c), "seen")
	b.Spec.ManagementPolicy, b.Spec.Versioning = v1alpha1.ManagementObserve, "Enabled"
	m := world.Proxy.Mark()
	create(t, c, b)
	reason(t, c, b, "NotFound")
	foreignBucket(t, api, b.Spec.BucketName)
	wakeNow(t, c, b)
	reason(t, c, b, "NotFound") // it could be another team's
	shared := []s3types.Tag{{Key: aws.String(cloud.TagNamespace), Value: &b.Namespace}}
	if _, err := api.PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{
		Bucket: &b.Spec.BucketName, Tagging: &s3types.Tagging{TagSet: shared},
	}); err != nil {
		t.Fatal(err)
	}
	wakeNow(t, c, b)
	if got := reason(t, c, b, "Differs"); !strings.Contains(got.Message, "versioning Suspended → Enabled") {
		t.Errorf("message %q", got.Message)
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Versioning = "" })
	ready(t, c, b)
	gone(t, c, b)
	if n := writes(b.Spec.BucketName, m); n != 0 {
		t.Errorf("%d writes under Observe", n)
	}
	if tagsOf(t, api, b.Spec.BucketName) == nil {
		t.Error("the bucket is gone")
	}
}
