package cluster

import (
	"context"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/operator"
)

// Features are the parts of the operator that are on or off, for callers who look after the platform.
func (c *Cluster) Features(ctx context.Context, id auth.Identity) (operator.Features, error) {
	if err := c.requirePlatform(ctx, id); err != nil {
		return operator.Features{}, err
	}
	return c.operator.Features(ctx), nil
}

// Controllers is what the operator's controllers do, for callers who look after the platform.
func (c *Cluster) Controllers(ctx context.Context, id auth.Identity) (operator.Work, error) {
	if err := c.requirePlatform(ctx, id); err != nil {
		return operator.Work{}, err
	}
	return c.operator.Work(ctx), nil
}

// CallHistory is what the operator asked AWS in the last hour, as this replica of the portal has seen it, for callers who look
// after the platform.
func (c *Cluster) CallHistory(ctx context.Context, id auth.Identity) ([]operator.Span, error) {
	if err := c.requirePlatform(ctx, id); err != nil {
		return nil, err
	}
	return c.operator.History(), nil
}

// requirePlatform is nil for callers who may list claims, which belong to no team: those who look after the platform.
func (c *Cluster) requirePlatform(ctx context.Context, id auth.Identity) error {
	kind, err := c.kind(claimKind)
	if err != nil {
		return err
	}
	return c.access.require(ctx, id, RightTo("list", kind, ""))
}
