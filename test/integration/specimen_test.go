//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	taggingtypes "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// specimen describes one AWS kind for the tests of all kinds.
type specimen struct {
	kind    string
	service string // the service of its calls
	// object returns an object with only the required fields; declare adds a tag and a setting that can be changed
	// later.
	object  func(ns, name string) external.Object
	declare func(external.Object)
	// holds reports whether AWS has the setting. spoil reverts the setting, and destroy deletes the resource, both
	// outside Portico.
	holds   func(*testing.T, external.Object) bool
	spoil   func(*testing.T, external.Object) error
	destroy func(*testing.T, external.Object) error
	// tagging is how others read and change its tags.
	tagging tagCalls
	// owned lists the resources with the UID; nil: those that the tagging API finds.
	owned func(t *testing.T, uid string) []string

	create, update, remove string   // calls
	list                   string   // the sweep's call
	page                   int      // the minimal size of its pages
	rest                   []string // calls that a resource with nothing declared makes at rest
	stateful               bool

	// astray are its broken references, in addition to those of all AWS kinds; plain are its strings that are no
	// references.
	astray []wrong
	plain  []string
}

var registered []specimen

// register adds s to the tests of all kinds.
func register(s specimen) specimen {
	if s.owned == nil {
		s.owned = ownedByTag
	}
	registered = append(registered, s)
	return s
}

