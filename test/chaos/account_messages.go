package chaos

import (
	"context"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/test/stack"
)

// lastPart returns the part after the last separator: the name in a queue's URL or a topic's ARN.
func lastPart(of, separator string) string { return of[strings.LastIndex(of, separator)+1:] }

// queues implements service for SQS queues.
type queues struct{ *account }

func (a queues) list(ctx context.Context) (all []resource, err error) {
	pages := sqs.NewListQueuesPaginator(a.sqs, &sqs.ListQueuesInput{MaxResults: aws.Int32(100)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, u := range page.QueueUrls {
			r, err := a.queue(ctx, u)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

func (a queues) make(ctx context.Context, name string, tags map[string]string) error {
	_, err := a.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Tags: tags})
	return err
}

func (a queues) tag(ctx context.Context, id string, tags map[string]string) error {
	u, err := a.url(ctx, id)
	if err != nil {
		return err
	}
	_, err = a.sqs.TagQueue(ctx, &sqs.TagQueueInput{QueueUrl: u, Tags: tags})
	return err
}

func (a queues) drift(ctx context.Context, lot *rand.Rand, id string) error {
	u, err := a.url(ctx, id)
	if err != nil {
		return err
	}
	_, err = a.sqs.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: u, Attributes: map[string]string{
		pick(lot, []string{"VisibilityTimeout", "DelaySeconds"}): strconv.Itoa(lot.IntN(900)),
	}})
	return err
}

func (a queues) destroy(ctx context.Context, id string) error {
	u, err := a.url(ctx, id)
	if err != nil {
		return err
	}
	_, err = a.sqs.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: u})
	return err
}

func (a queues) url(ctx context.Context, name string) (*string, error) {
	out, err := a.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		return nil, err
	}
	return out.QueueUrl, nil
}

func (a *account) queue(ctx context.Context, url string) (resource, error) {
	tags, err := a.sqs.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &url})
	if err != nil {
		return resource{}, err
	}
	out, err := a.sqs.GetQueueAttributes(
		ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{
			sqstypes.QueueAttributeNameAll,
		}})
	if err != nil {
		return resource{}, err
	}
	have := out.Attributes
	maps.DeleteFunc(have, func(key, _ string) bool {
		return strings.HasPrefix(key, "Approximate") || strings.HasSuffix(key, "Timestamp")
	})
	return resource{
		id: lastPart(url, "/"), tags: tags.Tags, config: text([]any{have, tags.Tags}),
		fields: map[string]string{"visibilityTimeout": have["VisibilityTimeout"], "delaySeconds": have["DelaySeconds"]},
	}, nil
}

// topicARN returns the ARN of a topic.
func topicARN(name string) string {
	return "arn:aws:sns:" + stack.Region + ":" + stack.AccountID + ":" + name
}

func topicTags(tags map[string]string) []snstypes.Tag {
	return cloud.TagList(tags, func(key, value *string) snstypes.Tag { return snstypes.Tag{Key: key, Value: value} })
}

// topics implements service for SNS topics.
type topics struct{ *account }

func (a topics) list(ctx context.Context) (all []resource, err error) {
	pages := sns.NewListTopicsPaginator(a.sns, &sns.ListTopicsInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Topics {
			r, err := a.topic(ctx, *t.TopicArn)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	return all, nil
}

func (a topics) make(ctx context.Context, name string, tags map[string]string) error {
	_, err := a.sns.CreateTopic(ctx, &sns.CreateTopicInput{Name: &name, Tags: topicTags(tags)})
	return err
}

func (a topics) tag(ctx context.Context, id string, tags map[string]string) error {
	_, err := a.sns.TagResource(
		ctx, &sns.TagResourceInput{ResourceArn: aws.String(topicARN(id)), Tags: topicTags(tags)})
	return err
}

func (a topics) drift(ctx context.Context, lot *rand.Rand, id string) error {
	_, err := a.sns.SetTopicAttributes(ctx, &sns.SetTopicAttributesInput{
		TopicArn: aws.String(topicARN(id)), AttributeName: aws.String("DisplayName"),
		AttributeValue: aws.String("theirs-" + strconv.Itoa(lot.IntN(100))),
	})
	return err
}

func (a topics) destroy(ctx context.Context, id string) error {
	_, err := a.sns.DeleteTopic(ctx, &sns.DeleteTopicInput{TopicArn: aws.String(topicARN(id))})
	return err
}

func (a *account) topic(ctx context.Context, arn string) (resource, error) {
	listed, err := a.sns.ListTagsForResource(ctx, &sns.ListTagsForResourceInput{ResourceArn: &arn})
	if err != nil {
		return resource{}, err
	}
	out, err := a.sns.GetTopicAttributes(ctx, &sns.GetTopicAttributesInput{TopicArn: &arn})
	if err != nil {
		return resource{}, err
	}
	tags := cloud.TagMap(listed.Tags, func(t snstypes.Tag) (key, value *string) { return t.Key, t.Value })
	return resource{
		id: lastPart(arn, ":"), tags: tags, config: text([]any{out.Attributes, tags}),
		fields: map[string]string{"displayName": out.Attributes["DisplayName"]},
	}, nil
}
