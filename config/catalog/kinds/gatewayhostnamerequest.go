package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// gatewayHostnameRequest describes the kind GatewayHostnameRequest.
var gatewayHostnameRequest = v1alpha1.CatalogEntrySpec{
	Definition: ours("gatewayhostnamerequests"), Title: "Hostname", Icon: "hostname",
	Form: v1alpha1.CatalogForm{
		First:  fields("providerRef hostname zoneId environment visibility"),
		Order:  fields("validationZoneId gatewayClass"),
		Unique: fields("hostname"),
		Offers: []v1alpha1.CatalogOffer{
			{Field: "validationZoneId"},
			{Field: "zoneId"},
		},
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.url",
		Sentence: []v1alpha1.CatalogClause{
			clause(phrase("{hostname}")),
			clause(
				phrase("reachable inside your network only", is("visibility", "internal")),
				phrase("reachable from the internet"),
			),
			clause(phrase("for the environment {environment}")),
			clause(phrase("in the hosted zone {zoneId}")),
		},
		Steps: steps("Claimed CertificateRequested DnsValidated CertificateIssued ListenerAttached DnsAliasReady"),
	},
	Deletion: v1alpha1.CatalogDeletion{
		Effect: "The hostname stops working: Portico deletes its DNS records first, then its place on the load " +
			"balancer, then its certificate. After that another team can request the name.",
	},
}
