package permit

import (
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// conditionKeys are the keys that the proxy can give values for.
var conditionKeys = iampolicy.Keys{
	"aws:PrincipalTag/", "aws:PrincipalArn", "aws:PrincipalAccount", "aws:PrincipalType", "aws:RequestedRegion",
	"aws:ResourceAccount",
	"aws:RequestTag/", "aws:TagKeys", "aws:ResourceTag/", "aws:CurrentTime", "aws:SecureTransport", "aws:SourceIp",
	"aws:UserAgent",
	"aws:PrincipalIsAWSService", "aws:ViaAWSService",
	"acm:ValidationMethod", "acm:DomainNames", "ec2:CreateAction", "iam:AWSServiceName", "iam:PassedToService",
	"kms:ViaService",
	"iam:PermissionsBoundary", "iam:ResourceTag/", "sts:ExternalId", "sts:RoleSessionName", "s3:prefix", "s3:delimiter",
	"s3:max-keys",
	"route53:ChangeResourceRecordSetsNormalizedRecordNames", "route53:ChangeResourceRecordSetsRecordTypes",
	"route53:ChangeResourceRecordSetsActions",
}

// ParsePolicy parses a policy document for roles. A condition key that the proxy has no values for is an error.
func ParsePolicy(text []byte) (*iampolicy.Policy, error) { return iampolicy.Parse(text, conditionKeys) }

// SessionPolicyLimit is the maximum length of a session policy in characters, by the references of AssumeRole and
// CreatePodIdentityAssociation.
const SessionPolicyLimit = 2048

// resourceKeys are the condition keys that the policy of a resource may use, by "AWS global condition context keys"
// of IAM's guide and the Service Authorization Reference. Those without a value in any call here are about networks
// and organizations, which the simulator does not have.
var resourceKeys = slices.Concat(conditionKeys, iampolicy.Keys{
	"aws:SourceArn", "aws:SourceAccount", "aws:SourceOwner", "aws:SourceOrgID", "aws:SourceOrgPaths",
	"aws:PrincipalServiceName",
	"aws:PrincipalServiceNamesList", "aws:SourceVpc", "aws:SourceVpce", "aws:VpcSourceIp", "aws:PrincipalOrgID",
	"aws:PrincipalOrgPaths",
	"aws:ResourceOrgID", "aws:ResourceOrgPaths", "aws:CalledVia", "aws:CalledViaFirst", "aws:CalledViaLast",
	"aws:userid", "aws:username",
	"aws:Referer", "aws:MultiFactorAuthPresent", "aws:MultiFactorAuthAge", "aws:TokenIssueTime",
	"aws:FederatedProvider",
	"sns:Protocol", "sns:Endpoint", "kms:CallerAccount", "kms:EncryptionContext:aws:sqs:arn",
	"kms:EncryptionContext:aws:sns:topicArn", "kms:EncryptionContextKeys", "kms:GrantIsForAWSResource",
	"s3:x-amz-acl", "s3:x-amz-server-side-encryption", "s3:x-amz-server-side-encryption-aws-kms-key-id", "s3:VersionId",
	"s3:TlsVersion",
	"s3:ResourceAccount", "s3:signatureversion", "s3:authType", "s3:signatureAge", "s3:x-amz-content-sha256",
	"s3:ExistingObjectTag/",
})

// ParseResourcePolicy parses the policy of a queue, a topic, a bucket or a key. A condition key that AWS does not
// have is an error.
func ParseResourcePolicy(text []byte) (*iampolicy.ResourcePolicy, error) {
	return iampolicy.ParseResource(text, resourceKeys)
}
