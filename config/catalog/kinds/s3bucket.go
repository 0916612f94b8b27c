package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// s3Bucket describes the kind S3Bucket.
var s3Bucket = v1alpha1.CatalogEntrySpec{
	Definition: ours("s3buckets"), Title: "Bucket", Icon: "bucket",
	Form: v1alpha1.CatalogForm{
		First: fields("providerRef bucketName versioning encryption deletionPolicy"),
		Order: fields(
			"algorithm kmsKeyID bucketKeyEnabled forceDestroy tags requireTLS policy notifications",
			"queueRef topicRef name events lifecycleRules id prefix enabled expirationDays transitions",
			"storageClass days noncurrentVersionExpirationDays noncurrentVersionTransitions",
			"abortIncompleteMultipartUploadDays expiredObjectDeleteMarker corsRules allowedOrigins",
			"allowedMethods allowedHeaders exposeHeaders maxAgeSeconds publicAccessBlock region",
			"adoptionPolicy managementPolicy",
		),
		Unique: fields("bucketName"),
	},
	References: []v1alpha1.CatalogReference{
		{Field: "notifications[].queueRef.name", To: name("sqsqueues")},
		{Field: "notifications[].topicRef.name", To: name("snstopics")},
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.bucketName",
		Sentence: []v1alpha1.CatalogClause{
			clause(phrase("named {bucketName}"), phrase("with a name that Portico picks")),
			clause(
				phrase("with old versions of objects kept", is("versioning", "Enabled")),
				phrase("without old versions of objects", unset("versioning"), made()),
			),
			clause(phrase("closed to the public", unset("publicAccessBlock"), made())),
			clause(
				observed,
				retained,
				orphaned,
				phrase("deleted with all objects in it when you delete it here", is("forceDestroy", "true")),
				phrase("deleted when you delete it here, unless it has objects"),
			),
		},
	},
	Changes: []v1alpha1.CatalogChange{
		{
			Fields: fields("encryption"),
			Effect: "It holds for new objects; those that there are stay as they are.",
		},
		{
			Fields: fields("lifecycleRules"),
			Effect: "S3 applies the rules to what is stored already, too: objects that they cover are moved or " +
				"deleted, usually within two days.",
		},
		decidesDeletion("deletionPolicy"),
		decidesDeletion("forceDestroy"),
	},
	Deletion: v1alpha1.CatalogDeletion{
		Confirmed: true,
		Deleted:   "deleted from AWS, if empty",
		Effect: "If anything is stored in it, it is not deleted: Portico stops, and the page of the resource " +
			"says what to do.",
		LossyField: "forceDestroy",
		Loss:       "All data is deleted, every version of every object: forceDestroy is set. This cannot be undone.",
		Editable:   words("deletionPolicy forceDestroy managementPolicy"),
	},
}
