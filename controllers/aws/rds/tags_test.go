package rds

import (
	"slices"
	"testing"
)

// A response without tags does not show whose the instance is.
func TestTagsThatAnAnswerLeavesOutAreAskedFor(t *testing.T) {
	f, v, obj := &fakeRDS{leaveOut: true}, &fakeVault{}, object()
	settled(t, f, v, obj)
	writes := f.writes
	f.calls = nil
	if settled(t, f, v, obj); f.writes != writes ||
		!slices.Equal(f.calls, []string{"DescribeDBInstances", "ListTagsForResource"}) {
		t.Errorf("a check at rest called %v", f.calls)
	}
	f.failTags, f.calls = code("AccessDenied"), nil
	a := adapterOf(f, v)
	if seen, err := a.Observe(t.Context(), obj); seen != nil || paused(err) != "AccessDenied!" {
		t.Errorf("tags that cannot be read: %v, %v", seen, err)
	}
	f.failTags, f.tags = nil, map[string]string{}
	if seen := observe(t, a, obj); a.Owner(obj, seen) != 0 {
		t.Errorf("without tags it is of %v", a.Owner(obj, seen))
	}
	f.leaveOut, f.calls = false, nil
	if observe(t, a, obj); slices.Contains(f.calls, "ListTagsForResource") {
		t.Error("tags that were shown, if none, were asked for")
	}
}

func TestASnapshotWhoseTagsAreLeftOutIsRestored(t *testing.T) {
	f, v, obj := &fakeRDS{leaveOut: true}, &fakeVault{}, object(restored)
	f.snapshot("farewell", adapterOf(f, v).session.Tags(obj, nil))
	settled(t, f, v, obj)
	f = &fakeRDS{leaveOut: true}
	f.snapshot("farewell", map[string]string{"portico.dev/namespace": "search"})
	if _, _, err := pass(t, f, &fakeVault{}, object(restored)); paused(err) != "SnapshotNotAllowed!" {
		t.Errorf("another namespace's: %v", err)
	}
}
