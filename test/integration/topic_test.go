//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/test/stack"
)

// topicClient returns a client that bypasses the operator.
func topicClient(t *testing.T) *sns.Client {
	t.Helper()
	return sns.NewFromConfig(outsideConfig(t, "test"))
}

func topicARN(o external.Object) *string { return &o.(*v1alpha1.SNSTopic).Status.ARN }

func topicAttributes(t *testing.T, o external.Object) map[string]string {
	t.Helper()
	out, err := topicClient(t).GetTopicAttributes(t.Context(), &sns.GetTopicAttributesInput{TopicArn: topicARN(o)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Attributes
}

var topics = register(specimen{
	kind: "SNSTopic", service: "sns",
	tagging: topicTagging,
	create:  "CreateTopic", update: "SetTopicAttributes", remove: "DeleteTopic", list: "ListTopics", page: 1,
	rest: []string{"ListTagsForResource"},
	object: func(ns, name string) external.Object {
		return &v1alpha1.SNSTopic{ObjectMeta: meta1(ns, name), Spec: v1alpha1.SNSTopicSpec{AWSSpec: sampleProvider()}}
	},
	declare: func(o external.Object) {
		s := &o.(*v1alpha1.SNSTopic).Spec
		s.DisplayName, s.Tags = "News", ours
	},
	holds: func(t *testing.T, o external.Object) bool {
		t.Helper()
		return topicAttributes(t, o)["DisplayName"] == "News"
	},
	spoil: func(t *testing.T, o external.Object) error {
		t.Helper()
		in := &sns.SetTopicAttributesInput{
			TopicArn: topicARN(o), AttributeName: aws.String("DisplayName"),
			AttributeValue: aws.String("Olds"),
		}
		_, err := topicClient(t).SetTopicAttributes(t.Context(), in)
		return err
	},
	destroy: func(t *testing.T, o external.Object) error {
		t.Helper()
		_, err := topicClient(t).DeleteTopic(t.Context(), &sns.DeleteTopicInput{TopicArn: topicARN(o)})
		return err
	},
	astray: []wrong{
		{"kmsMasterKeyId", `{"kmsMasterKeyId":"` + noKey + `"}`, "ReferenceNotAllowed", true},
		{"subscriptions[].queueRef.name", `{"subscriptions":[{"queueRef":{"name":"nowhere"}}]}`, "WaitingForQueues", true},
		{"subscriptions[].https", `{"subscriptions":[{"https":"https://nowhere.invalid/"}]}`, "ReferenceNotAllowed", true},
		{"subscriptions[].email", `{"subscriptions":[{"email":"nobody@nowhere.invalid"}]}`, "ReferenceNotAllowed", true},
		{"allowFrom[].bucketRef.name", `{"allowFrom":[{"bucketRef":{"name":"nowhere"}}]}`, "InSync", true},
		{"allowFrom[].arn", `{"allowFrom":[{"arn":"arn:aws:events:eu-west-1:999999999999:rule/nowhere"}]}`, "ReferenceNotAllowed", true},
		{"allowFrom[].account", `{"allowFrom":[{"arn":"arn:aws:s3:::nowhere","account":"999999999999"}]}`, "ReferenceNotAllowed", true},
	},
	// A topic cannot publish to another one: admission refuses topicRef.
	plain: []string{"displayName", "policy", "subscriptions[].filterPolicy", "allowFrom[].topicRef.name"},
})

// A topic uses the calls that its documentation promises.
func TestATopicKeepsItsCallBudget(t *testing.T) {
	calm(t)
	c := withOperator(t)
	ns := team(t, c)
	q := queueOf(ns, "orders")
	q.Spec.Policy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":"*",
		"Condition":{"StringEquals":{"aws:SourceAccount":"` + stack.AccountID + `"}}}]}`
	createReady(t, c, q)
	const tags, attributes, list, subscription = "ListTagsForResource", "GetTopicAttributes",
		"ListSubscriptionsByTopic", "GetSubscriptionAttributes"
	for _, row := range []struct {
		name          string
		change        func(*v1alpha1.SNSTopicSpec)
		create, check []string
	}{
		{"plain", func(*v1alpha1.SNSTopicSpec) {}, []string{tags, "CreateTopic", tags}, []string{tags}},
		{"full", func(s *v1alpha1.SNSTopicSpec) { s.DisplayName = "News" }, []string{tags, "CreateTopic", tags, attributes}, []string{tags, attributes}},
		{
			"heard", func(s *v1alpha1.SNSTopicSpec) {
				s.Subscriptions = []v1alpha1.SNSSubscription{{QueueRef: &v1alpha1.LocalRef{Name: "orders"}}}
			},
			[]string{tags, "CreateTopic", tags, list, "Subscribe", tags, list, subscription},
			[]string{tags, list, subscription},
		},
	} {
		m := world.Proxy.Mark()
		o := topics.object(ns, row.name)
		row.change(&o.(*v1alpha1.SNSTopic).Spec)
		create(t, c, o)
		l := life{topics, c, t, o}
		ready(t, c, o)
		l.settled()
		if got := topics.calls(m); !slices.Equal(got, row.create) {
			t.Errorf("%s: creation called %v, want %v", row.name, got, row.create)
		}
		m = world.Proxy.Mark()
		wakeNow(t, c, o)
		l.passes(m, 1)
		l.settled()
		if got := topics.calls(m); !slices.Equal(got, row.check) {
			t.Errorf("%s: a check called %v, want %v", row.name, got, row.check)
		}
		m = world.Proxy.Mark()
		gone(t, c, o)
		if got := topics.calls(m); !slices.Equal(got, []string{tags, list, "DeleteTopic", tags}) {
			t.Errorf("%s: deletion called %v", row.name, got)
		}
	}
}

// A topic is created before its queue. Its messages arrive, and changed and removed subscriptions are applied.
func TestATopicSubscribesItsQueues(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	o := topics.object(ns, "news").(*v1alpha1.SNSTopic)
	o.Spec.Subscriptions = []v1alpha1.SNSSubscription{
		{QueueRef: &v1alpha1.LocalRef{Name: "orders"}, RawMessageDelivery: true, FilterPolicy: `{"kind": ["order"]}`},
	}
	create(t, c, o)
	reason(t, c, o, "WaitingForQueues")
	q := queueOf(ns, "orders")
	q.Spec.AllowFrom = v1alpha1.Senders{{TopicRef: refTo("news")}}
	create(t, c, q)
	ready(t, c, o) // triggered by the queue, not by polling
	ready(t, c, q)
	if s := o.Status.Subscriptions; len(s) != 1 || s[0].QueueARN != q.Status.ARN || s[0].SubscriptionARN == "" {
		t.Fatalf("subscriptions %+v", s)
	}
	edit(t, c, o, func(o *v1alpha1.SNSTopic) { o.Spec.Subscriptions[0].FilterPolicy = "" })
	ready(t, c, o)
	if _, err := topicClient(t).Publish(
		t.Context(), &sns.PublishInput{TopicArn: topicARN(o), Message: aws.String("hello")}); err != nil {
		t.Fatal(err)
	}
	got, err := queueAPI(t).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &q.Status.QueueURL})
	if err != nil || len(got.Messages) != 1 || *got.Messages[0].Body != "hello" {
		t.Errorf("received %+v, %v", got, err)
	}
	if _, err := topicClient(t).Subscribe(
		t.Context(), &sns.SubscribeInput{
			TopicArn: topicARN(o), Protocol: aws.String("email"),
			Endpoint: aws.String("ops@example.com"),
		}); err != nil {
		t.Fatal(err)
	}
	edit(t, c, o, func(o *v1alpha1.SNSTopic) { o.Spec.Subscriptions = nil })
	ready(t, c, o)
	left, err := topicClient(t).ListSubscriptionsByTopic(t.Context(), &sns.ListSubscriptionsByTopicInput{
		TopicArn: topicARN(o),
	})
	if err != nil || len(left.Subscriptions) != 1 || *left.Subscriptions[0].Protocol != "email" {
		t.Fatalf("%+v, %v", left, err)
	}
	if err := world.Proxy.ConfirmSubscription(t.Context(), o.Status.ARN, "ops@example.com"); err != nil {
		t.Fatal(err)
	}
	if left, err = topicClient(t).ListSubscriptionsByTopic(t.Context(),
		&sns.ListSubscriptionsByTopicInput{TopicArn: topicARN(o)}); err != nil {
		t.Fatal(err)
	}
	if err := erase(t, c, o); err != nil {
		t.Fatal(err)
	}
	reason(t, c, o, "SubscribedTo")
	if _, err := topicClient(t).Unsubscribe(
		t.Context(), &sns.UnsubscribeInput{SubscriptionArn: left.Subscriptions[0].SubscriptionArn}); err != nil {
		t.Fatal(err)
	}
	wakeNow(t, c, o)
	gone(t, c, o)
}

// letInto allows a topic to send to a queue, with the policy that the documentation gives to somebody with access to
// AWS.
func letInto(t *testing.T, q *v1alpha1.SQSQueue, topic string) {
	t.Helper()
	policy := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":"` + q.Status.ARN +
		`","Condition":{"ArnEquals":{"aws:SourceArn":"` + topic + `"}}}]}`
	if _, err := queueAPI(t).SetQueueAttributes(t.Context(),
		&sqs.SetQueueAttributesInput{
			QueueUrl:   &q.Status.QueueURL,
			Attributes: map[string]string{"Policy": policy},
		}); err != nil {
		t.Fatal(err)
	}
}

