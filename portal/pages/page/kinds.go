package page

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster"
)

// Kinds that pages treat in a way of their own.
const (
	PoolKind     = "PoolGateway"
	ClaimKind    = "DomainClaim"
	GrantKind    = "HostnameGrant"
	ProviderKind = "AWSProvider"
)

// IsAdmin reports whether the caller is one of those who look after the platform: they may list claims, which belong to no team.
func (b *Base) IsAdmin(ctx context.Context, id auth.Identity) (bool, error) {
	k, ok := b.cluster.Kinds().ByName(ClaimKind)
	if !ok {
		return false, nil
	}
	return b.cluster.Can(ctx, id, "list", k, "")
}

// RequireAdmin returns an error unless the caller looks after the platform.
func (b *Base) RequireAdmin(ctx context.Context, id auth.Identity) error {
	may, err := b.IsAdmin(ctx, id)
	if err == nil && !may {
		err = &cluster.ForbiddenError{Verb: "list", Resource: "domainclaims"}
	}
	return err
}

// HostnameKind is the kind that gives a namespace a hostname.
const HostnameKind = "GatewayHostnameRequest"

// IsHostname reports whether a kind gives a namespace hostnames.
func IsHostname(k catalog.Kind) bool { return k.Name == HostnameKind }

// Ahead asks for what the frame of every page needs and for the rights given, all at once, before the page asks for one
// after the other. A right that is not among them is asked for when it is needed.
func (b *Base) Ahead(ctx context.Context, id auth.Identity, rights ...cluster.Right) {
	wide := slices.Concat(b.cluster.Kinds().Requestable(), b.SpaceNamed(PlatformTeam).Kinds)
	if k, ok := b.cluster.Kinds().ByName(ClaimKind); ok {
		wide = append(wide, k)
	}
	b.cluster.Ahead(ctx, id, append(cluster.RightsTo("list", wide, ""), rights...)...)
}
