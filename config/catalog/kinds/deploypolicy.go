package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// deployPolicy describes the kind DeployPolicy.
var deployPolicy = v1alpha1.CatalogEntrySpec{
	Definition: ours("deploypolicies"), Title: "Deploy policy", Icon: "team",
	Writers: v1alpha1.WritersAdmins,
	Form: v1alpha1.CatalogForm{
		First: fields("issuers"),
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".spec.issuers[*].name",
	},
	Deletion: v1alpha1.CatalogDeletion{
		Effect: "No pipeline can exchange a token any more, and those that run lose their rights within a " +
			"minute. Deployers of Teams stay, and say so.",
	},
}
