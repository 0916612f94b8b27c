package pages

import (
	"context"
	"errors"
	"slices"

	"github.com/portico-platform/portico/portal/activity"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/objects"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/pages/page"
)

// Can depends on denied: "list payments" is for every kind, "list s3buckets payments" for one, "* payments" for every
// verb.
func (f *fakeCluster) Can(_ context.Context, id auth.Identity, verb string, k catalog.Kind, ns string) (bool, error) {
	if ns == "" && !slices.Contains(id.Groups, "admins") {
		return false, f.away()
	}
	return !slices.ContainsFunc(f.denied, func(d string) bool {
		return d == verb+" "+ns || d == "* "+ns || d == verb+" "+k.Plural+" "+ns
	}), f.away()
}

func (f *fakeCluster) Require(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref) error {
	return f.require(ctx, id, verb, ref.Kind, ref.Namespace)
}

// Activity needs the right to list events: "list events payments" denies it.
func (f *fakeCluster) Activity(ctx context.Context, id auth.Identity, ns string) (objects.Activity, error) {
	events := catalog.Kind{Plural: "events"}
	if err := f.require(ctx, id, "list", events, ns); err != nil && (ns != "" || !page.Unseen(err)) {
		return objects.Activity{}, err
	}
	all, err := f.Can(ctx, id, "list", events, "")
	out := objects.Activity{Narrow: !all && ns == ""}
	for _, e := range f.events {
		may, _ := f.Can(ctx, id, "list", events, e.Namespace)
		if !all && !may || e.ReportingController != activity.Controller {
			continue
		}
		if ns == "" || e.Namespace == ns {
			out.Events = append(out.Events, e)
		}
	}
	return out, err
}

func (f *fakeCluster) Unlisted(ctx context.Context, id auth.Identity, namespaces []string) (
	map[string]catalog.Catalog, error,
) {
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

// Ahead does nothing: it changes no result.
func (f *fakeCluster) Ahead(context.Context, auth.Identity, ...rights.Right) {}

func (f *fakeCluster) RequireOne(ctx context.Context, id auth.Identity, verb string, ref catalog.Ref) error {
	return f.require(ctx, id, verb, ref.Kind, ref.Namespace)
}

// In fails: pages do not call it.
func (f *fakeCluster) In(context.Context, auth.Identity, catalog.Catalog, string) (map[string][]string, error) {
	return nil, errors.ErrUnsupported
}
