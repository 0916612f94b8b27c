//go:build integration

package mototest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"

	"github.com/portico-platform/portico/test/awsproxy"
)

func (w *world) sns(key string) *sns.Client {
	return sns.NewFromConfig(config(w.operator, key, "eu-west-1"))
}

func TestATopicIsNotCreatedTwiceInTwoWays(t *testing.T) {
	w := newWorld(t)
	c := w.sns(keyOne)
	name := unique(t)
	in := &sns.CreateTopicInput{
		Name: &name, Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("first")}},
		Attributes: map[string]string{"DisplayName": "One"},
	}
	first, err := c.CreateTopic(t.Context(), in)
	must(t, err)
	again, err := c.CreateTopic(t.Context(), in)
	must(t, err)
	if *again.TopicArn != *first.TopicArn {
		t.Errorf("ARNs %s and %s", *first.TopicArn, *again.TopicArn)
	}
	in.Attributes["DisplayName"] = "Two"
	_, err = c.CreateTopic(t.Context(), in)
	wantCode(t, err, "InvalidParameter")
	in.Attributes, in.Tags[0].Value = nil, aws.String("second")
	_, err = c.CreateTopic(t.Context(), in)
	wantCode(t, err, "InvalidParameter")
	in.Tags = nil
	_, err = c.CreateTopic(t.Context(), in)
	must(t, err)
	_, err = c.SetTopicAttributes(t.Context(), &sns.SetTopicAttributesInput{
		TopicArn: first.TopicArn, AttributeName: aws.String("Policy"), AttributeValue: aws.String("{"),
	})
	wantCode(t, err, "InvalidParameter")
	if n := len(w.Calls(awsproxy.To("sns"), awsproxy.About(name))); n != 6 {
		t.Errorf("%d calls about the topic, want 6", n)
	}
}

// TestARefusedFilterMakesNoSubscription checks that a refused filter leaves no subscription behind; moto creates the
// subscription and then refuses it.
func TestARefusedFilterMakesNoSubscription(t *testing.T) {
	w := newWorld(t)
	c := w.sns(keyOne)
	out, err := c.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String(unique(t))})
	must(t, err)
	_, err = c.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: out.TopicArn, Protocol: aws.String("sqs"),
		Endpoint:   aws.String("arn:aws:sqs:eu-west-1:111111111111:orders"),
		Attributes: map[string]string{"FilterPolicy": `{"a":{"b":["c"]}}`},
	})
	wantCode(t, err, "InvalidParameter")
	listed, err := c.ListSubscriptionsByTopic(t.Context(), &sns.ListSubscriptionsByTopicInput{TopicArn: out.TopicArn})
	must(t, err)
	if len(listed.Subscriptions) != 0 {
		t.Errorf("there is %v", *listed.Subscriptions[0].SubscriptionArn)
	}
}

func TestASubscriptionKeepsItsAttributes(t *testing.T) {
	w := newWorld(t)
	c := w.sns(keyOne)
	out, err := c.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String(unique(t))})
	must(t, err)
	in := &sns.SubscribeInput{
		TopicArn: out.TopicArn, Protocol: aws.String("sqs"),
		Endpoint:              aws.String("arn:aws:sqs:eu-west-1:111111111111:orders"),
		Attributes:            map[string]string{"RawMessageDelivery": "true", "FilterPolicy": `{"a":["b"]}`},
		ReturnSubscriptionArn: true,
	}
	first, err := c.Subscribe(t.Context(), in)
	must(t, err)
	again, err := c.Subscribe(t.Context(), in)
	must(t, err)
	if *first.SubscriptionArn != *again.SubscriptionArn {
		t.Errorf("ARNs %s and %s", *first.SubscriptionArn, *again.SubscriptionArn)
	}
	in.Attributes["RawMessageDelivery"] = "false"
	_, err = c.Subscribe(t.Context(), in)
	wantCode(t, err, "InvalidParameter")
}

func TestTopicsAreListedInSmallPages(t *testing.T) {
	w := newWorld(t)
	c := w.sns(newAccount(w))
	want := map[string]bool{}
	for range 3 {
		out, err := c.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String(unique(t))})
		must(t, err)
		want[*out.TopicArn] = true
	}
	w.SetPageSize(2)
	defer w.SetPageSize(0)
	pages := 0
	for p := sns.NewListTopicsPaginator(c, &sns.ListTopicsInput{}); p.HasMorePages(); pages++ {
		out, err := p.NextPage(t.Context())
		must(t, err)
		for _, topic := range out.Topics {
			delete(want, *topic.TopicArn)
		}
	}
	if pages != 2 || len(want) != 0 {
		t.Errorf("%d pages, and %v is missing", pages, want)
	}
}
