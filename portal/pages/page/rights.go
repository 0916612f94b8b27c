package page

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/cluster"
)

// IsAdmin reports whether the caller is a platform admin: one who can list claims, which belong to no team.
func (b *Base) IsAdmin(ctx context.Context, id auth.Identity) (bool, error) {
	k, ok := b.cluster.Kinds().ByName(ClaimKind)
	if !ok {
		return false, nil
	}
	return b.cluster.Can(ctx, id, "list", k, "")
}

// RequireAdmin returns an error unless the caller is a platform admin.
func (b *Base) RequireAdmin(ctx context.Context, id auth.Identity) error {
	k, ok := b.cluster.Kinds().ByName(ClaimKind)
	if !ok {
		return &cluster.ForbiddenError{Verb: "list", Resource: "domainclaims"}
	}
	return b.cluster.Require(ctx, id, "list", cluster.Ref{Kind: k})
}

// MayEndSessions reports whether the caller can end the sessions of users, and so gets a link to that page.
func (b *Base) MayEndSessions(ctx context.Context, id auth.Identity) (bool, error) {
	return b.cluster.MayEndSessions(ctx, id)
}

// Ahead starts the checks of the rights that every page's frame needs and of those given, concurrently, before the page
// makes them one by one. Other rights are checked when they are needed.
func (b *Base) Ahead(ctx context.Context, id auth.Identity, rights ...cluster.Right) {
	wide := slices.Concat(b.cluster.Kinds().Requestable(), b.SpaceNamed(PlatformTeam).Kinds)
	if k, ok := b.cluster.Kinds().ByName(ClaimKind); ok {
		wide = append(wide, k)
	}
	b.cluster.Ahead(ctx, id, append(cluster.RightsTo("list", wide, ""), rights...)...)
}

// Require returns a *cluster.ForbiddenError unless the caller can do verb with objects of the kind in ref's namespace.
func (b *Base) Require(ctx context.Context, id auth.Identity, verb string, ref cluster.Ref) error {
	return b.cluster.Require(ctx, id, verb, ref)
}
