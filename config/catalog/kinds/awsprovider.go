package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// awsProvider describes the kind AWSProvider.
var awsProvider = v1alpha1.CatalogEntrySpec{
	Definition: ours("awsproviders"), Title: "AWS account", Icon: "account",
	Form: v1alpha1.CatalogForm{
		First: fields("region allowedNamespaces allowedRegions roleARN assumeRoleARN externalID"),
		Order: fields(
			"accountID assumeRoleChain accessKeyIDRef secretAccessKeyRef sessionTokenRef name key",
			"allowedSubnets allowedSubnetGroups allowedSecurityGroups allowedKeyPairs",
			"allowedParameterGroups allowedInstanceProfiles allowedImages allowedKMSKeys",
			"allowedDeadLetterQueues defaultTags enforcedTags forbiddenTagKeys workloadIdentity mode",
			"clusterName oidcProviderARN boundaryARN maxPerNamespace endpoint endpoints s3 sqs sns sts",
		),
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.accountID",
	},
	Deletion: v1alpha1.CatalogDeletion{
		Editable: words("*"),
	},
}
