//go:build integration

package integration

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
)

func queueOf(ns, name string) *v1alpha1.SQSQueue { return queues.object(ns, name).(*v1alpha1.SQSQueue) }

// A queue uses the calls that its documentation promises.
func TestAQueueKeepsItsCallBudget(t *testing.T) {
	calm(t)
	c := withOperator(t)
	for _, row := range []struct {
		name     string
		declared bool
		create   []string
		check    []string
	}{
		{"plain", false, []string{"GetQueueUrl", "CreateQueue", "ListQueueTags"}, []string{"ListQueueTags"}},
		{"full", true, []string{"GetQueueUrl", "CreateQueue", "ListQueueTags", "GetQueueAttributes"}, []string{"ListQueueTags", "GetQueueAttributes"}},
	} {
		m := world.Proxy.Mark()
		l := queues.born(t, c, team(t, c), row.name, row.declared)
		ready(t, c, l.Object)
		l.settled()
		if got := queues.calls(m); !slices.Equal(got, row.create) {
			t.Errorf("%s: creation called %v, want %v", row.name, got, row.create)
		}
		m = world.Proxy.Mark()
		wakeNow(t, c, l.Object)
		l.passes(m, 1)
		l.settled()
		if got := queues.calls(m); !slices.Equal(got, row.check) {
			t.Errorf("%s: a check called %v, want %v", row.name, got, row.check)
		}
		m = world.Proxy.Mark()
		gone(t, c, l.Object)
		if got := queues.calls(m); !slices.Equal(got, []string{"ListQueueTags", "DeleteQueue", "ListQueueTags"}) {
			t.Errorf("%s: deletion called %v", row.name, got)
		}
	}
}

// Both queues are applied at once, the one with the reference first.
func TestADeadLetterQueueIsWaitedFor(t *testing.T) {
	c := withOperator(t)
	ns := team(t, c)
	q := queueOf(ns, "orders")
	q.Spec.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{
		TargetRef: &v1alpha1.LocalRef{Name: "dead"}, MaxReceiveCount: 4,
	}
	create(t, c, q)
	if got := reason(t, c, q, "WaitingForDeadLetterQueue"); !strings.Contains(got.Message, "dead") {
		t.Errorf("message %q does not name what it waits for", got.Message)
	}
	dead := queueOf(ns, "dead")
	create(t, c, dead)
	ready(t, c, q) // triggered by the other queue, not by polling
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(dead), dead); err != nil {
		t.Fatal(err)
	}
	if q.Status.DeadLetterTargetARN != dead.Status.ARN ||
		!strings.Contains(queueAttributes(t, q)["RedrivePolicy"], dead.Status.ARN) {
		t.Errorf("dead letters go to %q, want %q", q.Status.DeadLetterTargetARN, dead.Status.ARN)
	}
	m := world.Proxy.Mark()
	wakeNow(t, c, q)
	life{queues, c, t, q}.passes(m, 1)
	life{queues, c, t, q}.settled()
	if n := queues.writes(m); len(n) != 0 {
		t.Errorf("the policy is written again: %v", n)
	}
	edit(t, c, q, func(q *v1alpha1.SQSQueue) { q.Spec.DeadLetterQueue = nil })
	ready(t, c, q)
	if policy := queueAttributes(t, q)["RedrivePolicy"]; policy != "" {
		t.Errorf("the policy %q stayed", policy)
	}
}

