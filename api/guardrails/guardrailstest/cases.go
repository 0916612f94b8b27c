// Package guardrailstest has objects and rules, and what is to be refused: the functions and the admission policies are
// held to the same.
package guardrailstest

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Case is an object of a kind under some rules.
type Case struct {
	Kind  string
	Spec  string // JSON, beside what the kind requires
	Rules string // JSON of spec.guardrails
	// Refused are the rules that it breaks.
	Refused []string
	// Says is part of the first refusal.
	Says string
	// Team says that only Teams have such rules.
	Team bool
}

func (c Case) String() string { return fmt.Sprintf("%s %s by %s", c.Kind, c.Spec, c.Rules) }

// Object returns the spec of the case's object. It may be changed.
func (c Case) Object(provider string) map[string]any {
	spec := map[string]any{}
	if c.Kind != v1alpha1.KindWebApp {
		spec["providerRef"] = map[string]any{"name": provider}
	}
	maps.Copy(spec, parse(required[c.Kind]))
	maps.Copy(spec, parse(c.Spec))
	return spec
}

// Limits returns the rules of the case.
func (c Case) Limits() map[string]any { return parse(c.Rules) }

func parse(text string) map[string]any {
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return integers(v).(map[string]any)
}

// integers makes the numbers what the decoders of Kubernetes make of them.
func integers(v any) any {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case map[string]any:
		for k := range v {
			v[k] = integers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	}
	return v
}

var required = map[string]string{
	v1alpha1.KindEC2Instance: `{"instanceName": "a", "instanceType": "t3.micro", "imageID": "ami-0123456789abcdef0"}`,
	v1alpha1.KindRDSInstance: `{"engine": "postgres", "dbInstanceClass": "db.t4g.micro", "allocatedStorage": 20, "masterUsername": "owner"}`,
	v1alpha1.KindS3Bucket:    `{}`,
	v1alpha1.KindSQSQueue:    `{}`,
	v1alpha1.KindSNSTopic:    `{}`,
	v1alpha1.KindWebApp:      `{"image": "nginx:1.27"}`,
}

const (
	ec2 = v1alpha1.KindEC2Instance
	rds = v1alpha1.KindRDSInstance
	s3  = v1alpha1.KindS3Bucket
	sqs = v1alpha1.KindSQSQueue
	sns = v1alpha1.KindSNSTopic
	app = v1alpha1.KindWebApp
)

const (
	types    = `{"allowedInstanceTypes": ["t3.*", "*.nano", "m7g.large"]}`
	classes  = `{"allowedDatabaseClasses": ["db.t4g.*", "db.r7g.large"]}`
	engines  = `{"allowedEngines": [{"engine": "postgres", "versions": ["16.*", "17.2"]}, {"engine": "mysql"}]}`
	volumes  = `{"maxVolumeSizeGiB": 100}`
	storage  = `{"maxDatabaseStorageGiB": 100}`
	private  = `{"requirePrivateBuckets": true}`
	hidden   = `{"requirePrivateDatabases": true}`
	standard = `{"forbidExtendedSupport": true}`
	encrypt  = `{"requireEncryption": true}`
	imds     = `{"requireIMDSv2": true}`
	images   = `{"allowedImageRegistries": ["registry.example.com/*", "docker.io/library/*", "ghcr.io/shop/web"]}`
	subnets  = `{"allowedSubnets": ["subnet-1", "subnet-2"]}`
	groups   = `{"allowedSecurityGroups": ["sg-1", "sg-2"]}`
	networks = `{"allowedSubnetGroups": ["Inner"]}`
	amis     = `{"allowedImages": ["ami-0123456789abcdef0"]}`
	lets     = `{"allowedSenders": ["arn:aws:sns:eu-west-1:230000000001:*"]}`
	mails    = `{"allowedSubscribers": ["*@example.com", "https://hooks.example.com/*"]}`
	dead     = `{"allowedDeadLetterQueues": ["arn:aws:sqs:eu-west-1:230000000001:dead"]}`
	many     = `{"allowedInstanceTypes": ["a1.a", "a1.b", "a1.c", "a1.d", "a1.e", "a1.f", "a1.g", "a1.h", "a1.i", "a1.j", "a1.k", "a1.l"]}`
)

func broken(names ...string) []string { return names }

