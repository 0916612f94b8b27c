package request

import (
	"context"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/form"
)

// zoneUnknown is said where nobody could look.
const zoneUnknown = "enter the ID of the hosted zone: Portico cannot look up the zones of the AWS account now"

// withZone finds the hosted zone of a hostname where none is entered, and says what is wrong with one that is.
func (p *Pages) withZone(ctx context.Context, f formRequest, d form.Draft) (form.Draft, catalog.FieldErrors, error) {
	if !d.WantsZone() {
		return d, nil, nil
	}
	q := operatorapi.OfferQuery{
		Namespace: f.space.Namespace, Field: "zoneId",
		Provider: catalog.TextAt(d.Object, "spec", "providerRef", "name"), Region: catalog.TextAt(d.Object, "spec", "region"),
	}
	answer, err := p.cluster.Offers(ctx, f.id, f.kind, q)
	if err != nil {
		return d, nil, err
	}
	if !answer.Known || answer.Pending || answer.Error != "" {
		if catalog.TextAt(d.Object, "spec", "zoneId") != "" {
			return d, nil, nil
		}
		return d, catalog.FieldErrors{{Field: form.ZoneField, Message: zoneUnknown}}, nil
	}
	all := make([]form.Zone, 0, len(answer.Items))
	for _, o := range answer.Items {
		all = append(all, form.Zone{ID: o.Value, Domain: o.Facts[operatorapi.FactDomain], Private: o.Facts[operatorapi.FactPrivate] != ""})
	}
	d, wrong := d.WithZone(all)
	return d, wrong, nil
}