func TestFIFOTopicsAndTheirRules(t *testing.T) {
	c := withOperator(t)
	o := topics.object(team(t, c), "ordered").(*v1alpha1.SNSTopic)
	o.Spec.FIFOTopic, o.Spec.ContentBasedDeduplication = true, aws.Bool(true)
	o.Spec.Policy = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + stack.AccountID + `"},"Action":["sns:Publish"],"Resource":"*"}]}`
	createReady(t, c, o)
	if got := topicAttributes(t, o); got["FifoTopic"] != "true" || got["ContentBasedDeduplication"] != "true" ||
		!strings.HasSuffix(o.Status.TopicName, ".fifo") {
		t.Errorf("topic %s has %v", o.Status.TopicName, got)
	}
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: o.Namespace, Name: o.Status.Binding.Name},
		secret); err != nil {
		t.Fatal(err)
	}
	if secret.Type != "servicebinding.io/sns" || string(secret.Data["arn"]) != o.Status.ARN ||
		string(secret.Data["topic"]) != o.Status.TopicName {
		t.Errorf("binding %s: %q", secret.Type, secret.Data)
	}
	twice := v1alpha1.SNSSubscription{QueueRef: &v1alpha1.LocalRef{Name: "orders"}}
	for wrong, change := range map[string]func(*v1alpha1.SNSTopicSpec){
		"needs fifoTopic":      func(s *v1alpha1.SNSTopicSpec) { s.ContentBasedDeduplication = aws.Bool(true) },
		"ends in .fifo":        func(s *v1alpha1.SNSTopicSpec) { s.TopicName = "plain.fifo" },
		"name of a FIFO topic": func(s *v1alpha1.SNSTopicSpec) { s.TopicName, s.FIFOTopic = "plain", true },
		"use letters, digits":  func(s *v1alpha1.SNSTopicSpec) { s.TopicName = "a b" },
		"name each queue and address " +
			"once": func(s *v1alpha1.SNSTopicSpec) { s.Subscriptions = []v1alpha1.SNSSubscription{twice, twice} },
	} {
		bad := topics.object(o.Namespace, "bad").(*v1alpha1.SNSTopic)
		change(&bad.Spec)
		if err := c.Create(t.Context(), bad); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	err := c.Patch(t.Context(), o,
		client.RawPatch("application/merge-patch+json",
			[]byte(`{"spec":{"fifoTopic":false,"contentBasedDeduplication":null}}`)))
	if err == nil || !strings.Contains(err.Error(), "fifoTopic is immutable") {
		t.Errorf("a FIFO topic becomes a standard one: %v", err)
	}
}
