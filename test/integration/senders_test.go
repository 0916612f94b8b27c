//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/test/awsproxy"
	"github.com/portico-platform/portico/test/stack"
)

// mail is a team's queue, with a topic and a bucket that send to it.
type mail struct {
	t      *testing.T
	c      client.Client
	queue  *v1alpha1.SQSQueue
	topic  *v1alpha1.SNSTopic
	bucket *v1alpha1.S3Bucket
}

// newMail returns a queue, a topic and a bucket that have not been created yet.
func newMail(t *testing.T, c client.Client, ns string) mail {
	t.Helper()
	m := mail{t, c, queueOf(ns, "inbox"), topics.object(ns, "news").(*v1alpha1.SNSTopic), bucketOf(ns, "uploads")}
	m.queue.Spec.AllowFrom = v1alpha1.Senders{{TopicRef: refTo("news")}, {BucketRef: refTo("uploads")}}
	m.topic.Spec.Subscriptions = []v1alpha1.SNSSubscription{{QueueRef: refTo("inbox"), RawMessageDelivery: true}}
	m.bucket.Spec.ForceDestroy = true
	m.bucket.Spec.Notifications = []v1alpha1.S3Notification{{
		QueueRef: refTo("inbox"),
		Events:   []string{"s3:ObjectCreated:*"}, Prefix: "in/", Suffix: ".json",
	}}
	return m
}

func refTo(name string) *v1alpha1.LocalRef { return &v1alpha1.LocalRef{Name: name} }

func (m mail) all() []engine.Object { return []engine.Object{m.bucket, m.topic, m.queue} }

func (m mail) ready() {
	m.t.Helper()
	for _, o := range m.all() {
		ready(m.t, m.c, o)
	}
}

func (m mail) publish(topic, text string) {
	m.t.Helper()
	if _, err := topicClient(m.t).Publish(m.t.Context(),
		&sns.PublishInput{TopicArn: &topic, Message: &text}); err != nil {
		m.t.Fatal(err)
	}
}

func (m mail) put(key string) {
	m.t.Helper()
	in := &s3.PutObjectInput{Bucket: &m.bucket.Status.BucketName, Key: &key, Body: strings.NewReader("{}")}
	if _, err := outside(m.t, "test").PutObject(m.t.Context(), in); err != nil {
		m.t.Fatal(err)
	}
}

// arrived empties the queue and returns its messages, sorted; an object's creation as the object's key.
func (m mail) arrived() []string {
	m.t.Helper()
	var all []string
	for {
		got, err := queueAPI(m.t).ReceiveMessage(m.t.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: &m.queue.Status.QueueURL, MaxNumberOfMessages: 10})
		if err != nil {
			m.t.Fatal(err)
		}
		if len(got.Messages) == 0 {
			slices.Sort(all)
			return all
		}
		for _, one := range got.Messages {
			if what := contentOf(*one.Body); what != "" {
				all = append(all, what)
			}
			in := &sqs.DeleteMessageInput{QueueUrl: &m.queue.Status.QueueURL, ReceiptHandle: one.ReceiptHandle}
			if _, err := queueAPI(m.t).DeleteMessage(m.t.Context(), in); err != nil {
				m.t.Fatal(err)
			}
		}
	}
}

// contentOf returns the key of the object for an S3 event, "" for the test event of S3, and any other message
// unchanged.
func contentOf(body string) string {
	var of struct {
		Event   string
		Records []struct {
			S3 struct{ Object struct{ Key string } }
		}
	}
	switch err := json.Unmarshal([]byte(body), &of); {
	case err != nil:
		return body
	case of.Event == "s3:TestEvent":
		return ""
	case len(of.Records) > 0:
		return of.Records[0].S3.Object.Key
	}
	return body
}

func (m mail) wantArrived(want ...string) {
	m.t.Helper()
	if got := m.arrived(); !slices.Equal(got, want) {
		m.t.Errorf("arrived: %q, want %q", got, want)
	}
}

