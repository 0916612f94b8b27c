//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/awsproxy"
)

// operations lists what the operator called about a bucket since m, in order.
func operations(bucket string, m awsproxy.Mark) []string {
	var all []string
	for _, c := range world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.About(bucket)) {
		all = append(all, c.Operation)
	}
	return all
}

func writes(bucket string, m awsproxy.Mark) int {
	return len(world.Proxy.CallsSince(m, awsproxy.By(awsproxy.Operator), awsproxy.About(bucket), awsproxy.Writes))
}

// quiet is how long without a call means that a pass is over.
const quiet = 300 * time.Millisecond

// requestReconcile requests a pass by annotation and waits until it has read AWS and is over.
func requestReconcile(t *testing.T, c client.Client, b *v1alpha1.S3Bucket, value string) awsproxy.Mark {
	t.Helper()
	callsAtRest(t, b, 0) // an event of its creation may come late
	m := world.Proxy.Mark()
	edit(t, c, b, func(b *v1alpha1.S3Bucket) {
		if b.Annotations == nil {
			b.Annotations = map[string]string{}
		}
		b.Annotations[v1alpha1.AnnotationReconcileRequestedAt] = value
	})
	callsAtRest(t, b, m)
	return m
}

// callsAtRest waits until there was a call for the bucket since m, and no further ones come.
func callsAtRest(t *testing.T, b *v1alpha1.S3Bucket, m awsproxy.Mark) {
	t.Helper()
	seen, since := 0, time.Now()
	await(t, "a pass", func() (bool, string) {
		if n := len(operations(b.Status.BucketName, m)); n != seen {
			seen, since = n, time.Now()
		}
		return seen > 0 && time.Since(since) > quiet, "at work"
	})
}

// providerIsChecked waits until a new operator has checked the sample provider, which triggers a pass of all objects
// that wait for it.
func providerIsChecked(t *testing.T, c client.Client, ns string) {
	t.Helper()
	createReady(t, c, bucketOf(ns, "first"))
}

func TestNameOnlyBucketKeepsItsCallBudget(t *testing.T) {
	calm(t)
	c := withOperator(t)
	ns := team(t, c)
	providerIsChecked(t, c, ns)
	b := bucketOf(ns, "plain")
	createReady(t, c, b)
	if got := operations(b.Spec.BucketName, 0); len(got) > 4 {
		t.Errorf("create → settled took %d calls, want at most 4: %v", len(got), got)
	}
	version := b.ResourceVersion
	m := requestReconcile(t, c, b, "1")
	ready(t, c, b)
	if got := operations(b.Spec.BucketName, m); !slices.Equal(got,
		[]string{"GetBucketTagging", "GetPublicAccessBlock", "GetBucketPolicy"}) {
		t.Errorf("an audit called %v, want three reads", got)
	}
	if b.ResourceVersion == version {
		t.Error("the annotation was not seen")
	}
	m = world.Proxy.Mark()
	gone(t, c, b)
	if got := operations(b.Spec.BucketName, m); len(got) > 3 {
		t.Errorf("delete took %d calls, want at most 3: %v", len(got), got)
	}
	if tags := tagsOf(t, outside(t, "test"), b.Spec.BucketName); tags != nil {
		t.Errorf("the bucket is still there, with tags %v", tags)
	}
}

func TestEachDeclaredFeatureCostsOneReadMore(t *testing.T) {
	calm(t)
	c := withOperator(t)
	b := bucketOf(team(t, c), "full")
	configure(&b.Spec)
	createReady(t, c, b)
	m := requestReconcile(t, c, b, "1")
	ready(t, c, b)
	const features = 5
	if got := operations(b.Spec.BucketName, m); len(got) != 2+features { // and the bucket policy, which Portico manages
		t.Errorf("resync took %d calls for %d features: %v", len(got), features, got)
	}
	if n := writes(b.Spec.BucketName, m); n != 0 {
		t.Errorf("resync wrote %d times", n)
	}
}

