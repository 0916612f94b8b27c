package sqs

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
)

var errLost = errors.New("EOF")

// fakeSQS simulates one queue in SQS, as AWS answers: silent adoption on creation, attributes with their defaults, a
// KMS key that switches SQS's own keys off.
type fakeSQS struct {
	exists     bool
	tags       map[string]string
	attributes map[string]string
	recently   bool // the name was deleted less than a minute ago

	writes int
	calls  []string
	fail   error // of every read
	lose   bool  // the reply of every write
}

func code(c string) error { return &smithy.GenericAPIError{Code: c, Message: c} }

var errNoQueue = code("AWS.SimpleQueueService.NonExistentQueue")

func (f *fakeSQS) read(call string) error {
	f.calls = append(f.calls, call)
	if f.fail != nil {
		return f.fail
	}
	if !f.exists {
		return errNoQueue
	}
	return nil
}

func (f *fakeSQS) write(call string, do func() error) error {
	f.calls = append(f.calls, call)
	if !f.exists && call != "CreateQueue" {
		return errNoQueue
	}
	f.writes++
	if err := do(); err != nil {
		return err
	}
	if f.lose {
		return errLost
	}
	return nil
}

func (f *fakeSQS) CreateQueue(_ context.Context, in *sqs.CreateQueueInput, _ ...opt) (*sqs.CreateQueueOutput, error) {
	out := &sqs.CreateQueueOutput{
		QueueUrl: aws.String("https://sqs.eu-west-1.amazonaws.com/111122223333/" + *in.QueueName),
	}
	return out, f.write("CreateQueue", func() error {
		if f.recently {
			return code("AWS.SimpleQueueService.QueueDeletedRecently")
		}
		if f.exists {
			for key, value := range in.Attributes {
				if f.attributes[key] != value {
					return code("QueueNameExists")
				}
			}
			return nil // as if it had been created; its tags stay unchanged
		}
		f.exists, f.tags = true, maps.Clone(in.Tags)
		f.attributes = map[string]string{
			"DelaySeconds": "0", "MaximumMessageSize": "1048576", "MessageRetentionPeriod": "345600",
			"VisibilityTimeout":             "30",
			"ReceiveMessageWaitTimeSeconds": "0", managedEncryption: "true", "ApproximateNumberOfMessages": "3",
		}
		f.set(in.Attributes)
		return nil
	})
}

func (f *fakeSQS) set(attributes map[string]string) {
	if attributes["KmsMasterKeyId"] != "" {
		f.attributes[managedEncryption], f.attributes["KmsDataKeyReusePeriodSeconds"] = "false", "300"
	}
	for key, value := range attributes {
		if f.attributes[key] = value; value == "" {
			delete(f.attributes, key) // SQS lists no empty attribute
		}
	}
}

func (f *fakeSQS) DeleteQueue(context.Context, *sqs.DeleteQueueInput, ...opt) (*sqs.DeleteQueueOutput, error) {
	return &sqs.DeleteQueueOutput{}, f.write("DeleteQueue", func() error { f.exists = false; return nil })
}

func (f *fakeSQS) GetQueueUrl(_ context.Context, in *sqs.GetQueueUrlInput, _ ...opt) (*sqs.GetQueueUrlOutput, error) { //nolint:revive // the SDK's name
	return &sqs.GetQueueUrlOutput{
			QueueUrl: aws.String("https://sqs.eu-west-1.amazonaws.com/111122223333/" + *in.QueueName),
		},
		f.read("GetQueueUrl")
}

func (f *fakeSQS) GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...opt) (
	*sqs.GetQueueAttributesOutput, error,
) {
	return &sqs.GetQueueAttributesOutput{Attributes: maps.Clone(f.attributes)}, f.read("GetQueueAttributes")
}

func (f *fakeSQS) SetQueueAttributes(_ context.Context, in *sqs.SetQueueAttributesInput, _ ...opt) (
	*sqs.SetQueueAttributesOutput, error,
) {
	return &sqs.SetQueueAttributesOutput{},
		f.write("SetQueueAttributes", func() error { f.set(in.Attributes); return nil })
}

// ListQueues lists two queues, one a page.
func (f *fakeSQS) ListQueues(_ context.Context, in *sqs.ListQueuesInput, _ ...opt) (*sqs.ListQueuesOutput, error) {
	if in.NextToken == nil {
		return &sqs.ListQueuesOutput{QueueUrls: []string{"https://sqs/1/a"}, NextToken: aws.String("2")}, nil
	}
	return &sqs.ListQueuesOutput{QueueUrls: []string{"https://sqs/1/b.fifo"}}, f.fail
}

func (f *fakeSQS) ListQueueTags(context.Context, *sqs.ListQueueTagsInput, ...opt) (*sqs.ListQueueTagsOutput, error) {
	return &sqs.ListQueueTagsOutput{Tags: maps.Clone(f.tags)}, f.read("ListQueueTags")
}

func (f *fakeSQS) TagQueue(_ context.Context, in *sqs.TagQueueInput, _ ...opt) (*sqs.TagQueueOutput, error) {
	return &sqs.TagQueueOutput{}, f.write("TagQueue", func() error {
		if f.tags == nil {
			f.tags = map[string]string{}
		}
		maps.Copy(f.tags, in.Tags)
		return nil
	})
}

func (f *fakeSQS) UntagQueue(_ context.Context, in *sqs.UntagQueueInput, _ ...opt) (*sqs.UntagQueueOutput, error) {
	return &sqs.UntagQueueOutput{}, f.write("UntagQueue", func() error {
		for _, key := range in.TagKeys {
			delete(f.tags, key)
		}
		return nil
	})
}

// strip removes all of our tags.
func (f *fakeSQS) strip() {
	maps.DeleteFunc(f.tags, func(key, _ string) bool { return strings.HasPrefix(key, "portico.dev/") })
}
