package cluster

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/hostnames"
	"github.com/portico-platform/portico/portal/cluster/rights"
	"github.com/portico-platform/portico/portal/operator"
)

// longestOfferPath is approximately the longest request path that the operator accepts.
const longestOfferPath = 2000

// Offers returns the values that an AWS account has for a field of a request, to a caller who can create or change
// objects of the kind in the namespace; others get a *failure.ForbiddenError. Hosted zones are restricted to those that
// the team's grant allows.
func (o *operatorPart) Offers(ctx context.Context, id auth.Identity, k catalog.Kind, q operatorapi.OfferQuery) (
	operator.Offers, error,
) {
	may, err := o.rights.Can(ctx, id, "update", k, q.Namespace)
	if err == nil && !may {
		err = o.rights.RequireRight(ctx, id, rights.To("create", k, q.Namespace))
	}
	if err != nil {
		return operator.Offers{}, err
	}
	q.Kind = k.Name
	if len(validation.IsDNS1123Subdomain(q.Provider)) > 0 || len(q.Path()) > longestOfferPath {
		return operator.Offers{}, nil // no resource can have that name
	}
	offers := o.operator.Offers(ctx, q)
	if k.ID() != hostnames.RequestKind {
		return offers, nil
	}
	grant, err := o.hostnames.Grant(ctx, id, q.Namespace)
	if err != nil {
		return operator.Offers{}, err
	}
	allowed := v1alpha1.HostnameGrantSpec{}
	if grant != nil {
		allowed = *grant
	}
	if q.Field != "zoneId" { // a grant restricts where hostnames are, and not where certificates are validated
		allowed.Zones = nil
	}
	offers.Items = slices.DeleteFunc(slices.Clone(offers.Items), func(o operatorapi.Offer) bool {
		return !hostnames.Usable(allowed, o.Value, o.Facts[operatorapi.FactDomain])
	})
	return offers, nil
}