// configure sets every feature to a value that is not AWS's default.
func configure(s *v1alpha1.S3BucketSpec) {
	s.Versioning = "Enabled"
	s.Encryption = &v1alpha1.S3Encryption{Algorithm: "aws:kms", KMSKeyID: "alias/aws/s3", BucketKeyEnabled: aws.Bool(
		true)}
	s.PublicAccessBlock = &v1alpha1.S3PublicAccessBlock{
		BlockPublicAcls: aws.Bool(false), RestrictPublicBuckets: aws.Bool(true),
	}
	s.LifecycleRules = []v1alpha1.S3LifecycleRule{
		{ID: "archive", Prefix: "logs/", ExpirationDays: aws.Int32(400), Transitions: v1alpha1.S3Transitions{
			{Days: 30, StorageClass: "STANDARD_IA"},
			{Days: 60, StorageClass: "INTELLIGENT_TIERING"},
			{Days: 90, StorageClass: "GLACIER_IR"},
			{Days: 180, StorageClass: "GLACIER"},
			{Days: 365, StorageClass: "DEEP_ARCHIVE"},
		}},
		{
			Enabled: aws.Bool(false), AbortIncompleteMultipartUploadDays: aws.Int32(7),
			NoncurrentVersionExpirationDays: aws.Int32(90),
			NoncurrentVersionTransitions:    v1alpha1.S3Transitions{{Days: 30, StorageClass: "ONEZONE_IA"}},
		},
		{ID: "markers", ExpiredObjectDeleteMarker: aws.Bool(true)},
	}
	s.CORSRules = []v1alpha1.S3CORSRule{{
		AllowedOrigins: []string{"https://b.example.com", "https://a.example.com"},
		AllowedMethods: []string{"PUT", "GET"}, AllowedHeaders: []string{"*"}, ExposeHeaders: []string{"ETag"},
		MaxAgeSeconds: aws.Int32(600),
	}}
	s.Tags = v1alpha1.Tags{"team": "payments", "cost": "low"}
}

func TestFeaturesAreAppliedRepairedAndReverted(t *testing.T) {
	calm(t)
	c := withOperator(t)
	b := bucketOf(team(t, c), "turn")
	configure(&b.Spec)
	createReady(t, c, b)
	api, name := outside(t, "test"), aws.String(b.Spec.BucketName)

	v, err := api.GetBucketVersioning(t.Context(), &s3.GetBucketVersioningInput{Bucket: name})
	if err != nil || v.Status != s3types.BucketVersioningStatusEnabled {
		t.Fatalf("versioning is %q, %v", v.Status, err)
	}
	if _, err := api.PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
		Bucket:                  name,
		VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusSuspended},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.DeleteBucketLifecycle(t.Context(), &s3.DeleteBucketLifecycleInput{Bucket: name}); err != nil {
		t.Fatal(err)
	}
	requestReconcile(t, c, b, "drift")
	awaitEvent(t, c, b, "Repaired", "versioning Suspended → Enabled", "outside Portico")
	awaitEvent(t, c, b, "Repaired", "lifecycleRules added archive, added markers, added portico-2")

	edit(t, c, b, func(b *v1alpha1.S3Bucket) {
		b.Spec.Versioning, b.Spec.Encryption, b.Spec.PublicAccessBlock = "", nil, nil
		b.Spec.LifecycleRules, b.Spec.CORSRules, b.Spec.Tags = nil, nil, v1alpha1.Tags{"team": "payments"}
	})
	ready(t, c, b)
	if got := b.Status.ManagedFields; !slices.Equal(got, []string{"tags.team"}) {
		t.Errorf("managed fields %v, want only the tag that is left", got)
	}
	assertDefaults(t, api, name)
	tags := tagsOf(t, api, *name)
	if tags["team"] != "payments" || tags["cost"] != "" {
		t.Errorf("tags %v: want team kept and cost gone", tags)
	}
	m := requestReconcile(t, c, b, "rest")
	ready(t, c, b)
	if got := operations(*name, m); !slices.Equal(got,
		[]string{"GetBucketTagging", "GetPublicAccessBlock", "GetBucketPolicy"}) {
		t.Errorf("after the fields were removed an audit calls %v, want three reads", got)
	}
}

// assertDefaults checks that everything is as in a new bucket; versioning can only be suspended.
func assertDefaults(t *testing.T, api *s3.Client, name *string) {
	t.Helper()
	ctx := t.Context()
	if v, err := api.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: name}); err != nil ||
		v.Status != s3types.BucketVersioningStatusSuspended {
		t.Errorf("versioning is %v, %v", v, err)
	}
	e, err := api.GetBucketEncryption(ctx, &s3.GetBucketEncryptionInput{Bucket: name})
	if err != nil ||
		e.ServerSideEncryptionConfiguration.Rules[0].ApplyServerSideEncryptionByDefault.SSEAlgorithm !=
			s3types.ServerSideEncryptionAes256 {
		t.Errorf("encryption is %v, %v", e, err)
	}
	p, err := api.GetPublicAccessBlock(ctx, &s3.GetPublicAccessBlockInput{Bucket: name})
	if err != nil || !aws.ToBool(p.PublicAccessBlockConfiguration.BlockPublicAcls) ||
		!aws.ToBool(p.PublicAccessBlockConfiguration.RestrictPublicBuckets) {
		t.Errorf("public access block is %v, %v", p, err)
	}
	if _, err := api.GetBucketLifecycleConfiguration(ctx, &s3.GetBucketLifecycleConfigurationInput{
		Bucket: name,
	}); err == nil || !strings.Contains(err.Error(), "NoSuchLifecycleConfiguration") {
		t.Errorf("lifecycle rules are left: %v", err)
	}
	if _, err := api.GetBucketCors(ctx, &s3.GetBucketCorsInput{Bucket: name}); err == nil ||
		!strings.Contains(err.Error(), "NoSuchCORSConfiguration") {
		t.Errorf("CORS rules are left: %v", err)
	}
}

