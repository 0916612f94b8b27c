package sns

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/portico-platform/portico/controllers/cloud"
)

type opt = func(*sns.Options)

// api lists the calls that Portico makes to SNS; docs/iam is checked against it.
type api interface {
	topicAPI
	subscriptionAPI
	tagAPI
}

type topicAPI interface {
	CreateTopic(context.Context, *sns.CreateTopicInput, ...opt) (*sns.CreateTopicOutput, error)
	DeleteTopic(context.Context, *sns.DeleteTopicInput, ...opt) (*sns.DeleteTopicOutput, error)
	GetTopicAttributes(context.Context, *sns.GetTopicAttributesInput, ...opt) (*sns.GetTopicAttributesOutput, error)
	SetTopicAttributes(context.Context, *sns.SetTopicAttributesInput, ...opt) (*sns.SetTopicAttributesOutput, error)
	ListTopics(context.Context, *sns.ListTopicsInput, ...opt) (*sns.ListTopicsOutput, error)
}

type subscriptionAPI interface {
	Subscribe(context.Context, *sns.SubscribeInput, ...opt) (*sns.SubscribeOutput, error)
	Unsubscribe(context.Context, *sns.UnsubscribeInput, ...opt) (*sns.UnsubscribeOutput, error)
	GetSubscriptionAttributes(context.Context, *sns.GetSubscriptionAttributesInput, ...opt) (
		*sns.GetSubscriptionAttributesOutput, error)
	SetSubscriptionAttributes(context.Context, *sns.SetSubscriptionAttributesInput, ...opt) (
		*sns.SetSubscriptionAttributesOutput, error)
	ListSubscriptionsByTopic(context.Context, *sns.ListSubscriptionsByTopicInput, ...opt) (
		*sns.ListSubscriptionsByTopicOutput, error)
}

type tagAPI interface {
	ListTagsForResource(context.Context, *sns.ListTagsForResourceInput, ...opt) (*sns.ListTagsForResourceOutput, error)
	TagResource(context.Context, *sns.TagResourceInput, ...opt) (*sns.TagResourceOutput, error)
	UntagResource(context.Context, *sns.UntagResourceInput, ...opt) (*sns.UntagResourceOutput, error)
}

func clientFor(session *cloud.Session) *sns.Client {
	return cloud.Shared(session, func() *sns.Client { return sns.NewFromConfig(session.ConfigFor(sns.ServiceID)) })
}

// Topics lists the ARNs of the topics in the session's account and region.
func Topics(ctx context.Context, session *cloud.Session) ([]string, error) {
	return list(ctx, clientFor(session))
}

func list(ctx context.Context, api topicAPI) ([]string, error) {
	var all []string
	for pages := sns.NewListTopicsPaginator(api, &sns.ListTopicsInput{}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, cloud.Explain(err)
		}
		for _, t := range page.Topics {
			all = append(all, aws.ToString(t.TopicArn))
		}
	}
	return all, nil
}

// service implements attributes.Service.
type service struct{ api api }

func (s service) ListTags(ctx context.Context, arn string) (map[string]string, error) {
	out, err := s.api.ListTagsForResource(ctx, &sns.ListTagsForResourceInput{ResourceArn: &arn})
	if err != nil {
		return nil, err
	}
	return cloud.TagMap(out.Tags, func(t snstypes.Tag) (key, value *string) { return t.Key, t.Value }), nil
}

func tagList(tags map[string]string) []snstypes.Tag {
	return cloud.TagList(tags, func(key, value *string) snstypes.Tag { return snstypes.Tag{Key: key, Value: value} })
}

func (s service) Tag(ctx context.Context, arn string, tags map[string]string) error {
	_, err := s.api.TagResource(ctx, &sns.TagResourceInput{ResourceArn: &arn, Tags: tagList(tags)})
	return err
}

func (s service) Untag(ctx context.Context, arn string, keys []string) error {
	_, err := s.api.UntagResource(ctx, &sns.UntagResourceInput{ResourceArn: &arn, TagKeys: keys})
	return err
}

func (s service) Delete(ctx context.Context, arn string) error {
	_, err := s.api.DeleteTopic(ctx, &sns.DeleteTopicInput{TopicArn: &arn})
	return err
}

// PolicyReader reads access policies of topics, for the kinds that publish to them.
type PolicyReader struct{ api topicAPI }

// Policies returns the PolicyReader of a session.
func Policies(session *cloud.Session) PolicyReader { return PolicyReader{clientFor(session)} }

// Policy returns the access policy of the topic.
func (p PolicyReader) Policy(ctx context.Context, arn string) (string, error) {
	out, err := p.api.GetTopicAttributes(ctx, &sns.GetTopicAttributesInput{TopicArn: &arn})
	if err != nil {
		return "", cloud.Explain(err)
	}
	return out.Attributes["Policy"], nil
}
