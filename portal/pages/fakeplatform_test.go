package pages

import (
	"context"
	"time"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/operator"
)

// platform is the fake's state of the platform as a whole.
type platform struct {
	features operator.Features
	outage   time.Time // of the identity provider, since when
	work     operator.Work
	spans    []operator.Span
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
