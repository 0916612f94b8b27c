package rds

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// reconcile runs one pass as the operator does, and returns what was published.
func reconcile(t *testing.T, f *fakeRDS, v *fakeVault, obj *v1alpha1.RDSInstance) (
	published map[string]string, outcome error,
) {
	t.Helper()
	work := external.Reconciler[*v1alpha1.RDSInstance, instanceState]{
		Kind: kind, Stateful: true, Settling: time.Minute, Now: time.Now,
		Connect: func(context.Context, *v1alpha1.RDSInstance) (
			external.Connection[*v1alpha1.RDSInstance, instanceState], error,
		) {
			return external.Connection[*v1alpha1.RDSInstance, instanceState]{Adapter: adapterOf(f, v)}, nil
		},
		Publish: func(_ context.Context, _ *v1alpha1.RDSInstance, details map[string]string) (
			*v1alpha1.Binding, error,
		) {
			published = details
			return &v1alpha1.Binding{Name: "details"}, nil
		},
	}
	outcome = work.Reconcile(t.Context(), obj, engine.NewPass(func(context.Context) error { return nil }))
	return published, outcome
}

func TestStorageThatRDSDoesNotChangeYetHoldsNothingUp(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object(func(i *v1alpha1.RDSInstance) { i.Spec.ApplyImmediately = true })
	before := settled(t, f, v, obj)["password"]
	f.optimizing = true
	obj.Spec.AllocatedStorage, obj.Spec.BackupRetentionPeriod, obj.Generation = 50, aws.Int32(9), 2
	rotate(obj, "1")
	details, err := reconcile(t, f, v, obj)
	if paused(err) != "StorageOptimizing" || *f.db.BackupRetentionPeriod != 9 || *f.db.AllocatedStorage != 20 {
		t.Errorf("%v; %d GiB, backups of %d days", err, *f.db.AllocatedStorage, *f.db.BackupRetentionPeriod)
	}
	if details["password"] == before || details["password"] != f.password {
		t.Error("the new password is not published")
	}
	for _, part := range []string{
		"the database works", "allocatedStorage 20 → 50", "six hours after the last one",
		"nothing has to be done",
	} {
		if err != nil && !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	f.optimizing = false
	if _, err := reconcile(t, f, v, obj); err != nil || *f.db.AllocatedStorage != 50 {
		t.Errorf("afterwards: %v, %d GiB", err, *f.db.AllocatedStorage)
	}
}

func TestItIsToldWhenTheStorageCanBeChangedAgain(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object(func(i *v1alpha1.RDSInstance) { i.Spec.ApplyImmediately = true })
	settled(t, f, v, obj)
	obj.Spec.AllocatedStorage, obj.Generation = 50, 2
	settled(t, f, v, obj)
	if at := obj.Status.StorageChangeTime; at == nil || time.Since(at.Time) > time.Minute {
		t.Fatalf("changed at %v", at)
	}
	f.optimizing = true
	obj.Spec.AllocatedStorage, obj.Generation = 60, 3
	end := obj.Status.StorageChangeTime.Add(6 * time.Hour).UTC().Format("2006-01-02 15:04 UTC")
	if _, err := reconcile(t, f, v, obj); err == nil ||
		!strings.Contains(err.Error(), "until "+end+", six hours after") {
		t.Errorf("%v does not say %s", err, end)
	}
	obj.Status.StorageChangeTime.Time = time.Now().Add(-6 * time.Hour)
	if _, err := reconcile(t, f, v, obj); err == nil ||
		!strings.Contains(err.Error(), "until six hours after the last one") {
		t.Errorf("after the time: %v", err)
	}
}

func TestFullStorageThatCannotGrowYetIsTold(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object(func(i *v1alpha1.RDSInstance) { i.Spec.ApplyImmediately = true })
	settled(t, f, v, obj)
	f.optimizing, f.db.DBInstanceStatus = true, aws.String("storage-full")
	obj.Spec.AllocatedStorage, obj.Generation = 50, 2
	details, err := reconcile(t, f, v, obj)
	if paused(err) != "StorageFull" || !strings.Contains(err.Error(), "restores the latest snapshot") ||
		details != nil {
		t.Errorf("%v, published %d details", err, len(details))
	}
}

// If RDS refuses any call because of its last change of the storage, nobody is asked to change the spec.
func TestAnotherCallThatWaitsForTheStorageIsNoWrongSpec(t *testing.T) {
	f, v, obj := &fakeRDS{}, &fakeVault{}, object()
	settled(t, f, v, obj)
	f.refuse = errOptimizing
	obj.Spec.BackupRetentionPeriod, obj.Generation = aws.Int32(9), 2
	if _, err := reconcile(t, f, v, obj); paused(err) != "StorageOptimizing" ||
		strings.Contains(err.Error(), "Change the spec") {
		t.Errorf("%v", err)
	}
}
