//go:build integration

package integration

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

func queueAt(s *trial, name string) external.Object {
	q := queueOf(s.ns, name)
	q.Spec.ProviderRef.Name = s.provider.Name
	return q
}

func queueURL(o external.Object) *string { return &o.(*v1alpha1.SQSQueue).Status.QueueURL }

// attributeRow returns the setting that is one attribute of a queue.
func attributeRow(name, attribute, set, change, other string) setting {
	return setting{
		name: name, set: set, change: change,
		has: func(s *trial, o external.Object) string { return s.attribute(o, attribute) },
		spoil: func(s *trial, o external.Object) error {
			_, err := s.sqs().SetQueueAttributes(s.Context(), &sqs.SetQueueAttributesInput{
				QueueUrl: queueURL(o), Attributes: map[string]string{attribute: other},
			})
			return err
		},
	}
}

// queueSettings are the settings of an SQSQueue.
var queueSettings = []setting{
	{
		name: "tags", set: `{"tags":{"team":"payments"}}`, change: `{"tags":{"team":"search"}}`,
		has: func(s *trial, o external.Object) string {
			out, err := s.sqs().ListQueueTags(s.Context(), &sqs.ListQueueTagsInput{QueueUrl: queueURL(o)})
			return value(err, func() string { return out.Tags["team"] })
		},
		spoil: func(s *trial, o external.Object) error {
			_, err := s.sqs().TagQueue(
				s.Context(), &sqs.TagQueueInput{QueueUrl: queueURL(o), Tags: map[string]string{"team": "nobody"}})
			return err
		},
	},
	attributeRow("delaySeconds", "DelaySeconds", `{"delaySeconds":5}`, `{"delaySeconds":6}`, "7"),
	attributeRow("visibilityTimeout", "VisibilityTimeout", `{"visibilityTimeout":50}`, `{"visibilityTimeout":60}`,
		"70"),
	attributeRow("receiveMessageWaitTimeSeconds", "ReceiveMessageWaitTimeSeconds",
		`{"receiveMessageWaitTimeSeconds":5}`, `{"receiveMessageWaitTimeSeconds":6}`, "7"),
	attributeRow("messageRetentionPeriod", "MessageRetentionPeriod", `{"messageRetentionPeriod":86400}`,
		`{"messageRetentionPeriod":90000}`, "100000"),
	attributeRow("maximumMessageSize", "MaximumMessageSize", `{"maximumMessageSize":2048}`,
		`{"maximumMessageSize":4096}`, "8192"),
	{
		name: "deadLetterQueue", set: `{"deadLetterQueue":{"targetRef":{"name":"dead"},"maxReceiveCount":3}}`,
		change: `{"deadLetterQueue":{"targetRef":{"name":"dead"},"maxReceiveCount":4}}`,
		has:    func(s *trial, o external.Object) string { return s.attribute(o, "RedrivePolicy") },
		spoil: func(s *trial, o external.Object) error {
			policy := fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":9}`,
				o.(*v1alpha1.SQSQueue).Status.DeadLetterTargetARN)
			_, err := s.sqs().SetQueueAttributes(s.Context(), &sqs.SetQueueAttributesInput{
				QueueUrl: queueURL(o), Attributes: map[string]string{"RedrivePolicy": policy},
			})
			return err
		},
	},
	attributeRow("redriveAllowPolicy", "RedriveAllowPolicy", `{"redriveAllowPolicy":{"redrivePermission":"denyAll"}}`,
		`{"redriveAllowPolicy":{"redrivePermission":"allowAll"}}`, `{"redrivePermission":"denyAll"}`),
	attributeRow("kmsMasterKeyId", "KmsMasterKeyId", `{"kmsMasterKeyId":"one"}`, `{"kmsMasterKeyId":"two"}`, "three"),
	attributeRow("kmsDataKeyReusePeriodSeconds", "KmsDataKeyReusePeriodSeconds",
		`{"kmsMasterKeyId":"one","kmsDataKeyReusePeriodSeconds":600}`,
		`{"kmsDataKeyReusePeriodSeconds":700}`, "800"),
	attributeRow("sqsManagedSseEnabled", "SqsManagedSseEnabled", `{"sqsManagedSseEnabled":true}`,
		`{"sqsManagedSseEnabled":false}`, "true"),
	attributeRow("contentBasedDeduplication", "ContentBasedDeduplication",
		`{"fifoQueue":true,"contentBasedDeduplication":true}`, `{"contentBasedDeduplication":false}`, "true"),
	attributeRow("deduplicationScope", "DeduplicationScope", `{"fifoQueue":true,"deduplicationScope":"messageGroup"}`,
		`{"deduplicationScope":"queue"}`, "messageGroup"),
	attributeRow("fifoThroughputLimit", "FifoThroughputLimit",
		`{"fifoQueue":true,"fifoThroughputLimit":"perMessageGroupId","deduplicationScope":"messageGroup"}`,
		`{"fifoThroughputLimit":"perQueue"}`, "perMessageGroupId"),
}

// attribute returns the server's value of an attribute.
func (s *trial) attribute(o external.Object, name string) string {
	out, err := s.sqs().GetQueueAttributes(s.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: queueURL(o), AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameAll},
	})
	return value(err, func() string { return out.Attributes[name] })
}

func (s *trial) listsQueue(q *v1alpha1.SQSQueue) string {
	s.Helper()
	out, err := s.sqs().ListQueues(s.Context(), &sqs.ListQueuesInput{})
	if err != nil {
		s.Fatal(err)
	}
	for _, url := range out.QueueUrls {
		if strings.HasSuffix(url, "/"+q.Status.QueueName) {
			return url
		}
	}
	return ""
}

// deadLetters creates the dead-letter queue that other queues refer to.
func (s *trial) deadLetters() {
	s.Helper()
	dead := queueAt(s, "dead")
	create(s.T, s.Client, dead)
	if got, told := s.outcome(dead); got != carried {
		s.Fatal(told)
	}
}

// deletesQueue deletes a queue with a message in it.
func (s *trial) deletesQueue() {
	s.Helper()
	q := queueAt(s, "full").(*v1alpha1.SQSQueue)
	create(s.T, s.Client, q)
	s.outcome(q)
	if _, err := s.sqs().SendMessage(
		s.Context(), &sqs.SendMessageInput{
			QueueUrl: &q.Status.QueueURL, MessageBody: aws.String("hello"),
		}); err != nil {
		s.Error(err)
	}
	s.goes(q)
}
