package pages

import (
	"context"
	"time"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/operator"
)

// platform is the fake's state of the platform as a whole, and of teams.
type platform struct {
	features operator.Features
	outage   time.Time // of the identity provider, since when
	work     operator.Work
	spans    []operator.Span
	quotas   []teams.Quota
	members  map[string][]teams.Member // by namespace
}

func (f *fakeCluster) Features(ctx context.Context, id auth.Identity) (operator.Features, error) {
	return f.features, f.Rights.RequireRight(ctx, id, rights.Right{Verb: "list", Resource: "domainclaims"})
}

func (f *fakeCluster) Controllers(ctx context.Context, id auth.Identity) (operator.Work, error) {
	return f.work, f.Rights.RequireRight(ctx, id, rights.Right{Verb: "list", Resource: "domainclaims"})
}

func (f *fakeCluster) CallHistory(ctx context.Context, id auth.Identity) ([]operator.Span, error) {
	return f.spans, f.Rights.RequireRight(ctx, id, rights.Right{Verb: "list", Resource: "domainclaims"})
}

func (f *fakeCluster) Quotas(ctx context.Context, id auth.Identity, namespace string) ([]teams.Quota, error) {
	if err := f.Rights.RequireRight(ctx, id, rights.Right{
		Verb: "list", Resource: feed.Quotas, Namespace: namespace,
	}); err != nil {
		return nil, err
	}
	var out []teams.Quota
	for _, q := range f.quotas {
		if namespace == "" || namespace == q.Namespace {
			out = append(out, q)
		}
	}
	return out, nil
}

func (f *fakeCluster) Members(ctx context.Context, id auth.Identity, namespace string) ([]teams.Member, error) {
	return f.members[namespace], f.Rights.RequireRight(ctx, id, rights.Right{
		Verb: "list", Resource: feed.RoleBindings, Namespace: namespace,
	})
}
