package pages

import (
	"context"
	"time"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/teams"
	"github.com/portico-platform/portico/portal/operator"
	"github.com/portico-platform/portico/portal/overview"
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

func (f *fakeCluster) requirePlatform(ctx context.Context, id auth.Identity) error {
	ok, err := f.Can(ctx, id, "list", catalog.Kind{}, "")
	if err == nil && !ok {
		err = &failure.ForbiddenError{Verb: "list", Resource: "domainclaims"}
	}
	return err
}

func (f *fakeCluster) Features(ctx context.Context, id auth.Identity) (operator.Features, error) {
	return f.features, f.requirePlatform(ctx, id)
}

func (f *fakeCluster) Controllers(ctx context.Context, id auth.Identity) (operator.Work, error) {
	return f.work, f.requirePlatform(ctx, id)
}

func (f *fakeCluster) CallHistory(ctx context.Context, id auth.Identity) ([]operator.Span, error) {
	return f.spans, f.requirePlatform(ctx, id)
}

// store returns the overview of the fake's objects.
func (f *fakeCluster) store() *overview.Store {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := overview.NewStore()
	for _, o := range f.objects {
		if k, ok := f.kinds.ByName(o.GetKind()); ok {
			s.Put(k, o)
		}
	}
	return s
}

func (f *fakeCluster) Overview(ctx context.Context, id auth.Identity) (overview.Overview, error) {
	if err := f.away(); err != nil {
		return overview.Overview{}, err
	}
	may := func(kind, ns string) bool {
		k, _ := f.kinds.ByPlural(kind)
		ok, _ := f.Can(ctx, id, "list", k, ns)
		return ok
	}
	o := f.store().Of(func(at overview.Place) bool { return may(at.Kind, "") || may(at.Kind, at.Namespace) })
	for _, k := range f.kinds {
		if !may(k.Plural, "") {
			o.Narrow = append(o.Narrow, k.Plural)
		}
	}
	return o, nil
}

func (f *fakeCluster) TimesToReady(k catalog.Kind) overview.Times {
	return f.store().TimesToReady(k.Plural)
}

// Quotas refuses what denied lists as "quota" and the namespace.
func (f *fakeCluster) Quotas(ctx context.Context, id auth.Identity, namespace string) ([]teams.Quota, error) {
	if err := f.require(ctx, id, "quota", catalog.Kind{Plural: feed.Quotas}, namespace); err != nil {
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

// Members refuses what denied lists as "members" and the namespace.
func (f *fakeCluster) Members(ctx context.Context, id auth.Identity, namespace string) ([]teams.Member, error) {
	return f.members[namespace], f.require(ctx, id, "members", catalog.Kind{Plural: feed.RoleBindings}, namespace)
}
