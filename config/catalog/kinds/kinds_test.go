package kinds_test

import (
	"slices"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/config/catalog"
	"github.com/portico-platform/portico/config/catalog/kinds"
)

// TestNoFieldIsNamedTwice checks lists that are sets: the API server refuses entries with duplicates.
func TestNoFieldIsNamedTwice(t *testing.T) {
	for _, e := range kinds.All() {
		lists := map[string][]v1alpha1.FieldName{
			"First": e.Spec.Form.First, "Order": e.Spec.Form.Order, "Unique": e.Spec.Form.Unique,
		}
		for name, all := range lists {
			once := slices.Clone(all)
			slices.Sort(once)
			if got, want := len(slices.Compact(once)), len(all); got != want {
				t.Errorf("Form.%s of %s has %d different fields, want %d", name, e.Name, got, want)
			}
		}
	}
}

// TestTheShippedEntriesAreThese checks that the embedded YAML was generated from the Go values.
func TestTheShippedEntriesAreThese(t *testing.T) {
	shipped, err := catalog.Entries()
	if err != nil {
		t.Fatal(err)
	}
	all := kinds.All()
	if got, want := len(shipped), len(all); got != want {
		t.Fatalf("got %d entries, want %d: make generate", got, want)
	}
	for i := range all {
		if got, want := shipped[i].Name, all[i].Name; got != want {
			t.Errorf("entry %d is %s, want %s: make generate", i, got, want)
		}
	}
}
