package awsproxy

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

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

// governed are the services whose resources have policies, which also limit the root user of an account.
var governed = map[string]bool{"s3": true, "s3control": true, "sqs": true, "sns": true, "kms": true}

// arnOf is an ARN, split into its parts.
type arnOf struct{ partition, service, region, account, resource string }

func splitARN(arn string) arnOf {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 {
		return arnOf{}
	}
	return arnOf{parts[1], parts[2], parts[3], parts[4], parts[5]}
}

// policyOf returns the policy of a resource; nil if it has none, does not exist, or is of a kind without policies.
func (p *Proxy) policyOf(ctx context.Context, arn string) (*iampolicy.ResourcePolicy, error) {
	var text string
	var err error
	switch id := splitARN(arn); {
	case id.service == "sqs":
		var attributes map[string]string
		attributes, err = queueAttributes(ctx, p.upstream, id)
		text = attributes["Policy"]
	case id.service == "sns" && !strings.Contains(id.resource, ":"):
		var attributes map[string]string
		attributes, err = topicAttributes(ctx, p.upstream, id)
		text = attributes["Policy"]
	case id.service == "s3" && id.resource != "*":
		bucket, _, _ := strings.Cut(id.resource, "/")
		text, err = bucketPolicy(ctx, p.upstream, bucket)
	case id.service == "kms":
		text, err = keyPolicy(ctx, p.upstream, id)
	}
	if err != nil || text == "" {
		return nil, err
	}
	return ParseResourcePolicy([]byte(text))
}

// queueAttributes returns all attributes of a queue; none if it does not exist.
func queueAttributes(ctx context.Context, u *upstream, id arnOf) (map[string]string, error) {
	var answer struct{ Attributes map[string]string }
	_, err := u.askAbout(ctx, id, "AmazonSQS.GetQueueAttributes", map[string]any{
		"QueueUrl": "http://sqs/" + id.account + "/" + id.resource, "AttributeNames": []string{"All"},
	}, &answer)
	return answer.Attributes, err
}

// askAbout calls a service with a JSON protocol about a resource, as the account that owns it; found is false if the
// service refuses.
func (u *upstream) askAbout(ctx context.Context, id arnOf, target string, input, answer any) (found bool, err error) {
	x := &exchange{call: Call{Account: id.account, Region: id.region}}
	return u.askJSON(ctx, x, id.service, target, input, answer)
}

// topicAttributes returns all attributes of a topic; none if it does not exist.
func topicAttributes(ctx context.Context, u *upstream, id arnOf) (map[string]string, error) {
	x := &exchange{call: Call{Account: id.account, Region: id.region}}
	arn := strings.Join([]string{"arn", id.partition, "sns", id.region, id.account, id.resource}, ":")
	r, err := u.askForm(ctx, x, "sns", url.Values{
		"Action": {"GetTopicAttributes"}, "Version": {"2010-03-31"},
		"TopicArn": {arn},
	})
	if err != nil || r.status != http.StatusOK {
		return nil, r.broken(err)
	}
	var answer snsAnswer
	if err := xml.Unmarshal(r.body, &answer); err != nil {
		return nil, err
	}
	return entries(answer.Topic), nil
}

// bucketPolicy returns the text of a bucket's policy; "" if there is none. moto finds buckets from every account.
func bucketPolicy(ctx context.Context, u *upstream, bucket string) (string, error) {
	r, err := u.ask(ctx, question{
		service: "s3", region: "us-east-1", method: http.MethodGet, path: "/" + bucket,
		query: "policy",
	})
	if err != nil || r.status != http.StatusOK || !json.Valid(r.body) {
		return "", r.broken(err)
	}
	return string(r.body), nil
}

// keyPolicy returns the text of a key's policy; "" if there is no such key.
func keyPolicy(ctx context.Context, u *upstream, id arnOf) (string, error) {
	key := strings.TrimPrefix(id.resource, "key/")
	var answer struct{ Policy string }
	_, err := u.askAbout(ctx, id, "TrentService.GetKeyPolicy", map[string]any{"KeyId": key, "PolicyName": "default"},
		&answer)
	if answer.Policy == "{}" { // moto's response if no policy was set
		return "", err
	}
	return answer.Policy, err
}