// Published messages and events of new objects arrive without any change in AWS by hand; another topic's messages do
// not. The order in which the three objects are created and deleted does not matter.
func TestMessagesArriveFromWhomTheQueueNames(t *testing.T) {
	c := withOperator(t)
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			m := newMail(t, c, team(t, c))
			for _, i := range order {
				create(t, c, m.all()[i])
			}
			m.ready()
			other := topics.object(m.queue.Namespace, "other").(*v1alpha1.SNSTopic)
			createReady(t, c, other)
			if _, err := topicClient(t).Subscribe(t.Context(),
				&sns.SubscribeInput{
					TopicArn: topicARN(other), Protocol: aws.String("sqs"),
					Endpoint: &m.queue.Status.ARN,
				}); err != nil {
				t.Fatal(err)
			}
			m.publish(other.Status.ARN, "of another")
			m.publish(m.topic.Status.ARN, "hello")
			m.put("in/a.json")
			m.put("in/a.txt")
			m.put("b.json")
			m.wantArrived("hello", "in/a.json")
			if err := erase(t, c, m.queue); err == nil ||
				!strings.Contains(err.Error(), "in use by S3Bucket uploads, SNSTopic news") {
				t.Errorf("the queue of a topic and a bucket goes: %v", err)
			}
			edit(t, c, m.topic, func(o *v1alpha1.SNSTopic) { o.Spec.Subscriptions = nil })
			edit(t, c, m.bucket, func(b *v1alpha1.S3Bucket) { b.Spec.Notifications = nil })
			ready(t, c, m.topic)
			ready(t, c, m.bucket)
			for _, i := range order { // allowing a sender does not count as using it
				gone(t, c, m.all()[i])
			}
		})
	}
}

// policyOfQueue returns the statements of the queue's policy in AWS by Sid.
func (m mail) policyOfQueue() map[string]string {
	m.t.Helper()
	return statements(m.t, queueAttributes(m.t, m.queue)["Policy"])
}

func statements(t *testing.T, policy string) map[string]string {
	t.Helper()
	all := map[string]string{}
	if policy == "" {
		return all
	}
	var doc struct{ Statement []json.RawMessage }
	if err := json.Unmarshal([]byte(policy), &doc); err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Statement {
		var of struct{ Sid string }
		if err := json.Unmarshal(s, &of); err != nil {
			t.Fatal(err)
		}
		all[of.Sid] = string(s)
	}
	return all
}

// A change of the senders costs one write, and none at rest. The statement of a deleted sender is removed.
func TestAnEdgeIsWrittenOnce(t *testing.T) {
	calm(t)
	c := withOperator(t)
	m := newMail(t, c, team(t, c))
	mark := world.Proxy.Mark()
	for _, o := range m.all() {
		create(t, c, o)
	}
	m.ready()
	m.settled()
	written := func(service string) (names []string) {
		for _, call := range world.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.Writes) {
			if strings.EqualFold(call.Service, service) {
				names = append(names, call.Operation)
			}
		}
		slices.Sort(names)
		return names
	}
	for service, want := range map[string][]string{
		"sns": {"CreateTopic", "Subscribe"},
		"s3":  {"CreateBucket", "PutBucketNotificationConfiguration", "PutBucketPolicy"},
	} {
		if got := written(service); !slices.Equal(got, want) {
			t.Errorf("%s: wrote %v, want %v", service, got, want)
		}
	}
	if got := written("sqs"); len(got) > 3 || got[0] != "CreateQueue" { // the senders may become known one by one
		t.Errorf("sqs: wrote %v", got)
	}
	if s := m.policyOfQueue(); len(s) != 2 || !strings.Contains(fmt.Sprint(s), `"aws:SourceAccount":"`+stack.AccountID+
		`"`) {
		t.Errorf("statements %v", s)
	}
	mark = world.Proxy.Mark()
	for _, o := range m.all() {
		wakeNow(t, c, o)
	}
	m.settled()
	m.ready()
	if calls := world.Proxy.CallsSince(mark, awsproxy.By(awsproxy.Operator), awsproxy.Writes); len(calls) > 0 {
		t.Errorf("wrote at rest: %v", calls)
	}
	for _, o := range []engine.Object{m.topic, m.bucket} {
		mark = world.Proxy.Mark()
		gone(t, c, o)
		await(t, "the statement to go", func() (bool, string) {
			return len(written("sqs")) == 1,
				fmt.Sprint(written("sqs"))
		})
	}
	await(t, "nobody to be let in", func() (bool, string) { // the queue does not wait for the deleted senders
		ready(t, c, m.queue)
		s := m.policyOfQueue()
		return len(s) == 0 && len(m.queue.Status.AllowedSenders) == 0, fmt.Sprint(s, m.queue.Status.AllowedSenders)
	})
}

