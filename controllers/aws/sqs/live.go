package sqs

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
)

// counts are the numbers of messages, by our names. SQS itself calls them approximate.
var counts = map[string]sqstypes.QueueAttributeName{
	"messages":         sqstypes.QueueAttributeNameApproximateNumberOfMessages,
	"messagesInFlight": sqstypes.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
	"messagesDelayed":  sqstypes.QueueAttributeNameApproximateNumberOfMessagesDelayed,
}

// ReadLive counts the messages: those available, those received and not deleted yet, and those that are delayed.
func (q *queue) ReadLive(ctx context.Context, obj *v1alpha1.SQSQueue) (map[string]string, error) {
	if obj.Status.QueueURL == "" {
		return nil, nil
	}
	in := &sqs.GetQueueAttributesInput{QueueUrl: &obj.Status.QueueURL}
	for _, name := range counts {
		in.AttributeNames = append(in.AttributeNames, name)
	}
	out, err := q.api.GetQueueAttributes(ctx, in)
	if cloud.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, cloud.Explain(err)
	}
	values := map[string]string{}
	for ours, theirs := range counts {
		if value, ok := out.Attributes[string(theirs)]; ok {
			values[ours] = value
		}
	}
	return values, nil
}
