//go:build integration

package mototest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// subscribe subscribes a queue to a topic of account one, without SNS's envelope.
func (w *world) subscribe(t *testing.T, topic, queue string) {
	t.Helper()
	_, err := w.sns(keyOne).Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: &topic, Protocol: aws.String("sqs"), Endpoint: &queue,
		Attributes: map[string]string{"RawMessageDelivery": "true"},
	})
	must(t, err)
}

func (w *world) publish(t *testing.T, topic, message string) {
	t.Helper()
	_, err := w.sns(keyOne).Publish(t.Context(), &sns.PublishInput{TopicArn: &topic, Message: &message})
	must(t, err)
}

// received receives and deletes all messages of a queue.
func (w *world) received(t *testing.T, key, url string) []string {
	t.Helper()
	all := []string{}
	for {
		got, err := w.sqs(key, "eu-west-1").ReceiveMessage(t.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10})
		must(t, err)
		if len(got.Messages) == 0 {
			slices.Sort(all)
			return all
		}
		for _, m := range got.Messages {
			all = append(all, *m.Body)
			_, err := w.sqs(key, "eu-west-1").DeleteMessage(t.Context(),
				&sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle})
			must(t, err)
		}
	}
}

func (w *world) wantReceived(t *testing.T, key, url string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := w.received(t, key, url); !slices.Equal(got, want) {
		t.Errorf("%s received %q, want %q", url[strings.LastIndex(url, "/")+1:], got, want)
	}
}

// TestAQueueGetsWhatItsPolicyLetsIn checks that a queue gets only the messages that its policy allows, and that the
// publisher gets no error for the others.
func TestAQueueGetsWhatItsPolicyLetsIn(t *testing.T) {
	w := newWorld(t)
	topic, other := w.topic(t), w.topic(t)
	for name, tc := range map[string]struct {
		policy func(queue string) string // nil for none
		want   []string                  // of the messages of the topic and of another topic
	}{
		"none":      {nil, nil},
		"the topic": {func(q string) string { return policyOf(on(toSNS, q, `"ArnEquals":{"aws:SourceArn":"`+topic+`"}`)) }, []string{"mine"}},
		"topics by wildcard": {func(q string) string {
			return policyOf(on(toSNS, q, `"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:`+accountOne+`:*"}`))
		}, []string{"mine", "other"}},
		"the account": {func(q string) string {
			return policyOf(on(toSNS, q, `"StringEquals":{"aws:SourceAccount":"`+accountOne+`"}`))
		}, []string{"mine", "other"}},
		"another account": {func(q string) string {
			return policyOf(on(toSNS, q, `"StringEquals":{"aws:SourceAccount":"`+accountTwo+`"}`))
		}, nil},
		"everybody by topic": {func(q string) string {
			return policyOf(on(strings.Replace(toSNS, `{"Service":"sns.amazonaws.com"}`, `"*"`, 1), q,
				`"ArnEquals":{"aws:SourceArn":"`+topic+`"}`))
		}, []string{"mine"}},
		"all but the other": {func(q string) string {
			deny := `"Effect":"Deny","Principal":"*","Action":"sqs:SendMessage"`
			return policyOf(on(toSNS, q), on(deny, q, `"ArnEquals":{"aws:SourceArn":"`+other+`"}`))
		}, []string{"mine"}},
		"services only": {func(q string) string {
			return policyOf(on(strings.Replace(toSNS, `{"Service":"sns.amazonaws.com"}`, `"*"`, 1), q,
				`"Bool":{"aws:PrincipalIsAWSService":"true"}`))
		}, []string{"mine", "other"}},
		"another service": {
			func(q string) string { return policyOf(on(strings.Replace(toSNS, "sns.", "s3.", 1), q)) },
			nil,
		},
		"its account": {func(q string) string {
			return policyOf(on(strings.Replace(toSNS, `"Service":"sns.amazonaws.com"`, `"AWS":"`+accountOne+`"`, 1), q))
		}, nil},
		"receiving": {func(q string) string {
			return policyOf(on(strings.Replace(toSNS, "SendMessage", "ReceiveMessage", 1), q))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			url, arn := w.queue(t, keyOne)
			if tc.policy != nil {
				must(t, w.setQueue(t, keyOne, url, map[string]string{"Policy": tc.policy(arn)}))
			}
			w.subscribe(t, topic, arn)
			w.subscribe(t, other, arn)
			w.publish(t, topic, "mine")
			w.publish(t, other, "other")
			w.wantReceived(t, keyOne, url, tc.want...)
		})
	}
}

