package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// snsTopic describes the kind SNSTopic.
var snsTopic = v1alpha1.CatalogEntrySpec{
	Definition: ours("snstopics"), Title: "Topic", Icon: "queue",
	Form: v1alpha1.CatalogForm{
		First: fields("providerRef topicName fifoTopic subscriptions deletionPolicy"),
		Order: fields(
			"queueRef https email name rawMessageDelivery filterPolicy filterPolicyScope allowFrom",
			"bucketRef topicRef arn account contentBasedDeduplication displayName kmsMasterKeyId policy",
			"tags region adoptionPolicy managementPolicy",
		),
		Unique: fields("topicName"),
	},
	References: []v1alpha1.CatalogReference{
		{Field: "subscriptions[].queueRef.name", To: name("sqsqueues")},
		{Field: "allowFrom[].bucketRef.name", To: name("s3buckets"), Optional: true},
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.arn",
		Sentence: []v1alpha1.CatalogClause{
			clause(phrase("named {topicName}"), phrase("with a name that Portico picks")),
			clause(phrase("in strict order (FIFO)", is("fifoTopic", "true")), phrase("in no strict order")),
			clause(
				observed,
				retained,
				orphaned,
				phrase("deleted when you delete it here"),
			),
		},
	},
	Changes: []v1alpha1.CatalogChange{
		decidesDeletion("deletionPolicy"),
	},
	Deletion: v1alpha1.CatalogDeletion{
		Loss:     "Publishing to it fails, and its queues get no more messages. This cannot be undone.",
		Editable: words("deletionPolicy managementPolicy"),
	},
}
