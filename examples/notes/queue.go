package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// queue is the SQSQueue of the binding MESSAGES.
type queue struct {
	name, url string
	api       *sqs.Client
}

// newQueue returns the queue that the variables name, nil if they name none.
func newQueue(cfg aws.Config, env func(string) string) *queue {
	url := env("MESSAGES_URL")
	if url == "" {
		return nil
	}
	return &queue{env("MESSAGES_QUEUE"), url, sqs.NewFromConfig(cfg, func(o *sqs.Options) {
		o.Region = env("MESSAGES_REGION")
	})}
}

func (q *queue) send(ctx context.Context, text string) (string, error) {
	if q == nil {
		return "", errNotBound
	}
	_, err := q.api.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &q.url, MessageBody: &text})
	return "sent a message", err
}

// receive takes messages from the queue.
func (q *queue) receive(ctx context.Context, _ string) (string, error) {
	if q == nil {
		return "", errNotBound
	}
	out, err := q.api.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &q.url, MaxNumberOfMessages: mostLines})
	if err != nil {
		return "", err
	}
	var texts []string
	for i := range out.Messages {
		m := &out.Messages[i]
		texts = append(texts, aws.ToString(m.Body))
		_, err := q.api.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle})
		if err != nil {
			return "", err
		}
	}
	if len(texts) == 0 {
		return "there are no messages", nil
	}
	return "received: " + strings.Join(texts, " · "), nil
}

func (q *queue) card(ctx context.Context) card {
	if q == nil {
		return card{}
	}
	c := card{Name: q.name}
	out, err := q.api.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &q.url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameApproximateNumberOfMessages},
	})
	if err != nil {
		c.Err = err
		return c
	}
	waiting := out.Attributes[string(types.QueueAttributeNameApproximateNumberOfMessages)]
	c.Note = fmt.Sprintf("waiting: about %s", waiting)
	return c
}
