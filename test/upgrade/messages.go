package upgrade

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/iampolicy"
)

// openQueues lets topics send to the queues that are subscribed to them. Versions that did not write queue policies
// needed someone with access to AWS to do that. It does not change a queue that has a policy.
func (c *installation) openQueues(ctx context.Context, all []unstructured.Unstructured) error {
	api := sqs.NewFromConfig(c.OutsideAWS())
	for i := range all {
		o := &all[i]
		if o.GetKind() != "SNSTopic" {
			continue
		}
		topic, _, _ := unstructured.NestedString(o.Object, "status", "arn")
		subscriptions, _, _ := unstructured.NestedSlice(o.Object, "status", "subscriptions")
		for _, s := range subscriptions {
			queue, _ := s.(object)["queueARN"].(string)
			if queue == "" || topic == "" {
				continue
			}
			if err := openQueue(ctx, api, queue, topic); err != nil {
				return fmt.Errorf("let %s send to %s: %w", topic, queue, err)
			}
		}
	}
	return nil
}

func openQueue(ctx context.Context, api *sqs.Client, queue, topic string) error {
	at, err := api.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(queue[strings.LastIndex(queue,
		":")+1:])})
	if err != nil {
		return err
	}
	has, err := api.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl:       at.QueueUrl,
		AttributeNames: []sqstypes.QueueAttributeName{policy},
	})
	if err != nil || has.Attributes[string(policy)] != "" {
		return err
	}
	_, err = api.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: at.QueueUrl,
		Attributes: map[string]string{
			string(policy): strings.ReplaceAll(
				iampolicy.LetIn("sqs:SendMessage", queue, []iampolicy.Source{{ARN: topic}}),
				iampolicy.Own, "ByHand"),
		},
	})
	return err
}

// policy is the queue attribute that holds the access policy.
const policy = sqstypes.QueueAttributeNamePolicy
