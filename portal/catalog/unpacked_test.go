package catalog

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// wide returns the definition and the entry of a kind of others with this many fields.
func wide(name string, fields int) (apiext.CustomResourceDefinition, v1alpha1.CatalogEntry) {
	spec := apiext.JSONSchemaProps{Type: "object", Properties: map[string]apiext.JSONSchemaProps{}}
	for i := range fields {
		spec.Properties[fmt.Sprintf("field%04d", i)] = apiext.JSONSchemaProps{
			Type: "string", Pattern: "^[a-z]+$", Description: "What it is: " + strings.Repeat("words ", i%7),
		}
	}
	crd := apiext.CustomResourceDefinition{Spec: apiext.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiext.NamespaceScoped,
		Names: apiext.CustomResourceDefinitionNames{Plural: name + "s", Kind: name},
		Versions: []apiext.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true, Storage: true, Schema: &apiext.CustomResourceValidation{
				OpenAPIV3Schema: &apiext.JSONSchemaProps{
					Type: "object", Description: "A " + name, Properties: map[string]apiext.JSONSchemaProps{"spec": spec},
				},
			},
		}},
	}}
	crd.Name = name + "s.example.com"
	entry := v1alpha1.CatalogEntry{}
	entry.Name = crd.Name
	entry.Spec.Title, entry.Spec.Definition.Version = name, "v1"
	entry.Spec.Controller = &v1alpha1.CatalogController{Name: "its controller"}
	return crd, entry
}

func wideKinds(tb testing.TB, n, fields int) Catalog {
	tb.Helper()
	crds, entries := make([]apiext.CustomResourceDefinition, n), make([]v1alpha1.CatalogEntry, n)
	for i := range n {
		crds[i], entries[i] = wide(fmt.Sprintf("kind%03d", i), fields)
	}
	all, err := New(crds, entries)
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// on returns how many sources the shelf has, and checks its count of bytes.
func (f *shelf) on(t *testing.T) int {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	size := 0
	for e := f.uses.Front(); e != nil; e = e.Next() {
		s, _ := e.Value.(*source)
		if size += s.size; s.made == nil || s.place != e {
			t.Errorf("%+v is on the shelf", s)
		}
	}
	if size != f.used {
		t.Errorf("%d bytes are counted, and there are %d", f.used, size)
	}
	return f.uses.Len()
}

func TestWhatWasUsedLastStaysUnpacked(t *testing.T) {
	before := shelved
	t.Cleanup(func() { shelved = before })
	shelved = &shelf{fewest: 1}
	kinds := wideKinds(t, 5, 50)
	shelved.most = kinds[0].source.size * 3
	if n := shelved.on(t); n != 0 {
		t.Errorf("%d are unpacked before they are used", n)
	}
	for _, i := range []int{0, 1, 2, 0, 3, 4} { // 1, and then 2, was used least
		if got := kinds[i].Fields(); len(got) != 50 || got[7].Pattern != "^[a-z]+$" {
			t.Errorf("fields %+v", got)
		}
	}
	for i, want := range []bool{true, false, false, true, true} {
		if got := shelved.find(kinds[i].source) != nil; got != want {
			t.Errorf("%s unpacked: %t, want %t", kinds[i].Plural, got, want)
		}
	}
	if n := shelved.on(t); n != 3 {
		t.Errorf("%d are unpacked, want 3", n)
	}
	shelved.most = 1 // less than any
	if got := kinds[1].Fields(); len(got) != 50 || shelved.on(t) != 1 {
		t.Errorf("%d fields, and %d on the shelf; want 50 and 1", len(got), shelved.on(t))
	}
}

func TestUnpackingIsSafeForConcurrentUse(t *testing.T) {
	before := shelved
	t.Cleanup(func() { shelved = before })
	kinds := wideKinds(t, 6, 20)
	shelved = &shelf{most: kinds[0].source.size * 2, fewest: 1}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 50 {
				if got := kinds[(i+j)%len(kinds)].Fields(); len(got) != 20 {
					t.Errorf("%d fields", len(got))
				}
			}
		})
	}
	all.Wait()
	if n := shelved.on(t); n != 2 {
		t.Errorf("%d are unpacked, want 2", n)
	}
}

func TestAKindIsMadeOfWhatItPublishes(t *testing.T) {
	k := wideKinds(t, 1, 30)[0]
	whole, err := k.PublishedWhole()
	if err != nil {
		t.Fatal(err)
	}
	again, err := New([]apiext.CustomResourceDefinition{whole.Definition}, []v1alpha1.CatalogEntry{whole.Entry})
	if err != nil {
		t.Fatal(err)
	}
	if got := again[0]; len(got.Fields()) != 30 || got.Published().Revision != whole.Revision || got.Help != k.Help {
		t.Errorf("made %+v", got.Published())
	}
	light := k.Published()
	again, err = New([]apiext.CustomResourceDefinition{light.Definition}, []v1alpha1.CatalogEntry{light.Entry})
	if err != nil {
		t.Fatal(err)
	}
	if got := again[0]; len(got.Fields()) != 0 || got.Plural != k.Plural || got.Title != k.Title {
		t.Errorf("made %+v", got.Published())
	}
	crd, entry := wide("kind000", 30)
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.Properties["more"] = apiext.JSONSchemaProps{Type: "string"}
	other, err := New([]apiext.CustomResourceDefinition{crd}, []v1alpha1.CatalogEntry{entry})
	if err != nil || other[0].Published().Revision == whole.Revision {
		t.Errorf("another schema has the revision %s too: %v", whole.Revision, err)
	}
}

// BenchmarkMemoryOfKinds reports the memory of a catalog by number of kinds, whose schemas have 100 kB each, when each
// has been used once.
func BenchmarkMemoryOfKinds(b *testing.B) {
	for _, n := range []int{25, 100, 300} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				shelved = &shelf{most: shelved.most, fewest: shelved.fewest}
				runtime.GC()
				runtime.ReadMemStats(&before)
				kinds := wideKinds(b, n, 900)
				for _, k := range kinds {
					_ = k.Fields()
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB")
				b.ReportMetric(float64(kinds[0].source.size)/1000, "kB/schema")
				runtime.KeepAlive(kinds)
			}
		})
	}
}
