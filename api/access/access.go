// Package access defines what an application can do in AWS with the resources that it is bound to: as text, and as the
// IAM policy that allows exactly that.
package access

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// rights are the rights of one level of access to a kind. Words describe them and follow "to": list and read its
// objects.
type rights struct {
	words string
	// resource are actions on the resource itself, content those on what is in it, such as the objects of a bucket.
	resource, content []string
	// key are actions on the KMS key that encrypts the resource.
	key []string
}

// table has the rights of each level of access, by kind. Actions and their resources are from AWS's Service
// Authorization Reference. A kind that is not in it needs no rights in AWS: a database has its own users, and a machine
// is reached by its network.
var table = map[string]map[v1alpha1.BindingAccess]rights{
	v1alpha1.KindS3Bucket: {
		v1alpha1.AccessRead: {
			words:    "list and read its objects",
			resource: []string{"s3:GetBucketLocation", "s3:ListBucket"}, content: []string{"s3:GetObject"}, key: []string{"kms:Decrypt"},
		},
		// The parts of an upload are put together by decrypting them.
		v1alpha1.AccessWrite: {
			words:    "write and delete its objects",
			resource: []string{"s3:GetBucketLocation", "s3:ListBucketMultipartUploads"},
			content:  []string{"s3:AbortMultipartUpload", "s3:DeleteObject", "s3:ListMultipartUploadParts", "s3:PutObject"},
			key:      []string{"kms:Decrypt", "kms:GenerateDataKey"},
		},
	},
	v1alpha1.KindSQSQueue: {
		v1alpha1.AccessRead: {
			words:    "receive and delete its messages",
			resource: []string{"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ReceiveMessage"},
			key:      []string{"kms:Decrypt"},
		},
		v1alpha1.AccessWrite: {
			words:    "send messages to it",
			resource: []string{"sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:SendMessage"}, key: []string{"kms:Decrypt", "kms:GenerateDataKey"},
		},
	},
	v1alpha1.KindSNSTopic: {
		v1alpha1.AccessWrite: {words: "publish to it", resource: []string{"sns:Publish"}, key: []string{"kms:Decrypt", "kms:GenerateDataKey"}},
	},
}

// levels returns the rows of the table that an access of a kind takes.
func levels(kind string, access v1alpha1.BindingAccess) (all []rights) {
	for _, level := range []v1alpha1.BindingAccess{v1alpha1.AccessRead, v1alpha1.AccessWrite} {
		row, ok := table[kind][level]
		if asked := cmp.Or(access, v1alpha1.AccessReadWrite); ok &&
			(asked == level || asked == v1alpha1.AccessReadWrite) {
			all = append(all, row)
		}
	}
	return all
}

// Words returns what the access to a kind lets an application do, such as "receive and delete its messages, and send
// messages to it"; empty if the kind has no rights in AWS. No access given means full access.
func Words(kind string, access v1alpha1.BindingAccess) string {
	return strings.Join(Rights(kind, access), ", and ")
}

// inDatabase are what levels of access let a user do in a database, where AWS has no say. They follow "may".
var inDatabase = map[v1alpha1.BindingAccess]string{
	v1alpha1.AccessRead: "read", v1alpha1.AccessWrite: "write rows",
	v1alpha1.AccessReadWrite: "read and write rows, and make tables of its own",
}

// DatabaseWords returns what the access of a database's user lets an application do there, such as "write rows". No
// access given means full access.
func DatabaseWords(access v1alpha1.BindingAccess) string {
	return inDatabase[cmp.Or(access, v1alpha1.AccessReadWrite)]
}

// Rights returns the parts of Words, one for each right.
func Rights(kind string, access v1alpha1.BindingAccess) (all []string) {
	for _, row := range levels(kind, access) {
		all = append(all, row.words)
	}
	return all
}

// Grant is access to one resource in AWS.
type Grant struct {
	Kind   string
	Access v1alpha1.BindingAccess
	ARN    string
	// Key is the customer's KMS key that encrypts the resource: its ID, ARN or alias. Empty: none, or one of AWS's own,
	// which anyone who may use the resource may use with it.
	Key             string
	Region, Account string
}

// Of returns the access to obj's resource, from its status, because a spec may not be admitted. ok is false while the
// resource does not exist in AWS, and for a kind without rights there.
func Of(obj runtime.Object, access v1alpha1.BindingAccess) (g Grant, ok bool) {
	var status *v1alpha1.AWSStatus
	var asked string
	var generation int64
	switch o := obj.(type) {
	case *v1alpha1.S3Bucket:
		g.Kind, g.Key, status, generation = v1alpha1.KindS3Bucket, o.Status.KMSKey, &o.Status.AWSStatus, o.Generation
		if e := o.Spec.Encryption; e != nil {
			asked = e.KMSKeyID
		}
	case *v1alpha1.SQSQueue:
		g.Kind, g.Key, status, generation, asked = v1alpha1.KindSQSQueue, o.Status.KMSKey, &o.Status.AWSStatus,
			o.Generation, o.Spec.KMSMasterKeyID
	case *v1alpha1.SNSTopic:
		g.Kind, g.Key, status, generation, asked = v1alpha1.KindSNSTopic, o.Status.KMSKey, &o.Status.AWSStatus,
			o.Generation, o.Spec.KMSMasterKeyID
	default:
		return Grant{}, false
	}
	if g.Key == "" && status.Ready && status.ObservedGeneration == generation {
		g.Key = asked // AWS has the whole spec: statuses of earlier versions have no key
	}
	g.Access, g.ARN, g.Region, g.Account = access, status.ARN, status.Region, status.AccountID
	return g, g.ARN != ""
}
