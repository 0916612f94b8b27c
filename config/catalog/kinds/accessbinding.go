package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// accessBinding describes the kind AccessBinding.
var accessBinding = v1alpha1.CatalogEntrySpec{
	Definition: ours("accessbindings"), Title: "Permission", Icon: "lock",
	Form: v1alpha1.CatalogForm{
		First: fields("providerRef serviceAccountName resources"),
		Order: fields("kind name access"),
	},
	References: []v1alpha1.CatalogReference{
		{Field: "resources[].name", KindField: "kind"},
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.roleARN",
		Sentence: []v1alpha1.CatalogClause{
			clause(phrase("rights in AWS for Pods of the ServiceAccount {serviceAccountName}")),
		},
		Steps: steps("ResourcesReady RoleReady AssociationReady? ServiceAccountReady?"),
	},
	Deletion: v1alpha1.CatalogDeletion{
		Effect: "The Pods of the ServiceAccount lose their rights in AWS, within hours at the latest: " +
			"credentials that they hold live on until they end. The resources stay.",
	},
}
