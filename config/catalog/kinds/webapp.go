package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// webApp describes the kind WebApp.
var webApp = v1alpha1.CatalogEntrySpec{
	Definition: ours("webapps"), Title: "Web app", Icon: "app",
	Form: v1alpha1.CatalogForm{
		First: fields("image replicas port env bindings expose"),
		Order: fields(
			"value valueFrom secretRef configMapRef secretKeyRef configMapKeyRef kind name access key",
			"prefix files folder onChange resources requests limits cpu memory autoscaling min max",
			"targetCPU probes readiness liveness startup path periodSeconds timeoutSeconds",
			"failureThreshold envFrom command args imagePullSecrets identity",
		),
	},
	References: []v1alpha1.CatalogReference{
		{Field: "bindings[].name", KindField: "kind"},
		{Field: "expose.hostname", To: name("gatewayhostnamerequests")},
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.url",
		Sentence: []v1alpha1.CatalogClause{
			clause(phrase("{image}")),
			clause(
				phrase("with as many replicas as the load needs", set("autoscaling")),
				phrase("one replica", is("replicas", "1")),
				phrase("{replicas} replicas"),
			),
			clause(phrase("listening on port {port}")),
			clause(phrase("at a hostname of your team", set("expose")), phrase("inside the cluster only")),
		},
		Steps: steps("ServiceAccountReady ServiceReady DisruptionBudgetReady? RouteReady? BindingsReady?",
			"DeploymentReady Scaled AutoscalerReady? RolledOut Exposed?"),
	},
	Changes: []v1alpha1.CatalogChange{
		{
			Fields: fields("image port env envFrom bindings command args resources probes imagePullSecrets"),
			Effect: "The Pods are replaced, a few at a time: an old one goes when a new one serves.",
		},
		{
			Fields: fields("replicas autoscaling"),
			Effect: "Pods are added or taken away; the others go on.",
		},
		{
			Fields: fields("expose"),
			Effect: "The web app answers at another hostname, or at none.",
		},
	},
	Deletion: v1alpha1.CatalogDeletion{
		Effect: "The web app stops: Portico deletes its Pods, its Service and everything else that it created " +
			"for it in the cluster. The image and the resources that it is bound to stay.",
	},
}
