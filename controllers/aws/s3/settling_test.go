package s3

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// at runs one pass, at d after the clock's start, and returns its reason. If the object is being deleted, the pass
// finalizes it.
func at(t *testing.T, f *fakeS3, b *v1alpha1.S3Bucket, d time.Duration) string {
	t.Helper()
	rec := external.Reconciler[*v1alpha1.S3Bucket, bucketState]{
		Kind: "S3Bucket", Stateful: true, Settling: Settling, Now: func() time.Time {
			return time.Unix(1_700_000_000, 0).Add(d)
		},
		Connect: func(context.Context, *v1alpha1.S3Bucket) (external.Connection[*v1alpha1.S3Bucket, bucketState],
			error,
		) {
			return external.Connection[*v1alpha1.S3Bucket, bucketState]{Adapter: adapter(f)}, nil
		},
	}
	work := rec.Reconcile
	if !b.DeletionTimestamp.IsZero() {
		work = rec.Finalize
	}
	err := work(t.Context(), b, engine.NewPass(nil))
	wait, waits := engine.AsWait(err)
	switch {
	case waits:
		return wait.Reason
	case err != nil:
		t.Fatal(err)
	}
	return ""
}

// S3 may report for two minutes that a new bucket does not exist: neither its deletion nor another pass treats it as
// gone.
func TestABucketThatS3DeniesIsGoneAfterTwoMinutesOnly(t *testing.T) {
	const wait = 2 * time.Minute
	for name, deleting := range map[string]bool{"a look": false, "the deletion": true} {
		f, b := &fakeS3{}, object()
		b.Spec.DeletionPolicy = v1alpha1.DeletionDelete
		if got := at(t, f, b, 0); got != "" || b.Status.ARN == "" {
			t.Fatalf("%s: got %q, status %+v", name, got, b.Status)
		}
		f.late = 100
		want := "ExternallyDeleted"
		if deleting {
			b.DeletionTimestamp, want = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}, ""
		}
		if got := at(t, f, b, wait); got != "Settling" { // it was created up to a second after the time in its status
			t.Errorf("%s, before that: got %q", name, got)
		}
		if got := at(t, f, b, wait+time.Second); got != want {
			t.Errorf("%s, two minutes after: got %q, want %q", name, got, want)
		}
	}
}

// If it shows in time, it is deleted like any other.
func TestABucketThatS3DeniedIsDeletedOnceItShows(t *testing.T) {
	f, b := &fakeS3{}, object()
	b.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	if got := at(t, f, b, 0); got != "" {
		t.Fatalf("got %q", got)
	}
	b.DeletionTimestamp, f.late = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}, 1
	if got := at(t, f, b, time.Minute); got != "Settling" || !f.exists {
		t.Errorf("got %q, exists %t", got, f.exists)
	}
	if got := at(t, f, b, time.Minute+10*time.Second); got != "" || f.exists {
		t.Errorf("got %q, exists %t", got, f.exists)
	}
}
