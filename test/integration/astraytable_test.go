//go:build integration

package integration

// wrong is a reference that leads nowhere.
type wrong struct {
	kind, path string // of the spec, as its schema has it
	spec       string // what leads nowhere, as JSON over a spec with nothing but what is required
	reason     string // of Ready for as long as it leads nowhere
	edited     bool   // a Ready object can be edited into it, and is deleted then too
}

const (
	noKey   = "arn:aws:kms:eu-west-1:123456789012:key/00000000-0000-0000-0000-000000000000"
	noQueue = "arn:aws:sqs:eu-west-1:123456789012:nowhere"
	noRole  = "arn:aws:iam::123456789012:role/nobody"
)

// astray is every reference of every kind, missing and mistyped.
var astray = []wrong{
	{"S3Bucket", "providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "ProviderNotFound", false},
	{"S3Bucket", "region", `{"region":"eu-nowhere-7"}`, "RegionNotAllowed", false},
	{"S3Bucket", "encryption.kmsKeyID", `{"encryption":{"algorithm":"aws:kms","kmsKeyID":"` + noKey + `"}}`, "ReferenceNotAllowed", true},
	{"S3Bucket", "encryption.kmsKeyID", `{"encryption":{"algorithm":"aws:kms","kmsKeyID":"alias/nowhere"}}`, "ReferenceNotAllowed", true},

	{"SQSQueue", "providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "ProviderNotFound", false},
	{"SQSQueue", "region", `{"region":"eu-nowhere-7"}`, "RegionNotAllowed", false},
	{"SQSQueue", "kmsMasterKeyId", `{"kmsMasterKeyId":"` + noKey + `"}`, "ReferenceNotAllowed", true},
	{"SQSQueue", "kmsMasterKeyId", `{"kmsMasterKeyId":"alias/nowhere"}`, "ReferenceNotAllowed", true},
	{"SQSQueue", "deadLetterQueue.targetRef.name", `{"deadLetterQueue":{"maxReceiveCount":3,"targetRef":{"name":"nowhere"}}}`, "WaitingForDeadLetterQueue", true},
	{"SQSQueue", "deadLetterQueue.targetArn", `{"deadLetterQueue":{"maxReceiveCount":3,"targetArn":"` + noQueue + `"}}`, "ReferenceNotAllowed", true},
	{"SQSQueue", "redriveAllowPolicy.sourceQueueArns[]", `{"redriveAllowPolicy":{"redrivePermission":"byQueue","sourceQueueArns":["` + noQueue + `"]}}`, "InSync", true},

	{"SNSTopic", "providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "ProviderNotFound", false},
	{"SNSTopic", "region", `{"region":"eu-nowhere-7"}`, "RegionNotAllowed", false},
	{"SNSTopic", "kmsMasterKeyId", `{"kmsMasterKeyId":"` + noKey + `"}`, "ReferenceNotAllowed", true},
	{"SNSTopic", "subscriptions[].queueRef.name", `{"subscriptions":[{"queueRef":{"name":"nowhere"}}]}`, "WaitingForQueues", true},

	{"RDSInstance", "providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "ProviderNotFound", false},
	{"RDSInstance", "region", `{"region":"eu-nowhere-7"}`, "RegionNotAllowed", false},
	{"RDSInstance", "dbParameterGroupName", `{"dbParameterGroupName":"nowhere"}`, "InvalidSpec", true},
	{"RDSInstance", "dbSubnetGroupName", `{"dbSubnetGroupName":"nowhere"}`, "ReferenceNotAllowed", false},
	{"RDSInstance", "kmsKeyID", `{"kmsKeyID":"` + noKey + `"}`, "ReferenceNotAllowed", false},
	{"RDSInstance", "masterUserSecretKmsKeyID", `{"manageMasterUserPassword":true,"masterUserSecretKmsKeyID":"alias/nowhere"}`, "ReferenceNotAllowed", false},
	{"RDSInstance", "masterUserPasswordSecretRef.name", `{"masterUserPasswordSecretRef":{"name":"nowhere","key":"password"}}`, "SecretNotFound", true},
	{"RDSInstance", "masterUserPasswordSecretRef.key", `{"masterUserPasswordSecretRef":{"name":"there","key":"nowhere"}}`, "SecretKeyNotFound", true},
	{"RDSInstance", "restoreFrom.snapshotIdentifier", `{"restoreFrom":{"snapshotIdentifier":"nowhere"}}`, "SnapshotNotFound", false},
	{"RDSInstance", "vpcSecurityGroupIDs[]", `{"vpcSecurityGroupIDs":["sg-0123456789abcdef0"]}`, "ReferenceNotAllowed", true},

	{"EC2Instance", "providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "ProviderNotFound", false},
	{"EC2Instance", "region", `{"region":"eu-nowhere-7"}`, "RegionNotAllowed", false},
	{"EC2Instance", "imageID", `{"imageID":"ami-0123456789abcdef0"}`, "InvalidSpec", false},
	{"EC2Instance", "imageSSMParameter", `{"imageID":"","imageSSMParameter":"/nowhere"}`, "ImageParameterNotFound", false},
	{"EC2Instance", "subnetID", `{"subnetID":"subnet-0123456789abcdef0"}`, "ReferenceNotAllowed", false},
	{"EC2Instance", "securityGroupIDs[]", `{"securityGroupIDs":["sg-0123456789abcdef0"]}`, "ReferenceNotAllowed", true},
	{"EC2Instance", "keyName", `{"keyName":"nowhere"}`, "InvalidSpec", false},
	{"EC2Instance", "iamInstanceProfile", `{"iamInstanceProfile":"nowhere"}`, "InvalidSpec", true},
	{"EC2Instance", "blockDeviceMappings[].kmsKeyID", `{"blockDeviceMappings":[{"deviceName":"/dev/sdf","volumeSize":1,"kmsKeyID":"alias/nowhere"}]}`, "ReferenceNotAllowed", false},
	{"EC2Instance", "blockDeviceMappings[].snapshotID", `{"blockDeviceMappings":[{"deviceName":"/dev/sdf","snapshotID":"snap-0123456789abcdef0"}]}`, "InvalidSpec", false},
	{"EC2Instance", "userDataFrom.secretKeyRef.name", `{"userDataFrom":{"secretKeyRef":{"name":"nowhere","key":"script"}}}`, "SecretNotFound", false},
	{"EC2Instance", "userDataFrom.secretKeyRef.key", `{"userDataFrom":{"secretKeyRef":{"name":"there","key":"nowhere"}}}`, "SecretKeyNotFound", false},
	{"EC2Instance", "userDataFrom.configMapKeyRef.name", `{"userDataFrom":{"configMapKeyRef":{"name":"nowhere","key":"script"}}}`, "ConfigMapNotFound", false},
	{"EC2Instance", "userDataFrom.configMapKeyRef.key", `{"userDataFrom":{"configMapKeyRef":{"name":"there","key":"nowhere"}}}`, "ConfigMapKeyNotFound", false},

	{"WebApp", "bindings[].name", `{"bindings":[{"kind":"S3Bucket","name":"nowhere"}]}`, "BindingNotFound", true},
	{"WebApp", "env[].valueFrom.secretKeyRef.name", `{"image":"registry.example.com/shop/broken-secret:1","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"nowhere","key":"a"}}}]}`, "CreateContainerConfigError", true},
	{"WebApp", "env[].valueFrom.secretKeyRef.key", `{"image":"registry.example.com/shop/broken-secret:1","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"there","key":"nowhere"}}}]}`, "CreateContainerConfigError", true},
	{"WebApp", "env[].valueFrom.configMapKeyRef.name", `{"image":"registry.example.com/shop/broken-configmap:1","env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"nowhere","key":"a"}}}]}`, "CreateContainerConfigError", true},
	{"WebApp", "env[].valueFrom.configMapKeyRef.key", `{"image":"registry.example.com/shop/broken-configmap:1","env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"there","key":"nowhere"}}}]}`, "CreateContainerConfigError", true},
	{"WebApp", "envFrom[].secretRef.name", `{"image":"registry.example.com/shop/broken-secret:1","envFrom":[{"secretRef":{"name":"nowhere"}}]}`, "CreateContainerConfigError", true},
	{"WebApp", "envFrom[].configMapRef.name", `{"image":"registry.example.com/shop/broken-configmap:1","envFrom":[{"configMapRef":{"name":"nowhere"}}]}`, "CreateContainerConfigError", true},
	{"WebApp", "imagePullSecrets[].name", `{"image":"registry.example.com/shop/broken-pull:1","imagePullSecrets":[{"name":"nowhere"}]}`, "ImagePullBackOff", true},
	{"WebApp", "expose.hostname", `{"expose":{"hostname":"nowhere"}}`, "HostnameNotFound", true},
	{"WebApp", "image", `{"image":"nowhere.invalid/shop/broken-pull:1"}`, "ImagePullBackOff", true},
	{"WebApp", "identity.awsRoleARN", `{"identity":{"awsRoleARN":"` + noRole + `"}}`, "InSync", true},

	{"GatewayHostnameRequest", "providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "ProviderNotFound", false},
	{"GatewayHostnameRequest", "gatewayClass", `{"gatewayClass":"nowhere"}`, "ClassNotFound", false},
	{"GatewayHostnameRequest", "zoneId", `{"zoneId":"Z0123456789ABCDEFGHIJ"}`, "ZoneNotFound", false},
	{"GatewayHostnameRequest", "validationZoneId", `{"validationZoneId":"Z0123456789ABCDEFGHIJ"}`, "InvalidSpec", false},
	{"GatewayHostnameRequest", "hostname", `{"hostname":"shop.nobodys.example"}`, "NotGranted", false}, // no grant for it

	{"AWSProvider", "accessKeyIDRef.name", `{"accessKeyIDRef":{"name":"nowhere"}}`, "SecretNotFound", true},
	{"AWSProvider", "accessKeyIDRef.key", `{"accessKeyIDRef":{"key":"nowhere"}}`, "SecretKeyNotFound", true},
	{"AWSProvider", "secretAccessKeyRef.name", `{"secretAccessKeyRef":{"name":"nowhere"}}`, "SecretNotFound", true},
	{"AWSProvider", "secretAccessKeyRef.key", `{"secretAccessKeyRef":{"key":"nowhere"}}`, "SecretKeyNotFound", true},
	{"AWSProvider", "sessionTokenRef.name", `{"sessionTokenRef":{"name":"nowhere","key":"token"}}`, "SecretNotFound", true},
	{"AWSProvider", "sessionTokenRef.key", `{"sessionTokenRef":{"name":"there","key":"nowhere"}}`, "SecretKeyNotFound", true},
	{"AWSProvider", "roleARN", `{"accessKeyIDRef":null,"secretAccessKeyRef":null,"roleARN":"` + noRole + `"}`, "NoWebIdentity", true},
	{"AWSProvider", "assumeRoleARN", `{"accountID":"240000000001","assumeRoleARN":"` + noRole + `"}`, "AccountMismatch", true},
	{"AWSProvider", "assumeRoleChain[].roleARN", `{"accountID":"240000000001","assumeRoleARN":"` + noRole + `","assumeRoleChain":[{"roleARN":"` + noRole + `"}]}`, "AccountMismatch", true},
	{"AWSProvider", "endpoint", `{"endpoint":"https://nowhere.invalid"}`, "EndpointNotAllowed", true},
	{"AWSProvider", "accountID", `{"accountID":"999999999999"}`, "AccountMismatch", false},

	{"PoolGateway", "gatewayClass", `{"gatewayClass":"nowhere"}`, "", false},
	{"PoolGateway", "providerRef.name", `{"providerRef":{"name":"nowhere"}}`, "", false},
	{"PoolGateway", "accountID", `{"accountID":"999999999999"}`, "", false},
	{"PoolGateway", "region", `{"region":"eu-nowhere-7"}`, "", false},

	{"DomainClaim", "gateway", `{"gateway":"nowhere"}`, "HolderGone", false},
	{"DomainClaim", "holder.name", `{"holder":{"name":"nowhere"}}`, "HolderGone", false},
	{"DomainClaim", "holder.namespace", `{"holder":{"namespace":"nowhere"}}`, "HolderGone", false},
	{"DomainClaim", "holder.uid", `{"holder":{"uid":"nowhere"}}`, "HolderGone", false},

	{"HostnameGrant", "gatewayClasses[]", `{"gatewayClasses":["nowhere"]}`, "InSync", true},
	{"HostnameGrant", "zones[]", `{"zones":["Z0123456789ABCDEFGHIJ"]}`, "InSync", true},
}

// plain are the texts that name nothing beside the object itself, or what others may name and need not be there.
var plain = map[string][]string{
	"S3Bucket": {
		"bucketName", "tags{}", "corsRules[].allowedHeaders[]", "corsRules[].allowedOrigins[]", "corsRules[].exposeHeaders[]",
		"lifecycleRules[].id", "lifecycleRules[].prefix",
	},
	"SNSTopic": {"topicName", "displayName", "policy", "subscriptions[].filterPolicy", "tags{}"},
	"SQSQueue": {"queueName", "tags{}"},
	"RDSInstance": {
		"dbInstanceIdentifier", "dbInstanceClass", "dbName", "tags{}", "engineVersion", "masterUsername", "finalSnapshotIdentifier",
		"enabledCloudwatchLogsExports[]", "preferredBackupWindow", "preferredMaintenanceWindow",
	},
	"EC2Instance": {"instanceName", "instanceType", "tags{}", "userData", "blockDeviceMappings[].deviceName"},
	"WebApp": {
		"args[]", "command[]", "bindings[].prefix", "env[].name", "env[].value", "envFrom[].prefix", "probes.liveness.path",
		"probes.readiness.path", "probes.startup.path",
	},
	"AWSProvider": {
		"region", "externalID", "assumeRoleChain[].externalID", "defaultTags{}", "enforcedTags{}", "forbiddenTagKeys[]", "allowedRegions[]",
		"allowedDeadLetterQueues[]", "allowedImages[]", "allowedInstanceProfiles[]", "allowedKMSKeys[]", "allowedSecurityGroups[]", "allowedSubnetGroups[]", "allowedSubnets[]",
		"allowedNamespaces.matchExpressions[].key", "allowedNamespaces.matchExpressions[].operator", "allowedNamespaces.matchExpressions[].values[]",
		"allowedNamespaces.matchLabels{}",
	},
	"DomainClaim":   {"hostname"},
	"HostnameGrant": {"suffixes[]"},
}
