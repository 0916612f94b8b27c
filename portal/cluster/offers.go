package cluster

import (
	"context"
	"slices"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/operator"
)

// Offers returns what an AWS account has for a field of a request, to a caller who can create or change objects of the kind in the
// namespace; others get a *ForbiddenError. Of hosted zones it is those that the team's grant allows.
func (c *Cluster) Offers(ctx context.Context, id auth.Identity, k catalog.Kind, q operatorapi.OfferQuery) (operator.Offers, error) {
	may, err := c.Can(ctx, id, "update", k, q.Namespace)
	if err == nil && !may {
		err = c.access.require(ctx, id, RightTo("create", k, q.Namespace))
	}
	if err != nil {
		return operator.Offers{}, err
	}
	q.Kind = k.Name
	offers := c.operator.Offers(ctx, q)
	if k.Name != hostnameKind {
		return offers, nil
	}
	grant, err := c.HostnameGrant(ctx, id, q.Namespace)
	if err != nil {
		return operator.Offers{}, err
	}
	offers.Items = slices.DeleteFunc(slices.Clone(offers.Items), func(o operatorapi.Offer) bool {
		return grant == nil || !usable(*grant, o.Value, o.Facts[operatorapi.FactDomain])
	})
	return offers, nil
}
