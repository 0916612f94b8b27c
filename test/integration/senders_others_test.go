//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/test/stack"
)

// keyPolicy returns a key policy that allows the account to manage the key, and these services to use it.
func keyPolicy(account string, services ...string) string {
	all := `{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + account + `:root"},"Action":"kms:*","Resource":"*"}`
	for _, s := range services {
		all += `,{"Effect":"Allow","Principal":{"Service":"` + s + `"},"Action":["kms:GenerateDataKey*","kms:Decrypt"],"Resource":"*"}`
	}
	return `{"Version":"2012-10-17","Statement":[` + all + `]}`
}

// A queue or topic whose KMS key denies access to its sender reports that, and so does the sender.
func TestAKeyThatShutsTheSenderOutIsTold(t *testing.T) {
	c := withOperator(t)
	const accountID = "250000000001"
	p := account(t, c, accountID)
	edit(t, c, p, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedKMSKeys = []string{"*"} })
	ready(t, c, p)
	keys := kms.NewFromConfig(outsideConfig(t, p.Name))
	made, err := keys.CreateKey(t.Context(), &kms.CreateKeyInput{Policy: aws.String(keyPolicy(accountID))})
	if err != nil {
		t.Fatal(err)
	}
	m := newMail(t, c, team(t, c))
	m.queue.Spec.ProviderRef.Name, m.topic.Spec.ProviderRef.Name, m.bucket.Spec.ProviderRef.Name = p.Name, p.Name,
		p.Name
	m.queue.Spec.KMSMasterKeyID = *made.KeyMetadata.Arn
	for _, o := range m.all() {
		create(t, c, o)
	}
	got := reason(t, c, m.queue, v1alpha1.ReasonKeyRefusesSender)
	if !strings.Contains(got.Message, *made.KeyMetadata.Arn) || !strings.Contains(got.Message, ".amazonaws.com") {
		t.Error(got.Message)
	}
	await(t, "the topic to say so", func() (bool, string) {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(m.topic), m.topic); err != nil {
			t.Fatal(err)
		}
		is := meta.FindStatusCondition(m.topic.Status.Conditions, v1alpha1.ConditionReady)
		// depends on whether the queue was Ready before
		told := is != nil && (is.Reason == v1alpha1.ReasonNotLetIn || is.Reason == "WaitingForQueues")
		return told, fmt.Sprint(is)
	})
	policy := keyPolicy(accountID, "sns.amazonaws.com", "s3.amazonaws.com")
	if _, err := keys.PutKeyPolicy(t.Context(), &kms.PutKeyPolicyInput{
		KeyId:      made.KeyMetadata.KeyId,
		PolicyName: aws.String("default"), Policy: &policy,
	}); err != nil {
		t.Fatal(err)
	}
	wakeNow(t, c, m.queue)
	m.ready()
	if _, err := sns.NewFromConfig(outsideConfig(t, p.Name)).Publish(t.Context(),
		&sns.PublishInput{TopicArn: &m.topic.Status.ARN, Message: aws.String("hello")}); err != nil {
		t.Fatal(err)
	}
	queue := sqs.NewFromConfig(outsideConfig(t, p.Name))
	out, err := queue.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
		QueueUrl:            &m.queue.Status.QueueURL,
		MaxNumberOfMessages: 10,
	})
	if err != nil || !slices.ContainsFunc(out.Messages, func(m sqstypes.Message) bool { return *m.Body == "hello" }) {
		t.Errorf("%+v, %v", out, err)
	}
}

