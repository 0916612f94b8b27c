package pages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// metropolis returns the pages of a platform with many teams, for an admin with all rights. Unlike site it does not
// show the objects again before each request.
func metropolis(tb testing.TB, namespaces, objects int) http.Handler {
	tb.Helper()
	f := newFake(tb, readyBucket)
	first := f.objects[0]
	f.objects, f.Spaces.Names = nil, nil
	for i := range namespaces {
		f.Spaces.Names = append(f.Spaces.Names, fmt.Sprintf("team-%03d", i))
	}
	for i := range objects {
		o := first.DeepCopy()
		o.SetName(fmt.Sprintf("bucket-%05d", i))
		o.SetNamespace(f.Spaces.Names[i%namespaces])
		f.objects = append(f.objects, o)
	}
	f.show()
	return routes(f, platformAdmin, noon)
}

// BenchmarkListOfAllTeams measures an admin's list of 10,000 objects in 200 namespaces.
func BenchmarkListOfAllTeams(b *testing.B) {
	site := metropolis(b, 200, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		site.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/teams/-", nil))
		if w.Code != http.StatusOK {
			b.Fatal(w.Body.String())
		}
	}
}

// TestLongListsCostNoMoreThanTheirRows: the rows of a list of thousands are computed when an object changes, and not
// when the list is read. A read allocates a few large slices for all objects, and the rest for the rows that it shows.
func TestLongListsCostNoMoreThanTheirRows(t *testing.T) {
	cost := func(objects int) float64 {
		site := metropolis(t, 50, objects)
		return testing.AllocsPerRun(5, func() {
			site.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(
				t.Context(), http.MethodGet, "/teams/-", nil))
		})
	}
	short, long := cost(100), cost(5000)
	if most := short + 200; long > most {
		t.Errorf("a list of 5,000 takes %.0f allocations, and one of 100 %.0f", long, short)
	}
}
