package form

import (
	"net/url"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// The inputs for the AWS account and the region of an object.
const (
	ProviderField = "spec.providerRef.name"
	RegionField   = "spec.region"
)

// offered returns the source of an input's values in the AWS account; nil if there is none. It has the current values
// of the fields on which these depend; inputs on the page are read again when the request is sent.
func (b builder) offered(f catalog.Field) *views.Offered {
	by, ok := b.kind.Offers[f.Name]
	if !ok || f.Path != "spec."+f.Name {
		return nil
	}
	o := views.Offered{By: []string{ProviderField, RegionField}}
	for _, name := range by {
		o.By = append(o.By, "spec."+name)
	}
	now := url.Values{}
	for _, name := range o.By {
		if value := b.values.Get(name); value != "" {
			now.Set(name, value)
		}
	}
	o.Href = views.OffersPath(b.Team.ID, b.kind.Plural, f.Name, now)
	return &o
}
