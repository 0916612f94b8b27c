package kinds

import "github.com/portico-platform/portico/api/v1alpha1"

// ec2Instance describes the kind EC2Instance.
var ec2Instance = v1alpha1.CatalogEntrySpec{
	Definition: ours("ec2instances"), Title: "Virtual machine", Icon: "vm",
	Form: v1alpha1.CatalogForm{
		First: fields(
			"providerRef instanceName instanceType imageID imageSSMParameter subnetID keyName",
			"deletionPolicy",
		),
		Order: fields(
			"securityGroupIDs iamInstanceProfile userData userDataFrom secretKeyRef configMapKeyRef",
			"name key blockDeviceMappings deviceName volumeSize volumeType iops throughput encrypted",
			"kmsKeyID deleteOnTermination snapshotID state allowStop monitoring creditSpecification",
			"ebsOptimized metadataOptions httpTokens httpPutResponseHopLimit httpEndpoint",
			"disableApiTermination tags region adoptionPolicy managementPolicy",
		),
		Offers: []v1alpha1.CatalogOffer{
			{Field: "imageID"},
			{Field: "imageSSMParameter"},
			{Field: "instanceType"},
			{Field: "keyName", Complete: true},
			{Field: "securityGroupIDs", Complete: true},
			{Field: "subnetID", Complete: true},
		},
	},
	Page: v1alpha1.CatalogPage{
		Endpoint: ".status.privateIP",
		Columns:  words("State Type Image"),
		Sentence: []v1alpha1.CatalogClause{
			clause(phrase("{instanceType}")),
			clause(phrase("from the image {imageID}"), phrase("from the image that {imageSSMParameter} names")),
			clause(phrase("in the subnet {subnetID}")),
			clause(phrase("stopped", is("state", "Stopped"))),
			clause(
				observed,
				phrase("protected from deletion", is("disableApiTermination", "true")),
				retained,
				orphaned,
				phrase("stopped and kept when you delete it here", is("deletionPolicy", "Stop")),
				phrase("terminated when you delete it here"),
			),
		},
	},
	Changes: []v1alpha1.CatalogChange{
		{
			Fields: fields("instanceType ebsOptimized"),
			Effect: "The machine has to be stopped for it: with allowStop it is stopped, changed and started again, " +
				"and its public address may change. Without, the change waits until it is stopped.",
		},
		{
			Fields: fields("state"),
			Effect: "The machine is started or stopped.",
		},
		{
			Fields: fields("creditSpecification"),
			Effect: "It holds at once: unlimited bills for CPU beyond what the type earns, standard slows the " +
				"machine down.",
		},
		decidesDeletion("deletionPolicy"),
	},
	Deletion: v1alpha1.CatalogDeletion{
		Confirmed: true,
		Loss: "The machine is terminated, and every volume is deleted, unless it has deleteOnTermination " +
			"false. This cannot be undone.",
		ProtectedBy: "disableApiTermination",
		Editable:    words("deletionPolicy disableApiTermination managementPolicy"),
	},
}
