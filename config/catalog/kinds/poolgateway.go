package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// poolGateway describes the kind PoolGateway.
var poolGateway = v1alpha1.CatalogEntrySpec{
	Definition: ours("poolgateways"), Title: "Gateway of the pool", Icon: "hostname",
	Writers: v1alpha1.WritersPortico,
	Form: v1alpha1.CatalogForm{
		First: fields("visibility gatewayClass providerRef accountID region"),
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.loadBalancer.dnsName",
	},
	Deletion: v1alpha1.CatalogDeletion{
		Effect: "A Gateway that hostnames have a place on is not deleted before they are.",
	},
}