func TestFIFOQueuesAndTheirRules(t *testing.T) {
	c := withOperator(t)
	q := queueOf(team(t, c), "ordered")
	q.Spec.FIFOQueue, q.Spec.ContentBasedDeduplication = true, aws.Bool(true)
	q.Spec.DeduplicationScope, q.Spec.FIFOThroughputLimit = "messageGroup", "perMessageGroupId"
	q.Spec.RedriveAllowPolicy = &v1alpha1.SQSRedriveAllowPolicy{RedrivePermission: "denyAll"}
	createReady(t, c, q)
	got := queueAttributes(t, q)
	for key, want := range map[string]string{
		"FifoQueue": "true", "ContentBasedDeduplication": "true", "FifoThroughputLimit": "perMessageGroupId",
	} {
		if got[key] != want {
			t.Errorf("%s = %q, want %q", key, got[key], want)
		}
	}
	if name := q.Status.QueueName; !strings.HasSuffix(name, ".fifo") {
		t.Errorf("QueueName = %q, want .fifo at the end", name)
	}
	for wrong, change := range map[string]func(*v1alpha1.SQSQueueSpec){
		"need fifoQueue":       func(s *v1alpha1.SQSQueueSpec) { s.ContentBasedDeduplication = aws.Bool(true) },
		"ends in .fifo":        func(s *v1alpha1.SQSQueueSpec) { s.QueueName = "plain.fifo" },
		"name of a FIFO queue": func(s *v1alpha1.SQSQueueSpec) { s.QueueName, s.FIFOQueue = "plain", true },
		"needs deduplicationScope": func(s *v1alpha1.SQSQueueSpec) {
			s.FIFOQueue, s.FIFOThroughputLimit = true, "perMessageGroupId"
		},
		"choose one encryption": func(s *v1alpha1.SQSQueueSpec) {
			s.KMSMasterKeyID, s.SQSManagedSSEEnabled = "k", aws.Bool(true)
		},
		"needs kmsMasterKeyId": func(s *v1alpha1.SQSQueueSpec) { s.KMSDataKeyReusePeriodSeconds = aws.Int32(60) },
		"not both": func(s *v1alpha1.SQSQueueSpec) {
			s.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{MaxReceiveCount: 1}
		},
		"byQueue": func(s *v1alpha1.SQSQueueSpec) {
			s.RedriveAllowPolicy = &v1alpha1.SQSRedriveAllowPolicy{RedrivePermission: "byQueue"}
		},
		"visibilityTimeout":                func(s *v1alpha1.SQSQueueSpec) { s.VisibilityTimeout = aws.Int32(43201) },
		"use letters, digits, hyphens and": func(s *v1alpha1.SQSQueueSpec) { s.QueueName = "a b" },
	} {
		bad := queueOf(q.Namespace, "bad")
		change(&bad.Spec)
		if err := c.Create(t.Context(), bad); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	err := c.Patch(t.Context(), q,
		client.RawPatch("application/merge-patch+json",
			[]byte(
				`{"spec":{"fifoQueue":false,"contentBasedDeduplication":null,"deduplicationScope":null,"fifoThroughputLimit":null}}`)))
	if err == nil || !strings.Contains(err.Error(), "fifoQueue is immutable") {
		t.Errorf("a FIFO queue becomes a standard one: %v", err)
	}
}

// CreateQueue succeeds for an existing queue of somebody else, as for a new one.
func TestAForeignQueueIsNotAdoptedSilently(t *testing.T) {
	calm(t)
	c := withOperator(t)
	ns := team(t, c)
	made, err := queueAPI(t).CreateQueue(
		t.Context(), &sqs.CreateQueueInput{QueueName: aws.String(ns + "-legacy"), Tags: map[string]string{
			"made-by": "hand",
		}})
	if err != nil {
		t.Fatal(err)
	}
	q := queueOf(ns, "legacy")
	q.Spec.QueueName = ns + "-legacy"
	m := world.Proxy.Mark()
	create(t, c, q)
	reason(t, c, q, "AlreadyExists")
	if n := queues.writes(m); len(n) != 0 {
		t.Errorf("wrote %v", n)
	}
	if _, err := queueAPI(t).TagQueue(
		t.Context(), &sqs.TagQueueInput{QueueUrl: made.QueueUrl, Tags: map[string]string{
			"portico.dev/adopt": ns + "/legacy",
		}}); err != nil {
		t.Fatal(err)
	}
	edit(t, c, q, func(q *v1alpha1.SQSQueue) { q.Spec.AdoptionPolicy = v1alpha1.AdoptionAdopt })
	ready(t, c, q)
	tags, err := queueAPI(t).ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: made.QueueUrl})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"portico.dev/uid": string(q.UID), "made-by": "hand", "portico.dev/adopt": "",
	} {
		if got := tags.Tags[key]; got != want {
			t.Errorf("tag %s = %q, want %q", key, got, want)
		}
	}
	edit(t, c, q, func(q *v1alpha1.SQSQueue) { q.Spec.DeletionPolicy = v1alpha1.DeletionOrphan })
	gone(t, c, q)
	tags, err = queueAPI(t).ListQueueTags(t.Context(), &sqs.ListQueueTagsInput{QueueUrl: made.QueueUrl})
	if err != nil || len(tags.Tags) != 1 || tags.Tags["made-by"] != "hand" {
		t.Errorf("after Orphan: %v, %v", tags, err)
	}
}

