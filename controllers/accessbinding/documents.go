package accessbinding

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/portico-platform/portico/controllers/cloud"
)

// podsService is who assumes the role for Pods.
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

// roleName returns the name of the role of a namespace, or, with a ServiceAccount, of that alone.
func roleName(s *cloud.Session, namespace, serviceAccount string) string {
	return nameOfRole(s, namespace, serviceAccount, serviceAccount)
}

// associationRoleName returns the name of the role in the cluster's account by which the Pods of a namespace come to
// the account of an AWSProvider.
func associationRoleName(s *cloud.Session, namespace, provider string) string {
	return nameOfRole(s, namespace, "to-"+provider, "/to/"+provider)
}

// nameOfRole returns a name for the role of a namespace, of which part is shown. It begins with the same word
// everywhere, because IAM judges a role that is not there by its name alone. The hash, of key, keeps apart what
// shortening, another cluster, or another AWSProvider of the account would make equal.
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

// trust returns the trust policy of a namespace's role: it is for Pods of this cluster alone.
func trust(s *cloud.Session, cluster string) string {
	return marshal(document{Version: "2012-10-17", Statement: []statement{{
		Effect: "Allow", Principal: map[string]string{"Service": podsService}, Action: assume,
		Condition: map[string]map[string][]string{
			"StringEquals": {"aws:SourceAccount": {s.AccountID}},
			"ArnEquals":    {"aws:SourceArn": {s.ARN("eks", "cluster/"+cluster)}},
		},
	}}})
}

// assume is what one role may do to act as another, as EKS does.
var assume = []string{"sts:AssumeRole", "sts:TagSession"}

// targetTrust returns the trust policy of a namespace's role that is in another account than the cluster: it is for the
// role of the association there. That is named by a condition, for a principal must be there already, and is another
// one once it was deleted and made again.
func targetTrust(cluster *cloud.Session, associationRole string) string {
	return marshal(document{Version: "2012-10-17", Statement: []statement{{
		Effect: "Allow", Principal: map[string]string{"AWS": "arn:" + cluster.Partition + ":iam::" + cluster.AccountID + ":root"}, Action: assume,
		Condition: map[string]map[string][]string{"ArnEquals": {"aws:PrincipalArn": {associationRole}}},
	}}})
}

// associationPolicy returns all that the role of an association may do whose Pods act as a role of another account.
func associationPolicy(target string) string {
	return marshal(document{Version: "2012-10-17", Statement: []statement{{Sid: "ActAsTheRoleOfTheNamespace", Effect: "Allow", Action: assume, Resource: []string{target}}}})
}

// webIdentityAudience is what the tokens are for that EKS gives Pods whose ServiceAccount names a role.
const webIdentityAudience = "sts.amazonaws.com"

// tokenTrust returns the trust policy of a ServiceAccount's role: it is for whoever has a token of that ServiceAccount,
// made for AWS.
func tokenTrust(providerARN, namespace, serviceAccount string) string {
	_, issuer, _ := strings.Cut(providerARN, ":oidc-provider/")
	return marshal(document{Version: "2012-10-17", Statement: []statement{{
		Effect: "Allow", Principal: map[string]string{"Federated": providerARN}, Action: []string{"sts:AssumeRoleWithWebIdentity"},
		Condition: map[string]map[string][]string{"StringEquals": {
			issuer + ":aud": {webIdentityAudience}, issuer + ":sub": {"system:serviceaccount:" + namespace + ":" + serviceAccount},
		}},
	}}})
}

// rolePolicy returns what the role may do: all that any access gives, to what is the namespace's. What a ServiceAccount
// may do is less: the role's policy and that of its association both have to allow it. Queues and topics are known by
// their tags, buckets by their names, and keys by the services that use them.
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
			Sid: "Keys", Effect: "Allow", Action: []string{"kms:Decrypt", "kms:GenerateDataKey"}, Resource: []string{"*"},
			Condition: map[string]map[string][]string{"StringLike": {"kms:ViaService": {"s3.*.amazonaws.*", "sns.*.amazonaws.*", "sqs.*.amazonaws.*"}}},
		},
	}})
}

// bucketPrefixes returns what the names of a namespace's buckets begin with, picked and chosen ones. A namespace whose
// name begins as picked names do chooses none: it would reach those of others.
func bucketPrefixes(s *cloud.Session, namespace string) []string {
	picked := cloud.BucketPrefix(s.Identity.Cluster, namespace) + "-"
	if strings.HasPrefix(namespace, "0") {
		return []string{picked}
	}
	return []string{picked, namespace + "-"}
}

// policyName of the one policy in the role.
const policyName = "portico"

func marshal(d document) string {
	text, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("a policy of texts alone: %v", err)) // only a programmer can break this
	}
	return string(text)
}

// same reports whether two documents say the same, whatever their white space and the order of their fields.
func same(one, other string) bool {
	var a, b any
	if json.Unmarshal([]byte(one), &a) != nil || json.Unmarshal([]byte(other), &b) != nil {
		return one == other
	}
	return fmt.Sprint(a) == fmt.Sprint(b)
}