func TestForeignTagsStay(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "shared")
	createReady(t, c, b)
	api := outside(t, "test")
	retag(t, api, b.Spec.BucketName, func(tags map[string]string) { tags["owner"] = "finance" })
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.Tags = v1alpha1.Tags{"team": "payments"} })
	ready(t, c, b)
	if tags := tagsOf(t, api, b.Spec.BucketName); tags["owner"] != "finance" || tags["team"] != "payments" {
		t.Errorf("tags %v: want the foreign one kept and ours set", tags)
	}
}

// retag changes a bucket's tags outside Portico.
func retag(t *testing.T, api *s3.Client, bucket string, change func(map[string]string)) {
	t.Helper()
	tags := tagsOf(t, api, bucket)
	change(tags)
	var set []s3types.Tag
	for k, v := range tags {
		set = append(set, s3types.Tag{Key: aws.String(k), Value: aws.String(v)})
	}
	if _, err := api.PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{
		Bucket: &bucket, Tagging: &s3types.Tagging{TagSet: set},
	}); err != nil {
		t.Fatal(err)
	}
}

func TestBindingSecretHoldsTheConnection(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "bound")
	createReady(t, c, b)
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: b.Namespace, Name: b.Status.Binding.Name}
	if err := c.Get(t.Context(), key, secret); err != nil {
		t.Fatal(err)
	}
	if secret.Type != "servicebinding.io/s3" || string(secret.Data["bucket"]) != b.Spec.BucketName ||
		string(secret.Data["region"]) != "eu-west-1" {
		t.Errorf("binding is %s with %d keys", secret.Type, len(secret.Data))
	}
	if secret.ResourceVersion != b.Status.Binding.ResourceVersion {
		t.Error("status does not show the Secret's version")
	}
	secret.Data["bucket"] = []byte("elsewhere")
	if err := c.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	requestReconcile(t, c, b, "1")
	await(t, "the binding to be repaired", func() (bool, string) {
		err := c.Get(t.Context(), key, secret)
		return err == nil && string(secret.Data["bucket"]) == b.Spec.BucketName, string(secret.Data["bucket"])
	})
}

func TestForeignSecretIsNotTaken(t *testing.T) {
	c := withOperator(t)
	b := bucketOf(team(t, c), "clash")
	foreign := &corev1.Secret{Data: map[string][]byte{"key": []byte("mine")}}
	foreign.Namespace, foreign.Name = b.Namespace, "clash-s3bucket-binding"
	create(t, c, foreign)
	create(t, c, b)
	reason(t, c, b, "BindingConflict")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); err != nil ||
		string(foreign.Data["key"]) != "mine" {
		t.Errorf("the foreign Secret was changed: %v", err)
	}
	if err := erase(t, c, foreign); err != nil {
		t.Fatal(err)
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) {
		b.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: "1"}
	})
	ready(t, c, b)
}

// The number of calls matches docs/kinds/s3bucket.md.
func TestCallsWithFeaturesAreAsDocumented(t *testing.T) {
	calm(t)
	c := withOperator(t)
	ns := team(t, c)
	providerIsChecked(t, c, ns)
	b := bucketOf(ns, "counted")
	configure(&b.Spec)
	b.Spec.Tags = nil
	createReady(t, c, b)
	const features = 5
	if got := operations(b.Spec.BucketName, 0); len(got) != 6+3*features {
		t.Errorf("create → settled took %d calls with %d features: %v", len(got), features, got)
	}
	m := world.Proxy.Mark()
	gone(t, c, b)
	if got := operations(b.Spec.BucketName, m); len(got) != 3 {
		t.Errorf("delete took %d calls: %v", len(got), got)
	}
}
