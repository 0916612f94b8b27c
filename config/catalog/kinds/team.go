package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// team describes the kind Team.
var team = v1alpha1.CatalogEntrySpec{
	Definition: ours("teams"), Title: "Team", Icon: "team",
	Writers: v1alpha1.WritersAdmins,
	Form: v1alpha1.CatalogForm{
		First: fields(
			"title contact namespaces members providers quotas hostnames defaults guardrails isolation",
			"secrets deployers suspended",
		),
		Order: fields(
			"group user role name regions environment confirmDeletion provider tags deletionPolicy",
			"issuer repository repositoryID owner ownerID branch tag events namespaces kinds resources",
			"kind max cpu memory storage pods",
		),
		Sections: []v1alpha1.CatalogSection{
			{Title: "Who", Fields: fields("title contact members")},
			{Title: "Where", Fields: fields("namespaces")},
			{Title: "AWS accounts", Fields: fields("providers defaults")},
			{Title: "Limits", Fields: fields("quotas")},
			{Title: "Hostnames", Fields: fields("hostnames"), Folded: true},
			{Title: "Guardrails", Fields: fields("guardrails"), Folded: true},
			{Title: "Isolation", Fields: fields("isolation"), Folded: true},
			{Title: "Secrets", Fields: fields("secrets"), Folded: true},
			{Title: "Deployers", Fields: fields("deployers"), Folded: true},
		},
		People: []v1alpha1.FieldPath{"members[].group", "members[].user"},
	},
	References: []v1alpha1.CatalogReference{
		{Field: "providers[].name", To: name("awsproviders")},
		{Field: "defaults.provider", To: name("awsproviders")},
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".spec.title",
		Steps:    steps("Namespaces Access Quotas Isolation Hostnames? Providers? Deployers?"),
	},
	Deletion: v1alpha1.CatalogDeletion{
		Effect: "Its members lose their rights, and its namespaces stay, with everything that is in them. A team " +
			"that has resources is not deleted.",
	},
}