// settled waits until there are no more calls for any of the three.
func (m mail) settled() {
	m.t.Helper()
	life{queues, m.c, m.t, m.queue}.settled()
	life{topics, m.c, m.t, m.topic}.settled()
	callsAtRest(m.t, m.bucket, 0)
}

// A topic is not Ready while a queue does not allow it to send, and neither is a bucket, whether or not the queue's
// spec mentions senders.
func TestWhoIsNotLetInSaysSo(t *testing.T) {
	c := withOperator(t)
	m := newMail(t, c, team(t, c))
	m.queue.Spec.AllowFrom = nil
	for _, o := range m.all() {
		create(t, c, o)
	}
	ready(t, c, m.queue)
	for _, o := range []engine.Object{m.topic, m.bucket} {
		got := reason(t, c, o, v1alpha1.ReasonNotLetIn)
		if !strings.Contains(got.Message, "SQSQueue inbox") || !strings.Contains(got.Message, "spec.allowFrom") {
			t.Errorf("message %q", got.Message)
		}
	}
	m.publish(m.topic.Status.ARN, "dropped")
	m.wantArrived()
	letInto(t, m.queue, m.topic.Status.ARN) // a statement added by hand counts as well
	wakeNow(t, c, m.topic)
	ready(t, c, m.topic)
	edit(t, c, m.queue, func(q *v1alpha1.SQSQueue) {
		q.Spec.AllowFrom = v1alpha1.Senders{{TopicRef: refTo("news")}, {BucketRef: refTo("uploads")}}
	})
	m.ready() // triggered by the queue
	m.publish(m.topic.Status.ARN, "hello")
	m.put("in/1.json")
	m.wantArrived("hello", "in/1.json")
	edit(t, c, m.queue, func(q *v1alpha1.SQSQueue) { q.Spec.AllowFrom = nil })
	reason(t, c, m.bucket, v1alpha1.ReasonNotLetIn)
	wakeNow(t, c, m.topic)
	ready(t, c, m.topic) // with the statement added by hand, which remains
}

// A topic whose spec mentions no senders has the default policy of SNS, which does not allow buckets.
func TestABucketWaitsForItsTopic(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	topic := topics.object(ns, "news").(*v1alpha1.SNSTopic)
	createReady(t, c, topic)
	b := bucketOf(ns, "uploads")
	b.Spec.Notifications = []v1alpha1.S3Notification{{TopicRef: refTo("news"), Events: []string{"s3:ObjectCreated:*"}}}
	create(t, c, b)
	if got := reason(t, c, b, v1alpha1.ReasonNotLetIn); !strings.Contains(got.Message, "SNSTopic news") {
		t.Error(got.Message)
	}
	edit(t, c, topic, func(o *v1alpha1.SNSTopic) { o.Spec.AllowFrom = v1alpha1.Senders{{BucketRef: refTo("uploads")}} })
	ready(t, c, b) // triggered by the topic
	ready(t, c, topic)
}

// S3 cannot send to FIFO queues and topics: admission refuses that where it can, and otherwise the status reports it.
func TestS3SendsToNoFIFOQueue(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	q := queueOf(ns, "ordered")
	q.Spec.FIFOQueue, q.Spec.AllowFrom = true, v1alpha1.Senders{{BucketRef: refTo("uploads")}}
	if err := c.Create(t.Context(), q); err == nil || !strings.Contains(err.Error(), "S3 cannot send to a FIFO queue") {
		t.Errorf("%v", err)
	}
	q.Spec.AllowFrom = nil
	create(t, c, q)
	topic := topics.object(ns, "ordered").(*v1alpha1.SNSTopic)
	topic.Spec.FIFOTopic = true
	create(t, c, topic)
	b := bucketOf(ns, "uploads")
	b.Spec.Notifications = []v1alpha1.S3Notification{{
		QueueRef: refTo("ordered"),
		Events:   []string{"s3:ObjectCreated:*"},
	}}
	create(t, c, b)
	if got := reason(t, c, b, v1alpha1.ReasonQueueMismatch); !strings.Contains(got.Message, "FIFO queue") {
		t.Error(got.Message)
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) {
		b.Spec.Notifications[0].QueueRef, b.Spec.Notifications[0].TopicRef = nil, refTo("ordered")
	})
	if got := reason(t, c, b, v1alpha1.ReasonQueueMismatch); !strings.Contains(got.Message, "FIFO topic") {
		t.Error(got.Message)
	}
}