// A topic in another account and a rule of EventBridge can send if a guardrail allows them, and only then.
func TestSendersOfOthersNeedAGuardrail(t *testing.T) {
	c := withOperator(t)
	mine, theirs := account(t, c, "250000000002"), account(t, c, "250000000003")
	abroad := sns.NewFromConfig(outsideConfig(t, theirs.Name))
	made, err := abroad.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("abroad")})
	if err != nil {
		t.Fatal(err)
	}
	rule := "arn:aws:events:eu-west-1:250000000003:rule/nightly"
	q := queueOf(team(t, c), "inbox")
	q.Spec.ProviderRef.Name, q.Spec.AllowFrom = mine.Name, v1alpha1.Senders{{ARN: *made.TopicArn}, {ARN: rule}}
	create(t, c, q)
	if got := reason(t, c, q, v1alpha1.ReasonReferenceNotAllowed); !strings.Contains(got.Message, "allowedSenders") {
		t.Error(got.Message)
	}
	edit(t, c, mine, func(p *v1alpha1.AWSProvider) { p.Spec.AllowedSenders = []string{*made.TopicArn, rule} })
	ready(t, c, mine)
	wakeNow(t, c, q)
	ready(t, c, q)
	if _, err := abroad.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: made.TopicArn, Protocol: aws.String("sqs"),
		Endpoint: &q.Status.ARN,
	}); err != nil {
		t.Fatal(err)
	}
	if err := world.Proxy.ConfirmSubscription(t.Context(), *made.TopicArn, q.Status.ARN); err != nil {
		t.Fatal(err)
	}
	drain := func() string {
		t.Helper()
		out, err := sqs.NewFromConfig(outsideConfig(t, mine.Name)).ReceiveMessage(t.Context(),
			&sqs.ReceiveMessageInput{QueueUrl: &q.Status.QueueURL, MaxNumberOfMessages: 10})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range out.Messages {
			all = append(all, *m.Body)
		}
		return strings.Join(all, "\n")
	}
	send := func(text string) {
		t.Helper()
		if _, err := abroad.Publish(t.Context(), &sns.PublishInput{
			TopicArn: made.TopicArn,
			Message:  &text,
		}); err != nil {
			t.Fatal(err)
		}
	}
	send("from abroad")
	if got := drain(); !strings.Contains(got, "from abroad") {
		t.Errorf("arrived: %s", got)
	}
	for of, want := range map[string]bool{rule: true, rule + "-other": false} {
		if got, err := world.Proxy.SendFromRule(t.Context(), of, q.Status.ARN, "by "+of); got != want || err != nil {
			t.Errorf("%s: %v, %v", of, got, err)
		}
	}
	edit(t, c, q, func(q *v1alpha1.SQSQueue) { q.Spec.AllowFrom = v1alpha1.Senders{{ARN: rule}} })
	ready(t, c, q)
	drain()
	send("too late")
	if got := drain(); strings.Contains(got, "too late") {
		t.Errorf("arrived: %s", got)
	}
	// A removed sender loses access, even if its replacement is not allowed.
	edit(t, c, q, func(q *v1alpha1.SQSQueue) { q.Spec.AllowFrom = v1alpha1.Senders{{ARN: rule + "-other"}} })
	reason(t, c, q, v1alpha1.ReasonReferenceNotAllowed)
	if got, err := world.Proxy.SendFromRule(t.Context(), rule, q.Status.ARN, "closed"); got || err != nil {
		t.Errorf("the rule that was removed sends: %v, %v", got, err)
	}
}