// TestQueuesAreAskedOneByOne checks that each queue's policy is evaluated separately, for each message of a batch, at
// the time of publishing.
func TestQueuesAreAskedOneByOne(t *testing.T) {
	w := newWorld(t)
	topic := w.topic(t)
	openURL, open := w.queue(t, keyOne)
	shutURL, shut := w.queue(t, keyOne)
	must(t, w.setQueue(t, keyOne, openURL, map[string]string{"Policy": policyOf(on(toSNS, open))}))
	w.subscribe(t, topic, open)
	w.subscribe(t, topic, shut)
	w.subscribe(t, topic, "arn:aws:sqs:eu-west-1:"+accountOne+":nowhere")
	_, err := w.sns(keyOne).PublishBatch(t.Context(),
		&sns.PublishBatchInput{TopicArn: &topic, PublishBatchRequestEntries: []snstypes.PublishBatchRequestEntry{
			{Id: aws.String("1"), Message: aws.String("one")}, {Id: aws.String("2"), Message: aws.String("two")},
		}})
	must(t, err)
	w.wantReceived(t, keyOne, openURL, "one", "two")
	w.wantReceived(t, keyOne, shutURL)
	must(t, w.setQueue(t, keyOne, shutURL, map[string]string{"Policy": policyOf(on(toSNS, shut))}))
	must(t, w.setQueue(t, keyOne, openURL, map[string]string{"Policy": ""}))
	w.publish(t, topic, "three")
	w.wantReceived(t, keyOne, openURL)
	w.wantReceived(t, keyOne, shutURL, "three")
}

// TestTopicsSendToOtherAccounts checks that a queue can subscribe to another account's topic if the topic's policy
// allows it. If the queue is the other account's, the subscription needs confirmation.
func TestTopicsSendToOtherAccounts(t *testing.T) {
	w := newWorld(t)
	topic := w.topic(t)
	url, queue := w.queue(t, keyTwo)
	must(t, w.setQueue(t, keyTwo, url, map[string]string{
		"Policy": policyOf(on(toSNS, queue, `"ArnEquals":{"aws:SourceArn":"`+topic+`"}`)),
	}))
	in := &sns.SubscribeInput{
		TopicArn: &topic, Protocol: aws.String("sqs"), Endpoint: &queue,
		Attributes: map[string]string{"RawMessageDelivery": "true"},
	}
	_, err := w.sns(keyTwo).Subscribe(t.Context(), in)
	wantDenied(t, err, "AuthorizationError", "no resource-based policy allows the SNS:Subscribe action")
	out, err := w.sns(keyOne).Subscribe(t.Context(), in)
	must(t, err)
	if *out.SubscriptionArn != "pending confirmation" {
		t.Errorf("the subscription is %s", *out.SubscriptionArn)
	}
	w.publish(t, topic, "early")
	if got := w.received(t, keyTwo, url); len(got) != 1 ||
		!strings.Contains(got[0], `"Type": "SubscriptionConfirmation"`) {
		t.Errorf("received %q, want what asks to confirm", got)
	}
	must(t, w.ConfirmSubscription(t.Context(), topic, queue))
	w.publish(t, topic, "confirmed")
	w.wantReceived(t, keyTwo, url, "confirmed")

	topic = w.topic(t)
	must(
		t, w.setTopic(t, topic, policyOf(
			on(`"Effect":"Allow","Principal":{"AWS":"`+accountTwo+`"},"Action":"sns:Subscribe"`, topic))))
	in.TopicArn = &topic
	out, err = w.sns(keyTwo).Subscribe(t.Context(), in)
	must(t, err)
	if !strings.HasPrefix(*out.SubscriptionArn, topic) {
		t.Errorf("the subscription is %s", *out.SubscriptionArn)
	}
	w.publish(t, topic, "not from this topic")
	w.wantReceived(t, keyTwo, url)
	must(t, w.setQueue(t, keyTwo, url, map[string]string{
		"Policy": policyOf(on(toSNS, queue, `"StringEquals":{"aws:SourceAccount":"`+accountOne+`"}`)),
	}))
	w.publish(t, topic, "from this account")
	w.wantReceived(t, keyTwo, url, "from this account")
	_, err = w.sns(keyTwo).Publish(t.Context(), &sns.PublishInput{TopicArn: &topic, Message: aws.String("x")})
	wantDenied(t, err, "AuthorizationError", "no resource-based policy")
}

