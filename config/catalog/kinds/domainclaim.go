package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// domainClaim describes the kind DomainClaim.
var domainClaim = v1alpha1.CatalogEntrySpec{
	Definition: ours("domainclaims"), Title: "Claim of a hostname", Icon: "hostname",
	Writers: v1alpha1.WritersPortico,
	Form: v1alpha1.CatalogForm{
		First: fields("hostname visibility gateway holder"),
		Order: fields("namespace name uid"),
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".spec.hostname",
	},
}