// Statements and notifications of others remain after all changes by Portico.
func TestWhatOthersAddedOutlivesAHundredEdits(t *testing.T) {
	calm(t)
	c := withOperator(t)
	ns := team(t, c)
	m := newMail(t, c, ns)
	elsewhere := queueOf(ns, "elsewhere")
	elsewhere.Spec.AllowFrom = v1alpha1.Senders{{BucketRef: refTo("uploads")}}
	create(t, c, elsewhere)
	for _, o := range m.all() {
		create(t, c, o)
	}
	m.ready()
	ready(t, c, elsewhere)
	foreign := func(arn, action string) string {
		return `{"Sid":"Foreign","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::` + stack.AccountID +
			`:root"},"Action":"` + action + `","Resource":"` + arn + `"}`
	}
	beside := func(policy, statement string) *string {
		var doc map[string]any
		if err := json.Unmarshal([]byte(policy), &doc); err != nil {
			doc = map[string]any{"Version": "2012-10-17", "Statement": []any{}}
		}
		var one any
		if err := json.Unmarshal([]byte(statement), &one); err != nil {
			t.Fatal(err)
		}
		doc["Statement"] = append(doc["Statement"].([]any), one)
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		return aws.String(string(text))
	}
	api, name := outside(t, "test"), &m.bucket.Status.BucketName
	policyOfBucket := func() string {
		out, err := api.GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: name})
		if err != nil {
			return err.Error()
		}
		return *out.Policy
	}
	others := func() []s3types.QueueConfiguration {
		out, err := api.GetBucketNotificationConfiguration(t.Context(),
			&s3.GetBucketNotificationConfigurationInput{Bucket: name})
		if err != nil {
			t.Fatal(err)
		}
		return out.QueueConfigurations
	}
	_, err := queueAPI(t).SetQueueAttributes(t.Context(),
		&sqs.SetQueueAttributesInput{QueueUrl: &m.queue.Status.QueueURL, Attributes: map[string]string{
			"Policy": *beside(queueAttributes(t, m.queue)["Policy"], foreign(m.queue.Status.ARN, "sqs:SendMessage")),
		}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = topicClient(t).SetTopicAttributes(t.Context(), &sns.SetTopicAttributesInput{
		TopicArn: topicARN(m.topic), AttributeName: aws.String("Policy"),
		AttributeValue: beside(topicAttributes(t, m.topic)["Policy"], foreign(m.topic.Status.ARN, "sns:Publish")),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = api.PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: name, Policy: beside(policyOfBucket(),
		foreign(m.bucket.Status.ARN+"/*", "s3:GetObject"))}); err != nil {
		t.Fatal(err)
	}
	_, err = api.PutBucketNotificationConfiguration(t.Context(),
		&s3.PutBucketNotificationConfigurationInput{
			Bucket: name,
			NotificationConfiguration: &s3types.NotificationConfiguration{
				QueueConfigurations: append(others(), s3types.QueueConfiguration{
					Id:       aws.String("foreign"),
					QueueArn: &elsewhere.Status.ARN, Events: []s3types.Event{"s3:ObjectRemoved:*"},
				}),
			},
		})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	some := func(all v1alpha1.Senders) v1alpha1.Senders {
		return slices.DeleteFunc(slices.Clone(all), func(v1alpha1.Sender) bool { return r.IntN(2) == 0 })
	}
	for n := range 100 {
		switch r.IntN(4) {
		case 0:
			edit(t, c, m.queue, func(q *v1alpha1.SQSQueue) {
				q.Spec.AllowFrom = some(v1alpha1.Senders{
					{TopicRef: refTo("news")},
					{BucketRef: refTo("uploads")},
					{TopicRef: refTo("nobody")},
				})
			})
		case 1:
			edit(t, c, m.topic,
				func(o *v1alpha1.SNSTopic) { o.Spec.AllowFrom = some(v1alpha1.Senders{{BucketRef: refTo("uploads")}}) })
		case 2:
			edit(t, c, m.bucket, func(b *v1alpha1.S3Bucket) {
				b.Spec.RequireTLS = []*bool{
					nil, new(true),
					new(false),
				}[r.IntN(3)]
			})
		case 3:
			edit(t, c, m.bucket, func(b *v1alpha1.S3Bucket) {
				b.Spec.Notifications = nil
				for i := range r.IntN(3) {
					b.Spec.Notifications = append(b.Spec.Notifications,
						v1alpha1.S3Notification{
							QueueRef: refTo("elsewhere"), Events: []string{"s3:ObjectCreated:Put"},
							Prefix: fmt.Sprint(i, "/"),
						})
				}
			})
		}
		if n%10 == 9 {
			ready(t, c, m.queue)
			ready(t, c, m.bucket)
			if s := m.policyOfQueue(); s["Foreign"] == "" {
				t.Fatalf("edit %d: the queue has %v", n, s)
			}
			if s := statements(t, topicAttributes(t, m.topic)["Policy"]); s["Foreign"] == "" ||
				s["__default_statement_ID"] == "" {
				t.Fatalf("edit %d: the topic has %v", n, s)
			}
			if s := statements(t, policyOfBucket()); s["Foreign"] == "" {
				t.Fatalf("edit %d: the bucket has %v", n, s)
			}
			if all := others(); !slices.ContainsFunc(all,
				func(q s3types.QueueConfiguration) bool { return *q.Id == "foreign" }) {
				t.Fatalf("edit %d: the bucket notifies %+v", n, all)
			}
		}
	}
}

// A dead-letter queue accepts messages from the queues that it refers to, once they exist.
func TestAQueueTakesDeadLettersByReference(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	dead := queueOf(ns, "dead")
	dead.Spec.RedriveAllowPolicy = &v1alpha1.SQSRedriveAllowPolicy{
		RedrivePermission: "byQueue",
		SourceQueueRefs:   []v1alpha1.LocalRef{{Name: "orders"}},
	}
	createReady(t, c, dead)
	if got := queueAttributes(t, dead)["RedriveAllowPolicy"]; strings.Contains(got, "allowAll") || got == "" {
		t.Errorf("all may send to it: %q", got)
	}
	q := deadLetters(ns, "orders", "dead")
	createReady(t, c, q)
	await(t, "the queue to be named", func() (bool, string) {
		got := queueAttributes(t, dead)["RedriveAllowPolicy"]
		return strings.Contains(got, q.Status.ARN), got
	})
	stranger := deadLetters(ns, "stranger", "dead")
	create(t, c, stranger)
	if got := reason(t, c, stranger, v1alpha1.ReasonDeadLetterQueueMismatch); !strings.Contains(got.Message,
		"sourceQueueRefs") {
		t.Error(got.Message)
	}
}

// Addresses outside Portico are subscribed to a topic if a guardrail allows them, once they have confirmed.
func TestAddressesAreSubscribedWhereAGuardrailNamesThem(t *testing.T) {
	c := withOperator(t)
	p := account(t, c, "250000000004")
	o := topics.object(team(t, c), "news").(*v1alpha1.SNSTopic)
	o.Spec.ProviderRef.Name = p.Name
	o.Spec.Subscriptions = []v1alpha1.SNSSubscription{
		{Email: "ops@example.com"},
		{HTTPS: "https://hooks.example.com/orders"},
	}
	create(t, c, o)
	if got := reason(t, c, o, v1alpha1.ReasonReferenceNotAllowed); !strings.Contains(got.Message,
		"allowedSubscribers") {
		t.Error(got.Message)
	}
	edit(t, c, p, func(p *v1alpha1.AWSProvider) {
		p.Spec.AllowedSubscribers = []string{"*@example.com", "https://hooks.example.com/*"}
	})
	ready(t, c, p)
	wakeNow(t, c, o)
	if got := reason(t, c, o, v1alpha1.ReasonWaitingForConfirmation); !strings.Contains(got.Message,
		"ops@example.com") {
		t.Error(got.Message)
	}
	for _, address := range []string{"ops@example.com", "https://hooks.example.com/orders"} {
		if err := world.Proxy.ConfirmSubscription(context.WithoutCancel(t.Context()), o.Status.ARN,
			address); err != nil {
			t.Fatal(err)
		}
	}
	wakeNow(t, c, o)
	ready(t, c, o)
	if s := o.Status.Subscriptions; len(s) != 2 || s[0].SubscriptionARN == "" || s[1].SubscriptionARN == "" {
		t.Errorf("subscriptions %+v", s)
	}
	gone(t, c, o)
}

// Buckets of earlier versions and adopted ones get no policy statement unless it is requested.
func TestABucketThatWasThereGetsNoStatement(t *testing.T) {
	calm(t)
	c := withOperator(t)
	b := bucketOf(team(t, c), "before")
	b.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt
	api := outside(t, "test")
	in := &s3.CreateBucketInput{
		Bucket:                    &b.Spec.BucketName,
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: stack.Region},
	}
	if _, err := api.CreateBucket(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	_, err := api.PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{
		Bucket: &b.Spec.BucketName,
		Tagging: &s3types.Tagging{
			TagSet: []s3types.Tag{{
				Key:   aws.String("portico.dev/adopt"),
				Value: aws.String(b.Namespace + "/" + b.Name),
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	createReady(t, c, b)
	requestReconcile(t, c, b, "1")
	ready(t, c, b)
	if _, err := api.GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: &b.Spec.BucketName}); err == nil ||
		!strings.Contains(err.Error(), "NoSuchBucketPolicy") {
		t.Errorf("it has a policy: %v", err)
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.RequireTLS = new(true) })
	ready(t, c, b)
	if out, err := api.GetBucketPolicy(t.Context(), &s3.GetBucketPolicyInput{Bucket: &b.Spec.BucketName}); err != nil ||
		!strings.Contains(*out.Policy, "aws:SecureTransport") {
		t.Errorf("%+v, %v", out, err)
	}
	edit(t, c, b, func(b *v1alpha1.S3Bucket) { b.Spec.RequireTLS = nil })
	ready(t, c, b)
}
