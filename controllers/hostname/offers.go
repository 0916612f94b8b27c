package hostname

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"

	"github.com/portico-platform/portico/api/dnsname"
	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/offers"
)

// Offers returns the choices in an AWS account for the fields of a GatewayHostnameRequest.
var Offers = offers.Fields{
	"zoneId":           {List: hostedZones},
	"validationZoneId": {List: publicZones},
}

// hostedZones lists the hosted zones of the account, by domain.
func hostedZones(ctx context.Context, s *cloud.Session, _ operatorapi.OfferQuery) ([]offers.Item, error) {
	var items []offers.Item
	pages := route53.NewListHostedZonesPaginator(route53.NewFromConfig(s.Config), &route53.ListHostedZonesInput{})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for i := range out.HostedZones {
			z := &out.HostedZones[i]
			domain := dnsname.Canonical(aws.ToString(z.Name))
			o := operatorapi.Offer{
				Value: strings.TrimPrefix(aws.ToString(z.Id), "/hostedzone/"), Label: domain,
				Facts: map[string]string{operatorapi.FactDomain: domain},
			}
			if z.Config != nil && z.Config.PrivateZone {
				o.Label, o.Facts[operatorapi.FactPrivate] = domain+", private", "true"
			}
			items = append(items, offers.Item{Offer: o})
		}
	}
	slices.SortFunc(items, func(a, b offers.Item) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Value, b.Value))
	})
	return items, nil
}

// publicZones lists the public hosted zones: certificates are validated in public DNS.
func publicZones(ctx context.Context, s *cloud.Session, q operatorapi.OfferQuery) ([]offers.Item, error) {
	items, err := hostedZones(ctx, s, q)
	return slices.DeleteFunc(items, func(i offers.Item) bool { return i.Facts[operatorapi.FactPrivate] != "" }), err
}
