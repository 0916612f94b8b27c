package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// sqsQueue describes the kind SQSQueue.
var sqsQueue = v1alpha1.CatalogEntrySpec{
	Definition: ours("sqsqueues"), Title: "Message queue", Icon: "queue",
	Form: v1alpha1.CatalogForm{
		First: fields(
			"providerRef queueName fifoQueue visibilityTimeout messageRetentionPeriod allowFrom",
			"deadLetterQueue deletionPolicy",
		),
		Order: fields(
			"targetRef targetArn maxReceiveCount delaySeconds receiveMessageWaitTimeSeconds",
			"maximumMessageSize contentBasedDeduplication deduplicationScope fifoThroughputLimit",
			"redriveAllowPolicy redrivePermission sourceQueueRefs sourceQueueArns allowFrom topicRef",
			"bucketRef arn account policy sqsManagedSseEnabled kmsMasterKeyId",
			"kmsDataKeyReusePeriodSeconds tags region adoptionPolicy managementPolicy",
		),
		Unique: fields("queueName"),
	},
	References: []v1alpha1.CatalogReference{
		{Field: "deadLetterQueue.targetRef.name", To: name("sqsqueues")},
		{Field: "allowFrom[].topicRef.name", To: name("snstopics"), Optional: true},
		{Field: "allowFrom[].bucketRef.name", To: name("s3buckets"), Optional: true},
		{Field: "redriveAllowPolicy.sourceQueueRefs[].name", To: name("sqsqueues"), Optional: true},
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.queueURL",
		Sentence: []v1alpha1.CatalogClause{
			clause(phrase("named {queueName}"), phrase("with a name that Portico picks")),
			clause(phrase("in strict order (FIFO)", is("fifoQueue", "true")), phrase("in no strict order")),
			clause(phrase("with messages kept for {messageRetentionPeriod}")),
			clause(phrase("with a dead-letter queue", set("deadLetterQueue"))),
			clause(
				observed,
				retained,
				orphaned,
				phrase("deleted with its messages when you delete it here"),
			),
		},
	},
	Changes: []v1alpha1.CatalogChange{
		{
			Fields: fields("messageRetentionPeriod"),
			Effect: "Messages that are older are deleted, those that wait now, too.",
		},
		decidesDeletion("deletionPolicy"),
	},
	Deletion: v1alpha1.CatalogDeletion{
		Loss:     "The messages in it are lost. This cannot be undone.",
		Editable: words("deletionPolicy managementPolicy"),
	},
}
