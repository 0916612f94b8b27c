package awsproxy

import (
	"context"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/permit"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// service describes a service to the proxy, in addition to its protocol.
type service struct {
	// about lists the parameters that name the resource of a call; the first present counts. A list may be given as
	// Name.1 or Name.member.1.
	about []string
	// short converts an ARN or a URL to the name that other calls use; nil means no conversion.
	short func(string) string
	// items are the elements, or fields, whose children are a listing's items.
	items []string
	// lists are the listings that sweeps use, and size is their parameter for the page size; "" if AWS does not let
	// the caller choose it.
	lists []string
	size  string
}

// services holds the services by signing name.
var services = map[string]service{
	"s3": {
		items: []string{"Buckets"}, lists: []string{"ListBuckets"}, size: "max-buckets",
	},
	"s3control": {},
	"sns": {
		about: []string{"TopicArn", "ResourceArn", "SubscriptionArn", "Name"}, short: topicOf, items: []string{"Topics"},
	},
	"sqs": {
		about: []string{"QueueUrl", "QueueName", "QueueNamePrefix"}, short: after("/"),
		items: []string{"QueueUrls"}, lists: []string{"ListQueues"}, size: "MaxResults",
	},
	"rds": {
		about: []string{"DBInstanceIdentifier", "DBSnapshotIdentifier", "DBSubnetGroupName", "DBParameterGroupName", "ResourceName"},
		short: after(":"), items: []string{"DBInstances", "DBSnapshots"}, lists: []string{"DescribeDBInstances"},
		size: "MaxRecords",
	},
	"ec2": {
		about: []string{"InstanceId", "ResourceId", "GroupId", "VolumeId", "SubnetId", "VpcId"},
		items: []string{"reservationSet", "tagSet"}, lists: []string{"DescribeInstances"}, size: "MaxResults",
	},
	"route53": {
		items: []string{"HostedZones", "ResourceRecordSets"},
	},
	"acm": {
		about: []string{"CertificateArn", "DomainName"},
		items: []string{"CertificateSummaryList"}, lists: []string{"ListCertificates"}, size: "MaxItems",
	},
	"elasticloadbalancing": {
		about: []string{
			"RuleArn", "RuleArns", "ListenerArn", "ListenerArns", "TargetGroupArn", "TargetGroupArns",
			"LoadBalancerArn", "LoadBalancerArns",
			"ResourceArns", "Name", "Names",
		},
		items: []string{"LoadBalancers", "TargetGroups", "Listeners", "Rules", "Certificates"},
	},
	"sts": {
		about: []string{"RoleArn"},
	},
	"iam": {
		about: []string{"RoleName", "UserName", "InstanceProfileName", "PolicyArn"},
	},
	"eks": {
		items: []string{"associations"}, lists: []string{"ListPodIdentityAssociations"}, size: "maxResults",
	},
	"kms": {
		about: []string{"KeyId", "AliasName"}, short: after("/"), items: []string{"Keys", "Aliases"},
	},
	"ssm":            {about: []string{"Name", "Names"}, items: []string{"Parameters"}},
	"secretsmanager": {about: []string{"SecretId", "Name"}, items: []string{"SecretList"}},
	"tagging":        {about: []string{"ResourceARNList"}, items: []string{"ResourceTagMappingList"}},
}

// after returns what follows the last separator.
func after(separator string) func(string) string {
	return func(v string) string { return v[strings.LastIndex(v, separator)+1:] }
}

// topicOf returns the name of the topic in an ARN of a topic or of a subscription.
func topicOf(v string) string {
	if parts := strings.Split(v, ":"); len(parts) > 5 {
		return parts[5]
	}
	return v
}

// behaviour is what the proxy does for a service.
type behaviour interface {
	// Around implements what the service does in addition to the simulator, or differently. It may change x before it
	// calls next, which passes x on; act after it; or reply without it. Its own calls to the simulator are not in the
	// journal: in AWS they would be internal.
	Around(ctx context.Context, x *wire.Exchange, next wire.Forward) (*wire.Reply, error)
	// Needs returns the permissions of a call, as permit.Needs does.
	Needs(ctx context.Context, x *wire.Exchange) ([]permit.Need, error)
}
