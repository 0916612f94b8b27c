package accessbinding

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/portico-platform/portico/controllers/cloud"
)

// podsService is the principal that assumes the role for Pods.
const podsService = "pods.eks.amazonaws.com"

// document is an IAM policy, or a role's trust policy.
type document struct {
	Version   string
	Statement []statement
}

type statement struct {
	Sid       string `json:",omitempty"`
	Effect    string
	Principal map[string]string `json:",omitempty"`
	Action    []string
	Resource  []string                       `json:",omitempty"`
	Condition map[string]map[string][]string `json:",omitempty"`
}

// longestRoleName is IAM's limit, in characters.
const longestRoleName = 64

// roleName returns the name of a namespace's role, or of a ServiceAccount's role if serviceAccount is set.
func roleName(s *cloud.Session, namespace, serviceAccount string) string {
	return nameOfRole(s, namespace, serviceAccount, serviceAccount)
}

// associationRoleName returns the name of the role in the cluster's account through which the Pods of a namespace reach
// the account of an AWSProvider.
func associationRoleName(s *cloud.Session, namespace, provider string) string {
	return nameOfRole(s, namespace, "to-"+provider, "/to/"+provider)
}

// nameOfRole returns a role name that contains part. All begin with the same word, because for a role that does not
// exist IAM evaluates only its name. The hash of key keeps names distinct after shortening, and between clusters and
// AWSProviders of the account.
func nameOfRole(s *cloud.Session, namespace, part, key string) string {
	sum := sha256.Sum256([]byte(s.Identity.Cluster + "/" + s.Provider + "/" + namespace + "/" + key))
	hash := hex.EncodeToString(sum[:6])
	name := "portico-pods-" + namespace
	if part != "" {
		name += "-" + part
	}
	if most := longestRoleName - len(hash) - 1; len(name) > most {
		name = name[:most]
	}
	return strings.TrimRight(name, "-.") + "-" + hash
}

// rolePath returns the path of the role.
func rolePath(namespace string) string { return "/portico/" + namespace + "/" }

// trust returns the trust policy of a namespace's role: it is only for Pods of this cluster.
func trust(s *cloud.Session, cluster string) string {
	return marshal(document{Version: "2012-10-17", Statement: []statement{{
		Effect: "Allow", Principal: map[string]string{"Service": podsService}, Action: assume,
		Condition: map[string]map[string][]string{
			"StringEquals": {"aws:SourceAccount": {s.AccountID}},
			"ArnEquals":    {"aws:SourceArn": {s.ARN("eks", "cluster/"+cluster)}},
		},
	}}})
}

// assume are the actions with which one role acts as another, as EKS does.
var assume = []string{"sts:AssumeRole", "sts:TagSession"}

// targetTrust returns the trust policy of a namespace's role in another account than the cluster: it is for the role of
// the association there. A condition names that role, because a principal must already exist, and a recreated role is a
// different principal.
func targetTrust(cluster *cloud.Session, associationRole string) string {
	return marshal(document{Version: "2012-10-17", Statement: []statement{{
		Effect: "Allow", Principal: map[string]string{"AWS": "arn:" + cluster.Partition + ":iam::" + cluster.AccountID +
			":root"}, Action: assume,
		Condition: map[string]map[string][]string{"ArnEquals": {"aws:PrincipalArn": {associationRole}}},
	}}})
}

// associationPolicy returns the policy of an association's role whose Pods act as a role of another account.
func associationPolicy(target string) string {
	return marshal(document{Version: "2012-10-17", Statement: []statement{
		{Sid: "ActAsTheRoleOfTheNamespace", Effect: "Allow", Action: assume, Resource: []string{target}},
	}})
}

// webIdentityAudience is the audience of the tokens that EKS gives Pods whose ServiceAccount names a role.
const webIdentityAudience = "sts.amazonaws.com"

// tokenTrust returns the trust policy of a ServiceAccount's role: it accepts tokens of that ServiceAccount for AWS.
func tokenTrust(providerARN, namespace, serviceAccount string) string {
	_, issuer, _ := strings.Cut(providerARN, ":oidc-provider/")
	return marshal(document{Version: "2012-10-17", Statement: []statement{{
		Effect: "Allow", Principal: map[string]string{"Federated": providerARN},
		Action: []string{"sts:AssumeRoleWithWebIdentity"},
		Condition: map[string]map[string][]string{"StringEquals": {
			issuer + ":aud": {webIdentityAudience}, issuer + ":sub": {"system:serviceaccount:" + namespace + ":" + serviceAccount},
		}},
	}}})
}

// rolePolicy returns the policy of the role: all that any access gives, to the namespace's resources. A ServiceAccount
// has fewer rights: both the role's policy and that of its association must allow an action. Queues and topics are
// identified by their tags, buckets by their names, and keys by the services that use them.
func rolePolicy(s *cloud.Session, namespace string) string {
	ours := map[string]map[string][]string{"StringEquals": {
		"aws:ResourceTag/" + cloud.TagCluster: {s.Identity.Cluster}, "aws:ResourceTag/" + cloud.TagNamespace: {namespace},
	}}
	buckets := "arn:" + s.Partition + ":s3:::"
	var names, contents []string
	for _, prefix := range bucketPrefixes(s, namespace) {
		names, contents = append(names, buckets+prefix+"*"), append(contents, buckets+prefix+"*/*")
	}
	return marshal(document{Version: "2012-10-17", Statement: []statement{
		{Sid: "Buckets", Effect: "Allow", Action: []string{"s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"}, Resource: names},
		{Sid: "Objects", Effect: "Allow", Action: []string{"s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:ListMultipartUploadParts", "s3:PutObject"}, Resource: contents},
		{
			Sid: "Messages", Effect: "Allow", Resource: []string{"*"}, Condition: ours,
			Action: []string{"sns:Publish", "sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage", "sqs:SendMessage"},
		},
		{
			Sid: "Keys", Effect: "Allow", Action: []string{"kms:Decrypt", "kms:GenerateDataKey"},
			Resource: []string{"*"},
			Condition: map[string]map[string][]string{
				"StringLike": {"kms:ViaService": {"s3.*.amazonaws.*", "sns.*.amazonaws.*", "sqs.*.amazonaws.*"}},
			},
		},
	}})
}

// bucketPrefixes returns the prefixes of a namespace's bucket names, generated and chosen ones. A namespace whose name
// looks like a generated prefix has no chosen ones: they would match buckets of others.
func bucketPrefixes(s *cloud.Session, namespace string) []string {
	picked := cloud.BucketPrefix(s.Identity.Cluster, namespace) + "-"
	if strings.HasPrefix(namespace, "0") {
		return []string{picked}
	}
	return []string{picked, namespace + "-"}
}

// policyName is the name of the only inline policy of the role.
const policyName = "portico"

func marshal(d document) string {
	text, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("a policy of texts alone: %v", err)) // only a programming error can cause this
	}
	return string(text)
}

// same reports whether two JSON documents are equal, ignoring white space and the order of fields.
func same(one, other string) bool {
	var a, b any
	if json.Unmarshal([]byte(one), &a) != nil || json.Unmarshal([]byte(other), &b) != nil {
		return one == other
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}
