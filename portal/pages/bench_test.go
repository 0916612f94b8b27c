package pages

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/overview"
)

// metropolis is a platform with many teams, whose admin has all rights. Its rows are cached as in cluster.Cluster.
type metropolis struct {
	*fakeCluster
	rows  map[string][]*overview.Row // by the plural names of kinds
	names []string
}

func (c metropolis) Rows(_ context.Context, _ auth.Identity, k catalog.Kind, _ string) ([]*overview.Row, error) {
	return append([]*overview.Row(nil), c.rows[k.Plural]...), nil
}

func (c metropolis) Namespaces(context.Context, auth.Identity) ([]string, error) { return c.names, nil }

func (c metropolis) Can(context.Context, auth.Identity, string, catalog.Kind, string) (bool, error) {
	return true, nil
}

func (c metropolis) Unlisted(context.Context, auth.Identity, []string) (map[string]catalog.Catalog, error) {
	return map[string]catalog.Catalog{}, nil
}

func newMetropolis(tb testing.TB, namespaces, objects int) metropolis {
	tb.Helper()
	c := metropolis{fakeCluster: newFake(tb, readyBucket), rows: map[string][]*overview.Row{}}
	k, _ := c.kinds.ByName("S3Bucket")
	for i := range namespaces {
		c.names = append(c.names, fmt.Sprintf("team-%03d", i))
	}
	for i := range objects {
		o := c.objects[0].DeepCopy()
		o.SetName(fmt.Sprintf("bucket-%05d", i))
		o.SetNamespace(c.names[i%namespaces])
		c.rows[k.Plural] = append(c.rows[k.Plural], overview.NewRow(k, o))
	}
	return c
}

func (c metropolis) site() http.Handler {
	parts := c.parts()
	parts.Rights, parts.Objects = c, c
	p := New(parts, Reach{Portal: "https://portal.example.com", Prefix: "oidc:", CLI: fakeCLI},
		slog.New(slog.NewTextHandler(io.Discard, nil)))
	p.Now = func() time.Time { return noon }
	p.Alive = func(context.Context) error { return nil }
	p.Watching(func() time.Time { return time.Time{} })
	r := chi.NewRouter()
	r.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(auth.WithIdentity(r.Context(), platformAdmin)))
		})
	})
	p.Routes(r)
	return r
}

// BenchmarkListOfAllTeams measures an admin's list of 10,000 objects in 200 namespaces, without the cluster's part.
func BenchmarkListOfAllTeams(b *testing.B) {
	site := newMetropolis(b, 200, 10_000).site()
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
		site := newMetropolis(t, 50, objects).site()
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