// ownedByTag returns the ARNs of the resources that are tagged with the UID.
func ownedByTag(t *testing.T, uid string) (all []string) {
	t.Helper()
	api := tagging.NewFromConfig(outsideConfig(t, "test"))
	out, err := api.GetResources(t.Context(), &tagging.GetResourcesInput{
		TagFilters: []taggingtypes.TagFilter{{Key: aws.String("portico.dev/uid"), Values: []string{uid}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out.ResourceTagMappingList {
		all = append(all, *r.ResourceARN)
	}
	return all
}

// specimens returns all AWS kinds, sorted by name.
func specimens() []specimen {
	return slices.SortedFunc(slices.Values(registered), func(a, b specimen) int {
		return strings.Compare(a.kind, b.kind)
	})
}

// each runs test for every AWS kind.
func each(t *testing.T, test func(*testing.T, specimen)) {
	t.Helper()
	for _, s := range specimens() {
		t.Run(s.kind, func(t *testing.T) { test(t, s) })
	}
}

// calls returns the operator's calls to the specimen's service since m.
func (s specimen) calls(m awsproxy.Mark, filters ...awsproxy.Filter) []string {
	var all []string
	for _, c := range world.Proxy.CallsSince(
		m, append(filters, awsproxy.By(awsproxy.Operator), awsproxy.To(s.service))...) {
		all = append(all, c.Operation)
	}
	return all
}

func (s specimen) writes(m awsproxy.Mark) []string { return s.calls(m, awsproxy.Writes) }

func meta1(ns, name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: ns, Name: name} }

func sampleProvider() v1alpha1.AWSSpec {
	return v1alpha1.AWSSpec{ProviderRef: v1alpha1.LocalRef{Name: stack.Provider}}
}

var ours = v1alpha1.Tags{"team": "payments"}

var buckets = register(specimen{
	kind: "S3Bucket", service: "s3", stateful: true,
	tagging: bucketTagging,
	create:  "CreateBucket", update: "PutBucketVersioning", remove: "DeleteBucket", list: "ListBuckets", page: 1,
	rest: []string{"GetBucketTagging", "GetPublicAccessBlock", "GetBucketPolicy"},
	object: func(ns, name string) external.Object {
		return &v1alpha1.S3Bucket{ObjectMeta: meta1(ns, name), Spec: v1alpha1.S3BucketSpec{AWSSpec: sampleProvider()}}
	},
	declare: func(o external.Object) {
		s := &o.(*v1alpha1.S3Bucket).Spec
		s.Versioning, s.Tags = "Enabled", ours
	},
	holds: func(t *testing.T, o external.Object) bool {
		t.Helper()
		v, err := outside(t, "test").GetBucketVersioning(t.Context(), &s3.GetBucketVersioningInput{
			Bucket: &o.(*v1alpha1.S3Bucket).Status.BucketName,
		})
		return err == nil && v.Status == s3types.BucketVersioningStatusEnabled
	},
	spoil: func(t *testing.T, o external.Object) error {
		t.Helper()
		_, err := outside(t, "test").PutBucketVersioning(t.Context(), &s3.PutBucketVersioningInput{
			Bucket:                  &o.(*v1alpha1.S3Bucket).Status.BucketName,
			VersioningConfiguration: &s3types.VersioningConfiguration{Status: s3types.BucketVersioningStatusSuspended},
		})
		return err
	},
	destroy: func(t *testing.T, o external.Object) error {
		t.Helper()
		_, err := outside(t, "test").DeleteBucket(
			t.Context(), &s3.DeleteBucketInput{Bucket: &o.(*v1alpha1.S3Bucket).Status.BucketName})
		return err
	},
	astray: []wrong{
		{"encryption.kmsKeyID", `{"encryption":{"algorithm":"aws:kms","kmsKeyID":"` + noKey + `"}}`, "ReferenceNotAllowed", true},
		{"encryption.kmsKeyID", `{"encryption":{"algorithm":"aws:kms","kmsKeyID":"alias/nowhere"}}`, "ReferenceNotAllowed", true},
		{"notifications[].queueRef.name", `{"notifications":[{"queueRef":{"name":"nowhere"},"events":["s3:ObjectCreated:*"]}]}`, "WaitingForQueues", true},
		{"notifications[].topicRef.name", `{"notifications":[{"topicRef":{"name":"nowhere"},"events":["s3:ObjectCreated:*"]}]}`, "WaitingForQueues", true},
	},
	plain: []string{
		"policy", "notifications[].prefix", "notifications[].suffix", "corsRules[].allowedHeaders[]",
		"corsRules[].allowedOrigins[]", "corsRules[].exposeHeaders[]", "lifecycleRules[].id",
		"lifecycleRules[].prefix",
	},
})

// queueAPI returns a client that bypasses the operator.
func queueAPI(t *testing.T) *sqs.Client {
	t.Helper()
	return sqs.NewFromConfig(outsideConfig(t, "test"))
}

var queues = register(specimen{
	kind: "SQSQueue", service: "sqs",
	tagging: queueTagging,
	create:  "CreateQueue", update: "SetQueueAttributes", remove: "DeleteQueue", list: "ListQueues", page: 1,
	rest: []string{"ListQueueTags"},
	object: func(ns, name string) external.Object {
		return &v1alpha1.SQSQueue{ObjectMeta: meta1(ns, name), Spec: v1alpha1.SQSQueueSpec{AWSSpec: sampleProvider()}}
	},
	declare: func(o external.Object) {
		s := &o.(*v1alpha1.SQSQueue).Spec
		s.VisibilityTimeout, s.Tags = aws.Int32(77), ours
	},
	holds: func(t *testing.T, o external.Object) bool {
		t.Helper()
		return queueAttributes(t, o.(*v1alpha1.SQSQueue))["VisibilityTimeout"] == "77"
	},
	spoil: func(t *testing.T, o external.Object) error {
		t.Helper()
		_, err := queueAPI(t).SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
			QueueUrl: &o.(*v1alpha1.SQSQueue).Status.QueueURL, Attributes: map[string]string{"VisibilityTimeout": "5"},
		})
		return err
	},
	destroy: func(t *testing.T, o external.Object) error {
		t.Helper()
		_, err := queueAPI(t).DeleteQueue(
			t.Context(), &sqs.DeleteQueueInput{QueueUrl: &o.(*v1alpha1.SQSQueue).Status.QueueURL})
		return err
	},
	astray: []wrong{
		{"kmsMasterKeyId", `{"kmsMasterKeyId":"` + noKey + `"}`, "ReferenceNotAllowed", true},
		{"kmsMasterKeyId", `{"kmsMasterKeyId":"alias/nowhere"}`, "ReferenceNotAllowed", true},
		{"deadLetterQueue.targetRef.name", `{"deadLetterQueue":{"maxReceiveCount":3,"targetRef":{"name":"nowhere"}}}`, "WaitingForDeadLetterQueue", true},
		{"deadLetterQueue.targetArn", `{"deadLetterQueue":{"maxReceiveCount":3,"targetArn":"` + noQueue + `"}}`, "ReferenceNotAllowed", true},
		{"redriveAllowPolicy.sourceQueueArns[]", `{"redriveAllowPolicy":{"redrivePermission":"byQueue","sourceQueueArns":["` + noQueue + `"]}}`, "InSync", true},
		{"redriveAllowPolicy.sourceQueueRefs[].name", `{"redriveAllowPolicy":{"redrivePermission":"byQueue","sourceQueueRefs":[{"name":"nowhere"}]}}`, "InSync", true},
		{"allowFrom[].topicRef.name", `{"allowFrom":[{"topicRef":{"name":"nowhere"}}]}`, "InSync", true},
		{"allowFrom[].bucketRef.name", `{"allowFrom":[{"bucketRef":{"name":"nowhere"}}]}`, "InSync", true},
		{"allowFrom[].arn", `{"allowFrom":[{"arn":"` + noTopic + `"}]}`, "ReferenceNotAllowed", true},
		{"allowFrom[].account", `{"allowFrom":[{"arn":"arn:aws:s3:::nowhere","account":"999999999999"}]}`, "ReferenceNotAllowed", true},
	},
	plain: []string{"policy"},
})

func queueAttributes(t *testing.T, q *v1alpha1.SQSQueue) map[string]string {
	t.Helper()
	out, err := queueAPI(t).GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &q.Status.QueueURL, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes
}
