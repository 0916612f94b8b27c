package pages

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

// Can goes by what is denied: "list payments" of every kind, "list s3buckets payments" of one, "* payments" of everything.
func (f *fakeCluster) Can(_ context.Context, id auth.Identity, verb string, k catalog.Kind, ns string) (bool, error) {
	if ns == "" && !slices.Contains(id.Groups, "admins") {
		return false, f.away()
	}
	return !slices.ContainsFunc(f.denied, func(d string) bool {
		return d == verb+" "+ns || d == "* "+ns || d == verb+" "+k.Plural+" "+ns
	}), f.away()
}

func (f *fakeCluster) Unlisted(ctx context.Context, id auth.Identity, namespaces []string) (map[string]catalog.Catalog, error) {
	out := map[string]catalog.Catalog{}
	for _, k := range f.kinds.Requestable() {
		if all, _ := f.Can(ctx, id, "list", k, ""); all {
			continue
		}
		for _, ns := range namespaces {
			if ok, _ := f.Can(ctx, id, "list", k, ns); !ok {
				out[ns] = append(out[ns], k)
			}
		}
	}
	return out, f.away()
}

// Ahead does nothing: it changes no answer.
func (f *fakeCluster) Ahead(context.Context, auth.Identity, ...cluster.Right) {}