// Cases are all of them.
var Cases = []Case{
	{Kind: ec2, Spec: `{"instanceType": "x1.32xlarge"}`, Rules: `{}`},
	{Kind: ec2, Spec: `{"instanceType": "t3.large"}`, Rules: types},
	{Kind: ec2, Spec: `{"instanceType": "m7g.nano"}`, Rules: types},
	{Kind: ec2, Spec: `{"instanceType": "m7g.large"}`, Rules: types},
	{Kind: ec2, Spec: `{"instanceType": "m7g.xlarge"}`, Rules: types, Refused: broken("allowedInstanceTypes"), Says: "spec.instanceType: m7g.xlarge is not allowed: "},
	{
		Kind: ec2, Spec: `{"instanceType": "t3a.micro"}`, Rules: types, Refused: broken("allowedInstanceTypes"),
		Says: " allows t3.*, *.nano, m7g.large, by spec.guardrails.allowedInstanceTypes. Choose something else, or " +
			"ask a platform admin to change the rule",
	},
	{Kind: ec2, Spec: `{"instanceType": "m7g.large"}`, Rules: many, Refused: broken("allowedInstanceTypes"), Says: "a1.i, a1.j and 2 more, by "},
	{Kind: ec2, Spec: `{"instanceType": "m7g.xlarge", "managementPolicy": "Observe"}`, Rules: types},
	{Kind: ec2, Spec: `{}`, Rules: volumes},
	{Kind: ec2, Spec: `{"blockDeviceMappings": [{"deviceName": "/dev/sda", "volumeSize": 100}]}`, Rules: volumes},
	{
		Kind: ec2,
		Spec: `{"blockDeviceMappings": [{"deviceName": "/dev/sda", "volumeSize": 100}, {"deviceName": "/dev/sdb", "volumeSize": 101}, {"deviceName": "/dev/sdc"}]}`, Rules: volumes, Refused: broken("maxVolumeSizeGiB"), Says: "spec.blockDeviceMappings: volumeSize 101 of /dev/sdb, leaving out the volumeSize of /dev/sdc is not allowed: ",
	},
	{Kind: ec2, Spec: `{"blockDeviceMappings": [{"deviceName": "/dev/sda"}]}`, Rules: encrypt},
	{
		Kind: ec2, Spec: `{"blockDeviceMappings": [{"deviceName": "/dev/sda", "encrypted": false}]}`,
		Rules: encrypt, Refused: broken("requireEncryption"), Says: "encrypted false of /dev/sda is not allowed",
	},
	{Kind: ec2, Spec: `{"blockDeviceMappings": [{"deviceName": "/dev/sda", "encrypted": false}]}`, Rules: `{}`},
	{Kind: ec2, Spec: `{}`, Rules: imds},
	{Kind: ec2, Spec: `{"metadataOptions": {"httpTokens": "required"}}`, Rules: imds},
	{Kind: ec2, Spec: `{"metadataOptions": {"httpTokens": "optional"}}`, Rules: imds, Refused: broken("requireIMDSv2"), Says: "spec.metadataOptions.httpTokens: optional is not allowed"},
	{Kind: ec2, Spec: `{"metadataOptions": {"httpTokens": "optional"}}`, Rules: `{}`},
	{Kind: ec2, Spec: `{"adoptionPolicy": "Adopt"}`, Rules: imds, Refused: broken("requireIMDSv2"), Says: "leaving it out with adoptionPolicy Adopt is not allowed"},
	{Kind: ec2, Spec: `{"adoptionPolicy": "Adopt", "metadataOptions": {"httpEndpoint": "disabled"}}`, Rules: imds},
	{Kind: ec2, Spec: `{"subnetID": "subnet-1"}`, Rules: subnets, Team: true},
	{Kind: ec2, Spec: `{"subnetID": "subnet-3"}`, Rules: subnets, Team: true, Refused: broken("allowedSubnets"), Says: "allows subnet-1, subnet-2, by "},
	{Kind: ec2, Spec: `{}`, Rules: subnets, Team: true, Refused: broken("allowedSubnets"), Says: "spec.subnetID: leaving it out is not allowed"},
	{Kind: ec2, Spec: `{"securityGroupIDs": ["sg-2", "sg-1"]}`, Rules: groups, Team: true},
	{Kind: ec2, Spec: `{"securityGroupIDs": ["sg-2", "sg-3", "sg-4"]}`, Rules: groups, Team: true, Refused: broken("allowedSecurityGroups"), Says: "spec.securityGroupIDs: sg-3, sg-4 is not allowed"},
	{Kind: ec2, Spec: `{}`, Rules: groups, Team: true, Refused: broken("allowedSecurityGroups"), Says: "leaving it out is not allowed"},
	{Kind: ec2, Spec: `{}`, Rules: amis, Team: true},
	{Kind: ec2, Spec: `{"imageID": "ami-0123456789abcdef1"}`, Rules: amis, Team: true, Refused: broken("allowedImages"), Says: "spec.imageID: ami-0123456789abcdef1 is not allowed"},
	{
		Kind: ec2, Spec: `{"instanceType": "m5.large", "metadataOptions": {"httpTokens": "optional"}}`,
		Rules:   `{"allowedInstanceTypes": ["t3.*"], "requireIMDSv2": true}`,
		Refused: broken("allowedInstanceTypes", "requireIMDSv2"), Says: "spec.instanceType: ",
	},
	{Kind: rds, Spec: `{}`, Rules: classes},
	{Kind: rds, Spec: `{"dbInstanceClass": "db.r7g.large"}`, Rules: classes},
	{Kind: rds, Spec: `{"dbInstanceClass": "db.r7g.2xlarge"}`, Rules: classes, Refused: broken("allowedDatabaseClasses"), Says: "spec.dbInstanceClass: db.r7g.2xlarge is not allowed"},
	{Kind: rds, Spec: `{"engineVersion": "16"}`, Rules: engines},
	{Kind: rds, Spec: `{"engineVersion": "16.4"}`, Rules: engines},
	{Kind: rds, Spec: `{"engineVersion": "17.2"}`, Rules: engines},
	{Kind: rds, Spec: `{"engineVersion": "17"}`, Rules: engines, Refused: broken("allowedEngines"), Says: "spec.engine: postgres 17 is not allowed"},
	{Kind: rds, Spec: `{"engineVersion": "160"}`, Rules: engines, Refused: broken("allowedEngines"), Says: "allows postgres 16.* or 17.2, mysql, by "},
	{Kind: rds, Spec: `{}`, Rules: engines, Refused: broken("allowedEngines"), Says: "postgres without engineVersion is not allowed"},
	{Kind: rds, Spec: `{"engine": "mysql"}`, Rules: engines},
	{Kind: rds, Spec: `{"engine": "mariadb", "engineVersion": "10.11"}`, Rules: engines, Refused: broken("allowedEngines"), Says: "mariadb 10.11"},
	{Kind: rds, Spec: `{"allocatedStorage": 100, "maxAllocatedStorage": 100}`, Rules: storage},
	{Kind: rds, Spec: `{"allocatedStorage": 101}`, Rules: storage, Refused: broken("maxDatabaseStorageGiB"), Says: "spec.allocatedStorage: 101 is not allowed: "},
	{Kind: rds, Spec: `{"maxAllocatedStorage": 101}`, Rules: storage, Refused: broken("maxDatabaseStorageGiB"), Says: "spec.maxAllocatedStorage: 101 is not allowed: "},
	{Kind: rds, Spec: `{}`, Rules: hidden},
	{Kind: rds, Spec: `{"publiclyAccessible": false}`, Rules: hidden},
	{Kind: rds, Spec: `{"publiclyAccessible": true}`, Rules: hidden, Refused: broken("requirePrivateDatabases"), Says: "spec.publiclyAccessible: true is not allowed"},
	{Kind: rds, Spec: `{"publiclyAccessible": true}`, Rules: `{}`},
	{Kind: rds, Spec: `{"adoptionPolicy": "Adopt"}`, Rules: hidden, Refused: broken("requirePrivateDatabases"), Says: "leaving it out with adoptionPolicy Adopt"},
	{Kind: rds, Spec: `{}`, Rules: standard},
	{Kind: rds, Spec: `{"engineLifecycleSupport": "open-source-rds-extended-support-disabled"}`, Rules: standard},
	{
		Kind: rds, Spec: `{"engineLifecycleSupport": "open-source-rds-extended-support"}`, Rules: standard,
		Refused: broken("forbidExtendedSupport"),
		Says:    "spec.engineLifecycleSupport: open-source-rds-extended-support is not allowed",
	},
	{Kind: rds, Spec: `{"engineLifecycleSupport": "open-source-rds-extended-support"}`, Rules: `{}`},
	{Kind: rds, Spec: `{"adoptionPolicy": "Adopt"}`, Rules: standard, Refused: broken("forbidExtendedSupport"), Says: "leaving it out with adoptionPolicy Adopt"},
	{Kind: rds, Spec: `{"engine": "mariadb", "adoptionPolicy": "Adopt"}`, Rules: standard},
	{Kind: rds, Spec: `{}`, Rules: encrypt},
	{Kind: rds, Spec: `{"storageEncrypted": false}`, Rules: encrypt, Refused: broken("requireEncryption"), Says: "spec.storageEncrypted: false is not allowed"},
	{Kind: rds, Spec: `{"restoreFrom": {"snapshotIdentifier": "last"}, "adoptionPolicy": "Adopt"}`, Rules: encrypt},
	{Kind: rds, Spec: `{"dbSubnetGroupName": "inner"}`, Rules: networks, Team: true},
	{Kind: rds, Spec: `{"dbSubnetGroupName": "outer"}`, Rules: networks, Team: true, Refused: broken("allowedSubnetGroups"), Says: "outer is not allowed"},
	{Kind: rds, Spec: `{}`, Rules: networks, Team: true, Refused: broken("allowedSubnetGroups"), Says: "leaving it out"},
	{Kind: rds, Spec: `{"vpcSecurityGroupIDs": ["sg-1"]}`, Rules: groups, Team: true},
	{Kind: rds, Spec: `{"vpcSecurityGroupIDs": ["sg-3"]}`, Rules: groups, Team: true, Refused: broken("allowedSecurityGroups"), Says: "spec.vpcSecurityGroupIDs: sg-3 is not"},
	{Kind: s3, Spec: `{}`, Rules: private},
	{Kind: s3, Spec: `{"publicAccessBlock": {"blockPublicAcls": true}}`, Rules: private},
	{
		Kind: s3, Spec: `{"publicAccessBlock": {"blockPublicAcls": false}}`, Rules: private,
		Refused: broken("requirePrivateBuckets"), Says: "spec.publicAccessBlock.blockPublicAcls: false is not allowed",
	},
	{Kind: s3, Spec: `{"publicAccessBlock": {"ignorePublicAcls": false}}`, Rules: private, Refused: broken("requirePrivateBuckets"), Says: ".ignorePublicAcls: false"},
	{Kind: s3, Spec: `{"publicAccessBlock": {"blockPublicPolicy": false}}`, Rules: private, Refused: broken("requirePrivateBuckets"), Says: ".blockPublicPolicy: false"},
	{Kind: s3, Spec: `{"publicAccessBlock": {"restrictPublicBuckets": false}}`, Rules: private, Refused: broken("requirePrivateBuckets"), Says: "allows true only"},
	{Kind: s3, Spec: `{"publicAccessBlock": {"restrictPublicBuckets": false}}`, Rules: `{"requirePrivateBuckets": false}`},
	{
		Kind: s3,
		Spec: `{"adoptionPolicy": "Adopt", "publicAccessBlock": {"blockPublicAcls": true, "ignorePublicAcls": true, "blockPublicPolicy": true}}`, Rules: private, Refused: broken("requirePrivateBuckets"), Says: "spec.publicAccessBlock.restrictPublicBuckets: leaving it out",
	},
	{Kind: s3, Spec: `{"encryption": {"algorithm": "AES256"}}`, Rules: encrypt},
	{Kind: sqs, Spec: `{}`, Rules: encrypt},
	{Kind: s3, Spec: `{"requireTLS": false}`, Rules: encrypt, Refused: broken("requireEncryption"), Says: "spec.requireTLS: false is not allowed"},
	{Kind: s3, Spec: `{"requireTLS": true}`, Rules: encrypt},
	{Kind: s3, Spec: `{"adoptionPolicy": "Adopt"}`, Rules: encrypt},
	{Kind: sqs, Spec: `{"sqsManagedSseEnabled": false}`, Rules: encrypt, Refused: broken("requireEncryption"), Says: "spec.sqsManagedSseEnabled: false is not allowed"},
	{Kind: sqs, Spec: `{"sqsManagedSseEnabled": false, "kmsMasterKeyId": "alias/aws/sqs"}`, Rules: encrypt},
	{Kind: sqs, Spec: `{"adoptionPolicy": "Adopt"}`, Rules: encrypt, Refused: broken("requireEncryption"), Says: "leaving it out with adoptionPolicy Adopt"},
	{Kind: sqs, Spec: `{"deadLetterQueue": {"maxReceiveCount": 1, "targetArn": "arn:aws:sqs:eu-west-1:230000000001:dead"}}`, Rules: dead, Team: true},
	{
		Kind:  sqs,
		Spec:  `{"deadLetterQueue": {"maxReceiveCount": 1, "targetArn": "arn:aws:sqs:eu-west-1:230000000001:other"}}`,
		Rules: dead, Team: true, Refused: broken("allowedDeadLetterQueues"), Says: ":other is not allowed",
	},
	{Kind: sqs, Spec: `{"deadLetterQueue": {"maxReceiveCount": 1, "targetRef": {"name": "other"}}}`, Rules: dead, Team: true},
	{Kind: sqs, Spec: `{"allowFrom": [{"arn": "arn:aws:sns:eu-west-1:230000000001:news"}, {"topicRef": {"name": "any"}}]}`, Rules: lets, Team: true},
	{
		Kind:  sqs,
		Spec:  `{"allowFrom": [{"topicRef": {"name": "any"}}, {"arn": "arn:aws:sns:eu-west-1:230000000002:news"}]}`,
		Rules: lets, Team: true, Refused: broken("allowedSenders"), Says: "230000000002:news is not allowed",
	},
	{Kind: sns, Spec: `{"allowFrom": [{"arn": "arn:aws:events:eu-west-1:230000000001:rule/x"}]}`, Rules: lets, Team: true, Refused: broken("allowedSenders"), Says: "rule/x is not allowed"},
	{Kind: sns, Spec: `{"allowFrom": [{"bucketRef": {"name": "any"}}]}`, Rules: lets, Team: true},
	{Kind: sns, Spec: `{"subscriptions": [{"queueRef": {"name": "any"}}, {"email": "desk@example.com"}, {"https": "https://hooks.example.com/a"}]}`, Rules: mails, Team: true},
	{Kind: sns, Spec: `{"subscriptions": [{"email": "desk@example.org"}]}`, Rules: mails, Team: true, Refused: broken("allowedSubscribers"), Says: "desk@example.org is not allowed"},
	{Kind: sns, Spec: `{}`, Rules: encrypt, Refused: broken("requireEncryption"), Says: "spec.kmsMasterKeyId: leaving it out is not allowed"},
	{Kind: sns, Spec: `{"kmsMasterKeyId": "alias/aws/sns"}`, Rules: encrypt},
	{Kind: sns, Spec: `{}`, Rules: `{}`},
	{Kind: app, Spec: `{}`, Rules: images, Team: true},
	{Kind: app, Spec: `{"image": "registry.example.com/shop/web:1"}`, Rules: images, Team: true},
	{Kind: app, Spec: `{"image": "ghcr.io/shop/web:1"}`, Rules: images, Team: true},
	{Kind: app, Spec: `{"image": "ghcr.io/shop/web@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}`, Rules: images, Team: true},
	{Kind: app, Spec: `{"image": "ghcr.io/shop/website:1"}`, Rules: images, Team: true, Refused: broken("allowedImageRegistries"), Says: "spec.image: ghcr.io/shop/website:1 is not allowed"},
	{Kind: app, Spec: `{"image": "ghcr.io/shop/web/evil:1"}`, Rules: images, Team: true, Refused: broken("allowedImageRegistries"), Says: "ghcr.io/shop/web/evil:1"},
	{Kind: app, Spec: `{"image": "evil/nginx:1"}`, Rules: images, Team: true, Refused: broken("allowedImageRegistries"), Says: "evil/nginx:1"},
	{Kind: app, Spec: `{"image": "registry.example.com.evil.example/web:1"}`, Rules: images, Team: true, Refused: broken("allowedImageRegistries"), Says: "evil.example"},
	{Kind: app, Spec: `{"image": "registry.example.com:5000/web:1"}`, Rules: images, Team: true, Refused: broken("allowedImageRegistries"), Says: ":5000/web:1"},
	{Kind: app, Spec: `{"image": "evil/nginx:1"}`, Rules: `{}`, Team: true},
}
