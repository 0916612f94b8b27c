package catalog

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
	shipped "github.com/portico-platform/portico/config/catalog"
)

// TestOnlyEntriesThatDifferAreWritten counts writes: a restart of the operator must cost none.
func TestOnlyEntriesThatDifferAreWritten(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	entries, err := shipped.Entries()
	if err != nil {
		t.Fatal(err)
	}
	writes := 0
	c := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration,
			opts ...client.ApplyOption,
		) error {
			writes++
			return c.Apply(ctx, obj, opts...)
		},
	}).Build()
	ship := func(when string, want int) {
		t.Helper()
		writes = 0
		if err := (&Shipper{Client: c, Entries: entries, Log: logr.Discard()}).Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if writes != want {
			t.Errorf("%s: got %d writes, want %d", when, writes, want)
		}
	}
	change := func(change func(*v1alpha1.CatalogEntrySpec)) {
		t.Helper()
		var e v1alpha1.CatalogEntry
		if err := c.Get(t.Context(), client.ObjectKey{Name: entries[3].Name}, &e); err != nil {
			t.Fatal(err)
		}
		change(&e.Spec)
		if err := c.Update(t.Context(), &e); err != nil {
			t.Fatal(err)
		}
	}
	ship("into an empty cluster", len(entries))
	ship("again", 0)
	change(func(s *v1alpha1.CatalogEntrySpec) { s.Hidden = true })
	ship("after an admin has hidden one", 0)
	change(func(s *v1alpha1.CatalogEntrySpec) { s.Deletion.Confirmed = !s.Deletion.Confirmed })
	ship("after an entry was changed", 1)
	var e v1alpha1.CatalogEntry
	if err := c.Get(t.Context(), client.ObjectKey{Name: entries[3].Name}, &e); err != nil || !e.Spec.Hidden {
		t.Errorf("hidden is %v, want that it stays: %v", e.Spec.Hidden, err)
	}
}
