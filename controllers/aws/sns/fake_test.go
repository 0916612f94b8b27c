package sns

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/smithy-go"
)

var errLost = errors.New("EOF")

// fakeSNS simulates one topic in SNS, as AWS answers: a creation that refuses other tags, a default policy, idempotent
// subscriptions.
type fakeSNS struct {
	exists        bool
	tags          map[string]string
	attributes    map[string]string
	subscriptions map[string]map[string]string // attributes by endpoint
	ids           map[string]string            // by endpoint, instead of an ARN

	writes int
	calls  []string
	fail   error // of every read
	lose   bool  // the reply of every write
}

func code(c string) error { return &smithy.GenericAPIError{Code: c, Message: c} }

func (f *fakeSNS) read(call string) error {
	f.calls = append(f.calls, call)
	if f.fail == nil && !f.exists {
		return code(map[bool]string{true: "ResourceNotFound", false: "NotFound"}[call == "ListTagsForResource"])
	}
	return f.fail
}

func (f *fakeSNS) write(call string, do func()) error {
	f.calls = append(f.calls, call)
	f.writes++
	if do(); f.lose {
		return errLost
	}
	return nil
}

func (f *fakeSNS) CreateTopic(_ context.Context, in *sns.CreateTopicInput, _ ...opt) (*sns.CreateTopicOutput, error) {
	tags := map[string]string{}
	for _, t := range in.Tags {
		tags[*t.Key] = *t.Value
	}
	if f.exists && !maps.Equal(tags, f.tags) {
		return nil, code("InvalidParameter")
	}
	return &sns.CreateTopicOutput{}, f.write("CreateTopic", func() {
		if f.exists {
			return
		}
		f.exists, f.tags, f.subscriptions = true, tags, map[string]map[string]string{}
		f.attributes = map[string]string{"Policy": defaultPolicy(topicARN, account), "DisplayName": ""}
		maps.Copy(f.attributes, in.Attributes)
	})
}

func (f *fakeSNS) DeleteTopic(context.Context, *sns.DeleteTopicInput, ...opt) (*sns.DeleteTopicOutput, error) {
	return &sns.DeleteTopicOutput{}, f.write("DeleteTopic", func() { f.exists = false })
}

func (f *fakeSNS) GetTopicAttributes(context.Context, *sns.GetTopicAttributesInput, ...opt) (
	*sns.GetTopicAttributesOutput, error,
) {
	return &sns.GetTopicAttributesOutput{Attributes: maps.Clone(f.attributes)}, f.read("GetTopicAttributes")
}

func (f *fakeSNS) SetTopicAttributes(_ context.Context, in *sns.SetTopicAttributesInput, _ ...opt) (
	*sns.SetTopicAttributesOutput, error,
) {
	return &sns.SetTopicAttributesOutput{},
		f.write("SetTopicAttributes", func() { f.attributes[*in.AttributeName] = *in.AttributeValue })
}

// ListTopics lists two topics, one a page.
func (f *fakeSNS) ListTopics(_ context.Context, in *sns.ListTopicsInput, _ ...opt) (*sns.ListTopicsOutput, error) {
	if in.NextToken == nil {
		return &sns.ListTopicsOutput{
			Topics:    []snstypes.Topic{{TopicArn: aws.String("arn:a")}},
			NextToken: aws.String("2"),
		}, nil
	}
	return &sns.ListTopicsOutput{Topics: []snstypes.Topic{{TopicArn: aws.String("arn:b")}}}, f.fail
}

func (f *fakeSNS) Subscribe(_ context.Context, in *sns.SubscribeInput, _ ...opt) (*sns.SubscribeOutput, error) {
	return &sns.SubscribeOutput{},
		f.write("Subscribe", func() { f.subscriptions[*in.Endpoint] = maps.Clone(in.Attributes) })
}

func (f *fakeSNS) Unsubscribe(_ context.Context, in *sns.UnsubscribeInput, _ ...opt) (*sns.UnsubscribeOutput, error) {
	return &sns.UnsubscribeOutput{},
		f.write("Unsubscribe", func() { delete(f.subscriptions, endpoint(in.SubscriptionArn)) })
}

func endpoint(id *string) string { return strings.TrimPrefix(*id, "arn:of:") }

func (f *fakeSNS) GetSubscriptionAttributes(_ context.Context, in *sns.GetSubscriptionAttributesInput, _ ...opt) (
	*sns.GetSubscriptionAttributesOutput, error,
) {
	return &sns.GetSubscriptionAttributesOutput{Attributes: maps.Clone(f.subscriptions[endpoint(in.SubscriptionArn)])},
		f.read("GetSubscriptionAttributes")
}

func (f *fakeSNS) SetSubscriptionAttributes(_ context.Context, in *sns.SetSubscriptionAttributesInput, _ ...opt) (
	*sns.SetSubscriptionAttributesOutput, error,
) {
	return &sns.SetSubscriptionAttributesOutput{}, f.write("SetSubscriptionAttributes", func() {
		f.subscriptions[endpoint(in.SubscriptionArn)][*in.AttributeName] = *in.AttributeValue
	})
}

func (f *fakeSNS) ListSubscriptionsByTopic(context.Context, *sns.ListSubscriptionsByTopicInput, ...opt) (
	*sns.ListSubscriptionsByTopicOutput, error,
) {
	out := &sns.ListSubscriptionsByTopicOutput{}
	for to := range f.subscriptions {
		id := "arn:of:" + to
		if other := f.ids[to]; other != "" {
			id = other
		}
		out.Subscriptions = append(out.Subscriptions, snstypes.Subscription{SubscriptionArn: &id, Endpoint: &to})
	}
	return out, f.read("ListSubscriptionsByTopic")
}

func (f *fakeSNS) ListTagsForResource(context.Context, *sns.ListTagsForResourceInput, ...opt) (
	*sns.ListTagsForResourceOutput, error,
) {
	return &sns.ListTagsForResourceOutput{Tags: tagList(f.tags)}, f.read("ListTagsForResource")
}

func (f *fakeSNS) TagResource(_ context.Context, in *sns.TagResourceInput, _ ...opt) (*sns.TagResourceOutput, error) {
	return &sns.TagResourceOutput{}, f.write("TagResource", func() {
		for _, t := range in.Tags {
			f.tags[*t.Key] = *t.Value
		}
	})
}

func (f *fakeSNS) UntagResource(_ context.Context, in *sns.UntagResourceInput, _ ...opt) (
	*sns.UntagResourceOutput, error,
) {
	return &sns.UntagResourceOutput{}, f.write("UntagResource", func() {
		maps.DeleteFunc(f.tags, func(key, _ string) bool { return slices.Contains(in.TagKeys, key) })
	})
}
