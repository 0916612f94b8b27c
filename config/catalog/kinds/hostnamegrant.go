package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// hostnameGrant describes the kind HostnameGrant.
var hostnameGrant = v1alpha1.CatalogEntrySpec{
	Definition: ours("hostnamegrants"), Title: "Hostname grant", Icon: "hostname",
	Writers: v1alpha1.WritersAdmins,
	Form: v1alpha1.CatalogForm{
		First: fields("suffixes wildcards zones visibilities environments maxHostnames"),
		Order: fields("maxRules maxTargetGroups gatewayClasses"),
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".spec.suffixes",
	},
	Deletion: v1alpha1.CatalogDeletion{
		Effect: "The namespace can ask for no new hostnames, and new routes with hostnames are refused. " +
			"Hostnames that it has stay, and say that they are not granted any more.",
	},
}
