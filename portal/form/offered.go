package form

import (
	"net/url"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/web/views"
)

// The inputs that say in which account and region of AWS an object is.
const (
	ProviderField = "spec.providerRef.name"
	RegionField   = "spec.region"
)

// offered returns where an input asks what the AWS account has for it; nil if an account has nothing of that sort.
// Values that other inputs have by now go along; those of inputs that are there as well are read when it asks.
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
