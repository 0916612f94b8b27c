//go:build integration

package integration

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// machineTrust lets EC2 assume a role for its instances.
const machineTrust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`

// homes are the accounts of the kinds, one each, so that no kind uses another's actions.
var homes = map[string]string{
	"EC2Instance": "240000000081", "RDSInstance": "240000000082", "S3Bucket": "240000000083",
	"SNSTopic": "240000000084", "SQSQueue": "240000000085",
}

// permitted are stages of objects by kind, for one object after the other. Together they need every action of the
// document except other, which has a reason for each. NAMESPACE is replaced by the namespace.
var permitted = map[string]struct {
	// setup creates what the specs refer to, and returns pairs of placeholder and name.
	setup func(s sharedAccount, ns string) []string
	lives [][]string
	given []string // actions that AWS does not name when they are missing
	other map[string]string
}{
	"S3Bucket": {
		lives: [][]string{{
			`{"spec":{"versioning":"Enabled","encryption":{"algorithm":"AES256"},"publicAccessBlock":{"blockPublicAcls":true},"tags":{"a":"b"},"forceDestroy":true,
			  "lifecycleRules":[{"id":"a","enabled":true,"expirationDays":5}],"corsRules":[{"allowedOrigins":["*"],"allowedMethods":["GET"]}]}}`,
			`{"spec":{"versioning":"Suspended","publicAccessBlock":{"blockPublicAcls":false},"requireTLS":false,"tags":{"a":"c"},"lifecycleRules":null,"corsRules":null}}`,
		}},
		other: map[string]string{
			"tag:GetResources":              "of references, which have a test of their own",
			"s3:PutEncryptionConfiguration": "AES256 is what every bucket has",
			"s3:UntagResource": "of buckets with attribute-based access control, which have a test of " +
				"their own",
			"s3:ListBucketVersions":  "of what is in a bucket, and this one is empty",
			"s3:DeleteObject":        "of what is in a bucket, and this one is empty",
			"s3:DeleteObjectVersion": "of what is in a bucket, and this one is empty",
			"s3:GetBucketNotification": "this bucket notifies nobody; TestMessagesArriveFromWhomTheQueueNames has " +
				"one that does",
			"s3:PutBucketNotification": "this bucket notifies nobody",
			"sns:GetTopicAttributes": "this bucket notifies nobody; without it S3 says whether a topic lets the " +
				"bucket in",
			"sqs:GetQueueAttributes": "this bucket notifies nobody; without it S3 says whether a queue lets the " +
				"bucket in",
		},
	},
	"SQSQueue": {
		lives: [][]string{{
			`{"spec":{"visibilityTimeout":77,"tags":{"a":"b"}}}`,
			`{"spec":{"visibilityTimeout":78,"tags":{"a":null,"c":"d"}}}`,
		}},
		other: map[string]string{
			"sqs:ListQueues":   "sweeps list, and their failure says nothing of one queue",
			"tag:GetResources": "of references, which have a test of their own",
			"kms:DescribeKey": "this queue has no key; TestAKeyThatShutsTheSenderOutIsTold has one; without it " +
				"Portico says nothing of keys",
			"kms:GetKeyPolicy": "this queue has no key",
		},
	},
	"SNSTopic": {
		lives: [][]string{{
			`{"spec":{"displayName":"News","tags":{"a":"b"}}}`,
			`{"spec":{"displayName":"Olds","tags":{"a":null,"c":"d"}}}`,
		}},
		other: map[string]string{
			"sns:ListTopics":                "sweeps list, and their failure says nothing of one topic",
			"sns:GetSubscriptionAttributes": "this topic has no queues",
			"sns:SetSubscriptionAttributes": "this topic has no queues",
			"sns:Subscribe":                 "this topic has no queues",
			"sns:Unsubscribe":               "this topic has no queues",
			"sqs:GetQueueAttributes": "this topic has no queues; without it Portico does not see that a queue " +
				"lets nobody in",
			"kms:DescribeKey":  "this topic has no key",
			"kms:GetKeyPolicy": "this topic has no key",
			"tag:GetResources": "of references, which have a test of their own",
		},
	},
	"RDSInstance": {
		setup: func(s sharedAccount, ns string) []string {
			world.Proxy.HideDatabaseTags(true)
			s.t.Cleanup(func() { world.Proxy.HideDatabaseTags(false) })
			group := s.group("databases")
			s.tag(group, ns)
			return []string{"GROUP", group}
		},
		lives: [][]string{{
			`{"spec":{"manageMasterUserPassword":true,"masterUserSecretKmsKeyID":"alias/aws/secretsmanager","storageEncrypted":true,"kmsKeyID":"alias/aws/rds",
			  "backupRetentionPeriod":7,"tags":{"a":"b"},"vpcSecurityGroupIDs":["GROUP"],"skipFinalSnapshot":false,"finalSnapshotIdentifier":"NAMESPACE-farewell"}}`,
			`{"spec":{"backupRetentionPeriod":8,"tags":{"a":null,"c":"d"}}}`,
			`{"metadata":{"annotations":{"portico.dev/rotate-password":"1"}},"spec":{"backupRetentionPeriod":9}}`,
		}, {
			`{"spec":{"restoreFrom":{"snapshotIdentifier":"NAMESPACE-farewell"}}}`,
		}},
		// "KMSKeyNotAccessibleFault"
		given: []string{"kms:DescribeKey", "kms:CreateGrant", "kms:Decrypt", "kms:GenerateDataKey"},
		other: map[string]string{},
	},
	"EC2Instance": {
		setup: func(s sharedAccount, ns string) []string {
			group := s.group("machines")
			s.tag(group, ns)
			_, snapshot := s.disk()
			s.tag(snapshot, ns)
			role := "machine-of-" + ns
			_, err := s.iam.CreateRole(s.t.Context(), &iam.CreateRoleInput{
				Path:     aws.String("/portico/" + ns + "/"),
				RoleName: &role, AssumeRolePolicyDocument: aws.String(machineTrust),
			})
			s.must(err)
			for _, name := range []string{ns + "-one", ns + "-two"} {
				s.profile(name, ns)
				_, err := s.iam.AddRoleToInstanceProfile(s.t.Context(), &iam.AddRoleToInstanceProfileInput{
					InstanceProfileName: &name, RoleName: &role,
				})
				s.must(err)
			}
			return []string{"GROUP", group, "SNAPSHOT", snapshot, "IMAGE", latestLinux}
		},
		lives: [][]string{{
			`{"spec":{"tags":{"a":"b"},"imageID":"","imageSSMParameter":"IMAGE","securityGroupIDs":["GROUP"],"blockDeviceMappings":[
			  {"deviceName":"/dev/xvda","volumeSize":20},{"deviceName":"/dev/sdf","snapshotID":"SNAPSHOT","kmsKeyID":"alias/aws/ebs"}]}}`,
			`{"spec":{"tags":{"a":null,"c":"d"},"monitoring":true,"creditSpecification":"unlimited","metadataOptions":{"httpPutResponseHopLimit":3},
			  "disableApiTermination":true,"iamInstanceProfile":"NAMESPACE-one","blockDeviceMappings":[
			  {"deviceName":"/dev/xvda","volumeSize":21},{"deviceName":"/dev/sdf","snapshotID":"SNAPSHOT","kmsKeyID":"alias/aws/ebs"}]}}`,
			`{"spec":{"monitoring":null,"iamInstanceProfile":"NAMESPACE-two","disableApiTermination":false,"allowStop":true,"instanceType":"t3.small"}}`,
			`{"spec":{"iamInstanceProfile":null}}`,
		}, {
			`{"spec":{"tags":{"a":"b"}}}`, // with the specimen's own image
		}},
		other: map[string]string{},
	},
}

// sharedAccountOf returns the account of a provider, with clients that bypass the operator.
func sharedAccountOf(t *testing.T, p *v1alpha1.AWSProvider) sharedAccount {
	t.Helper()
	return sharedAccount{t, ec2.NewFromConfig(outsideConfig(t, p.Name)), iam.NewFromConfig(outsideConfig(t, p.Name))}
}
