package page

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/rights"
)

// IsAdmin reports whether the caller is a platform admin: one who can list claims, which belong to no team.
func (b *Base) IsAdmin(ctx context.Context, id auth.Identity) (bool, error) {
	k, ok := b.Cluster.Kinds.Now().ByName(ClaimKind)
	if !ok {
		return false, nil
	}
	return b.Cluster.Rights.Can(ctx, id, "list", k, "")
}

// RequireAdmin returns an error unless the caller is a platform admin.
func (b *Base) RequireAdmin(ctx context.Context, id auth.Identity) error {
	k, ok := b.Cluster.Kinds.Now().ByName(ClaimKind)
	if !ok {
		return &failure.ForbiddenError{Verb: "list", Resource: "domainclaims"}
	}
	return b.Cluster.Rights.Require(ctx, id, "list", catalog.Ref{Kind: k})
}

// Ahead starts the checks of the rights that every page's frame needs and of more, concurrently, before the page
// makes them one by one. Other rights are checked when they are needed.
func (b *Base) Ahead(ctx context.Context, id auth.Identity, more ...rights.Right) {
	wide := slices.Concat(b.Cluster.Kinds.Now().Requestable(), b.SpaceNamed(PlatformTeam).Kinds)
	if k, ok := b.Cluster.Kinds.Now().ByName(ClaimKind); ok {
		wide = append(wide, k)
	}
	b.Cluster.Rights.Ahead(ctx, id, append(rights.ToEach("list", wide, ""), more...)...)
}
