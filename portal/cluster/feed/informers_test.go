package feed

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

func TestThePortalIsReadyOnceAllThatWasThereIsHandled(t *testing.T) {
	full := map[string]bool{}
	own := catalog.Kind{
		Name: "CatalogEntry", Plural: "catalogentries", Resource: v1alpha1.GroupVersion.WithResource("catalogentries"),
	}
	others := catalog.Kind{
		Name: "Bucket", Plural: "buckets.example.com", Resource: schema.GroupVersionResource{Group: "example.com"},
	}
	f := &Feed{watches: watches{filled: map[string]func() bool{}, kinds: map[string]catalog.Kind{
		"s3buckets": own, others.Plural: others,
	}}, offered: newOffered(catalog.NewLive(nil), nil)}
	w := &f.watches
	for _, what := range []string{"s3buckets", "events", others.Plural} {
		w.filled[what] = func() bool { return full[what] }
	}
	expect := func(when, want string) {
		t.Helper()
		err := f.Ready()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", when, err, want)
		}
	}
	expect("before all is watched", "nothing is watched yet")
	w.begun = true
	full["events"] = true
	expect("while one is not filled", "the cache of s3buckets is not filled yet")
	full["s3buckets"] = true
	expect("before the catalog is made", "the catalog is not read yet")
	f.offered.begun = true
	expect("without entries", "the operator writes them when it starts")
	f.offered.kinds.Set(catalog.Catalog{own})
	expect("at last, whatever kinds of others lack", "")
}