func TestTheBindingOfAQueueLeadsToIt(t *testing.T) {
	c := withOperator(t)
	q := queueOf(team(t, c), "bound")
	createReady(t, c, q)
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: q.Namespace, Name: q.Status.Binding.Name},
		secret); err != nil {
		t.Fatal(err)
	}
	url := string(secret.Data["url"])
	if secret.Type != "servicebinding.io/sqs" || url != q.Status.QueueURL ||
		string(secret.Data["arn"]) != q.Status.ARN {
		t.Errorf("binding %s: %q", secret.Type, secret.Data)
	}
	if _, err := queueAPI(t).SendMessage(
		t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("hello")}); err != nil {
		t.Errorf("the URL in the binding takes no message: %v", err)
	}
}

// Attributes that the service does not store are reported, and not written at every reconcile.
func TestAttributesThatAQueueDoesNotKeepAreNamed(t *testing.T) {
	calm(t)
	c := withOperator(t)
	q := queueOf(team(t, c), "deaf")
	createReady(t, c, q)
	world.Proxy.DropQueueAttributes("DelaySeconds", "VisibilityTimeout")
	t.Cleanup(func() { world.Proxy.DropQueueAttributes() })
	m := world.Proxy.Mark()
	edit(t, c, q, func(q *v1alpha1.SQSQueue) {
		q.Spec.DelaySeconds, q.Spec.VisibilityTimeout, q.Spec.Tags = aws.Int32(7), aws.Int32(70), ours
	})
	told := reason(t, c, q, "NotKept").Message
	for _, field := range []string{"delaySeconds 0 → 7", "visibilityTimeout 30 → 70"} {
		if !strings.Contains(told, field) {
			t.Errorf("%q does not name %s", told, field)
		}
	}
	if got := queues.writes(m); len(got) != 4 { // TagQueue, and three times SetQueueAttributes
		t.Errorf("it was written by %v", got)
	}
	world.Proxy.DropQueueAttributes()
	wakeNow(t, c, q)
	if ready(t, c, q); queueAttributes(t, q)["DelaySeconds"] != "7" {
		t.Error("what is kept at last is not there")
	}
}

// AWS shows changed attributes up to a minute later, and a changed retention period up to 15 minutes later: each is
// written once.
func TestAttributesThatShowLateAreWrittenOnce(t *testing.T) {
	calm(t)
	const scale = 1.0 / 50
	c := admin(t)
	startOperator(t, operatorOptions{timeScale: scale})
	q := queueOf(team(t, c), "late")
	createReady(t, c, q)
	minute := time.Duration(scale * float64(time.Minute))
	world.Proxy.DelayQueueAttributes(minute/6, 12*minute) // some margin for a busy machine, where calls take long
	t.Cleanup(func() { world.Proxy.DelayQueueAttributes(0, 0) })
	m := world.Proxy.Mark()
	edit(t, c, q, func(q *v1alpha1.SQSQueue) {
		q.Spec.MessageRetentionPeriod, q.Spec.VisibilityTimeout = aws.Int32(3600), aws.Int32(70)
	})
	if told := reason(t, c, q, "Settling").Message; !strings.Contains(told, "messageRetentionPeriod 345600 → 3600") {
		t.Errorf("%q", told)
	}
	ready(t, c, q)
	if got := queues.writes(m); len(got) != 2 {
		t.Errorf("it was written by %v", got)
	}
	if events := strings.Join(eventsOf(t, c, q), "\n"); strings.Contains(events, "NotKept") {
		t.Error(events)
	}
}
