package s3

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// pass runs one pass of the operator over b.
func pass(t *testing.T, f *fakeS3, b *v1alpha1.S3Bucket) string {
	t.Helper()
	return passOf(t, adapter(f), b)
}

func passOf(t *testing.T, a bucket, b *v1alpha1.S3Bucket) string {
	t.Helper()
	b.Generation++
	return passIn(t.Context(), t, a, b)
}

// passIn runs one pass of the kind that ctx sets.
func passIn(ctx context.Context, t *testing.T, a bucket, b *v1alpha1.S3Bucket) string {
	t.Helper()
	rec := external.Reconciler[*v1alpha1.S3Bucket, bucketState]{
		Kind: "S3Bucket", Stateful: true, Now: func() time.Time { return time.Unix(1000, 0) },
		Connect: func(context.Context, *v1alpha1.S3Bucket) (external.Connection[*v1alpha1.S3Bucket, bucketState],
			error,
		) {
			return external.Connection[*v1alpha1.S3Bucket, bucketState]{Adapter: a}, nil
		},
	}
	act := rec.Reconcile
	if !b.DeletionTimestamp.IsZero() {
		act = rec.Finalize
	}
	err := act(ctx, b, engine.NewPass(nil))
	if wait, ok := engine.AsWait(err); ok {
		return wait.Reason
	}
	if err != nil {
		t.Fatal(err)
	}
	return ""
}

// offered returns a bucket that somebody created by hand and offers to the object, with its own lifecycle rule.
func offered() (*fakeS3, *v1alpha1.S3Bucket) {
	b := object()
	b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt
	return &fakeS3{
		exists: true, tags: map[string]string{"portico.dev/adopt": "payments/invoices"},
		lifecycle: []s3types.LifecycleRule{
			{
				ID: aws.String("theirs"), Status: s3types.ExpirationStatusEnabled,
				Filter: &s3types.LifecycleRuleFilter{},
			},
		},
	}, b
}

// A refused lifecycle rule of ours must not delete the existing rule.
func TestAWithdrawnRuleThatWasRefusedLeavesTheirs(t *testing.T) {
	f, b := offered()
	f.refuse = "PutBucketLifecycleConfiguration"
	b.Spec.LifecycleRules = []v1alpha1.S3LifecycleRule{{ID: "ours", ExpirationDays: aws.Int32(1)}}
	for range 2 {
		if got := pass(t, f, b); got != "AccessDenied" {
			t.Fatalf("got %q", got)
		}
	}
	f.refuse, b.Spec.LifecycleRules = "", nil
	if got := pass(t, f, b); got != "" {
		t.Fatalf("got %q", got)
	}
	if len(f.lifecycle) != 1 || aws.ToString(f.lifecycle[0].ID) != "theirs" {
		t.Errorf("left %+v", f.lifecycle)
	}
}

// With Object Lock, S3 refuses to suspend versioning. Once the spec no longer asks for that, it is no longer sent.
func TestAWithdrawnSettingThatWasRefusedIsNotSent(t *testing.T) {
	f, b := offered()
	f.locked, f.versioning = true, s3types.BucketVersioningStatusEnabled
	b.Spec.Versioning = "Suspended"
	if got := pass(t, f, b); got != "InvalidSpec" {
		t.Fatalf("got %q", got)
	}
	b.Spec.Versioning = ""
	f.calls = nil
	if got := pass(t, f, b); got != "" || slices.Contains(f.calls, "PutBucketVersioning") {
		t.Errorf("got %q after %v", got, f.calls)
	}
}

// Withdrawn settings return to AWS's default, both whole features and single members.
func TestWithdrawnSettingsGoBackToTheDefault(t *testing.T) {
	f, b := offered()
	kept := b.DeepCopy().Spec
	b.Spec = full().Spec
	b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt
	if got := pass(t, f, b); got != "" {
		t.Fatalf("got %q", got)
	}
	b.Spec = kept
	if got := pass(t, f, b); got != "" {
		t.Fatalf("got %q", got)
	}
	on := aws.ToBool(f.access.BlockPublicAcls) && aws.ToBool(f.access.RestrictPublicBuckets)
	if f.versioning != s3types.BucketVersioningStatusSuspended || !on {
		t.Errorf("versioning = %s, access is blocked: %v, want Suspended, true", f.versioning, on)
	}
	if len(f.lifecycle) != 0 || len(f.cors) != 0 || f.tags["team"] != "" {
		t.Errorf("left: lifecycle %v, CORS %v, tags %v", f.lifecycle, f.cors, f.tags)
	}
}