// TestSubscriptionsWaitForTheirConfirmation checks that a subscription of a web address or an e-mail address must be
// confirmed by its endpoint.
func TestSubscriptionsWaitForTheirConfirmation(t *testing.T) {
	w := newWorld(t)
	c := w.sns(keyOne)
	for protocol, endpoint := range map[string]string{
		"https": "https://hooks.example.com/a",
		"email": "ops@example.com",
	} {
		topic := w.topic(t)
		in := &sns.SubscribeInput{TopicArn: &topic, Protocol: &protocol, Endpoint: &endpoint}
		out, err := c.Subscribe(t.Context(), in)
		must(t, err)
		in.ReturnSubscriptionArn = true
		told, err := c.Subscribe(t.Context(), in)
		must(t, err)
		arn := told.SubscriptionArn
		if *out.SubscriptionArn != "pending confirmation" || !strings.HasPrefix(*arn, topic+":") {
			t.Errorf("%s: subscriptions %s and %s", protocol, *out.SubscriptionArn, *arn)
		}
		state := func() (listed, pending, counts string) {
			list, err := c.ListSubscriptionsByTopic(t.Context(), &sns.ListSubscriptionsByTopicInput{TopicArn: &topic})
			must(t, err)
			got, err := c.GetSubscriptionAttributes(t.Context(),
				&sns.GetSubscriptionAttributesInput{SubscriptionArn: arn})
			must(t, err)
			of, err := c.GetTopicAttributes(t.Context(), &sns.GetTopicAttributesInput{TopicArn: &topic})
			must(t, err)
			return *list.Subscriptions[0].SubscriptionArn, got.Attributes["PendingConfirmation"],
				of.Attributes["SubscriptionsPending"] + of.Attributes["SubscriptionsConfirmed"]
		}
		if listed, pending, counts := state(); listed != "PendingConfirmation" || pending != "true" || counts != "10" {
			t.Errorf("%s: listed as %s, pending %s, counts %s", protocol, listed, pending, counts)
		}
		_, err = c.Unsubscribe(t.Context(), &sns.UnsubscribeInput{SubscriptionArn: arn})
		wantCode(t, err, "InvalidParameter")
		_, err = c.ConfirmSubscription(t.Context(),
			&sns.ConfirmSubscriptionInput{TopicArn: &topic, Token: aws.String("guessed")})
		wantCode(t, err, "InvalidParameter")
		must(t, w.ConfirmSubscription(t.Context(), topic, endpoint))
		if listed, pending, counts := state(); listed != *arn || pending != "false" || counts != "01" {
			t.Errorf("%s: listed as %s, pending %s, counts %s", protocol, listed, pending, counts)
		}
		w.publish(t, topic, "nothing leaves the machine")
		_, err = c.Unsubscribe(t.Context(), &sns.UnsubscribeInput{SubscriptionArn: arn})
		must(t, err)
		if err := w.ConfirmSubscription(t.Context(), topic, endpoint); err == nil {
			t.Error("a subscription that is not there is confirmed")
		}
	}
}

func TestRulesOfEventBridgeSend(t *testing.T) {
	w := newWorld(t)
	rule := "arn:aws:events:eu-west-1:" + accountOne + ":rule/nightly"
	url, queue := w.queue(t, keyOne)
	send := func(rule, to string) bool {
		delivered, err := w.SendFromRule(t.Context(), rule, to, "tick")
		must(t, err)
		return delivered
	}
	if send(rule, queue) || send(rule, queue+"-nowhere") {
		t.Error("it arrived")
	}
	allow := strings.Replace(toSNS, "sns.", "events.", 1)
	must(t, w.setQueue(t, keyOne, url, map[string]string{
		"Policy": policyOf(on(allow, queue, `"ArnEquals":{"aws:SourceArn":"`+rule+`"}`)),
	}))
	if !send(rule, queue) || send(rule+"-other", queue) {
		t.Error("the rule's policy is not held to")
	}
	w.wantReceived(t, keyOne, url, "tick")
	topic := w.topic(t)
	w.subscribe(t, topic, queue)
	must(
		t, w.setTopic(t, topic, policyOf(
			on(strings.Replace(publish, `{"AWS":"*"}`, `{"Service":"events.amazonaws.com"}`, 1), topic))))
	if !send(rule, topic) {
		t.Error("the topic did not get it")
	}
	w.wantReceived(t, keyOne, url)
	must(t, w.setQueue(t, keyOne, url, map[string]string{"Policy": policyOf(on(toSNS, queue))}))
	send(rule, topic)
	w.wantReceived(t, keyOne, url, "tick")
}
