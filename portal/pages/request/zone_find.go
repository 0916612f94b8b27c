package request

import (
	"context"

	"github.com/portico-platform/portico/api/operatorapi"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/form"
)

// Messages for a missing zone when the zones could not be read.
const (
	zoneUnknown = "enter the ID of the hosted zone: Portico cannot look up the zones of the AWS account now"
	zonePending = "AWS has not answered yet which hosted zones there are: review again in a moment, or enter the " +
		"ID of one"
)

// zonePatience is the number of attempts to read zones; the operator waits a second each time.
const zonePatience = 4

// withZone sets the hosted zone of a hostname if none is entered, and returns what is wrong with an entered one.
func (p *Pages) withZone(ctx context.Context, f formRequest, d form.Draft) (form.Draft, catalog.FieldErrors, error) {
	if !d.WantsZone() {
		return d, nil, nil
	}
	all, unknown, err := p.zonesFor(ctx, f, d, "zoneId")
	if err != nil {
		return d, nil, err
	}
	if unknown != "" {
		if catalog.TextAt(d.Object, "spec", "zoneId") != "" {
			return d, nil, nil
		}
		return d, catalog.FieldErrors{{Field: form.ZoneField, Message: unknown}}, nil
	}
	var public []form.Zone
	if d.Internal() {
		if public, _, err = p.zonesFor(ctx, f, d, "validationZoneId"); err != nil {
			return d, nil, err
		}
	}
	d, wrong := d.WithZone(all, public)
	return d, wrong, nil
}

// zonesFor returns the hosted zones that can be entered in a field of the draft, or why they are unknown.
func (p *Pages) zonesFor(ctx context.Context, f formRequest, d form.Draft, field string) (
	all []form.Zone, unknown string, err error,
) {
	q := operatorapi.OfferQuery{
		Namespace: f.space.Namespace, Field: field,
		Provider: catalog.TextAt(d.Object, "spec", "providerRef", "name"),
		Region:   catalog.TextAt(d.Object, "spec", "region"),
	}
	for range zonePatience {
		answer, err := p.Cluster.Operator.Offers(ctx, f.id, f.kind, q)
		switch {
		case err != nil:
			return nil, "", err
		case answer.Pending:
			continue
		case !answer.Known || answer.Error != "":
			return nil, zoneUnknown, nil
		}
		for _, o := range answer.Items {
			all = append(all, form.Zone{
				ID: o.Value, Domain: o.Facts[operatorapi.FactDomain],
				Private: o.Facts[operatorapi.FactPrivate] != "",
			})
		}
		return all, "", nil
	}
	return nil, zonePending, nil
}
