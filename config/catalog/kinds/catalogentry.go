package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// catalogEntry describes the kind CatalogEntry.
var catalogEntry = v1alpha1.CatalogEntrySpec{
	Definition: ours("catalogentries"), Title: "Catalog entry", Icon: "catalog",
	Writers: v1alpha1.WritersAdmins,
	Form: v1alpha1.CatalogForm{
		First: fields(
			"definition title icon description controller verbs confirmed writers hidden",
			"form",
		),
		Order: fields(
			"group resource version name documentation first order sections begins unique people offers references",
			"field to kindField optional page endpoint columns sentence steps states conditions ready failed message",
			"changes fields effect lower deletion",
		),
	},
	Page: v1alpha1.CatalogPage{Endpoint: ".spec.title"},
	Deletion: v1alpha1.CatalogDeletion{
		Effect: "The kind is no longer offered. Its objects stay, and so do the rights that people have to them.",
	},
}
