package sns

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/senders/senderstest"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/cloud/cloudtest"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/external/externaltest"
)

const (
	account  = "111122223333"
	topicARN = "arn:aws:sns:eu-west-1:111122223333:news.fifo"
	queueARN = "arn:aws:sqs:eu-west-1:111122223333:payments-orders"
)

// openQueues let everyone in.
type openQueues struct{}

func (openQueues) Policy(context.Context, string) (string, error) {
	return `{"Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage"}}`, nil
}

func adapter(tb testing.TB, f *fakeSNS, queues ...client.Object) *topic {
	tb.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		tb.Fatal(err)
	}
	session := &cloud.Session{
		Config: aws.Config{Region: "eu-west-1"}, AccountID: account, Partition: "aws",
		Identity: cloud.Identity{Cluster: "cluster", Kind: "SNSTopic", NamespaceUID: "ns-uid"},
	}
	a := newTopic(session, f,
		external.Kube{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(queues...).Build()})
	a.queues, a.keys = openQueues{}, senderstest.Keys{}
	return a
}

func object(change ...func(*v1alpha1.SNSTopic)) *v1alpha1.SNSTopic {
	o := &v1alpha1.SNSTopic{ObjectMeta: metav1.ObjectMeta{
		Namespace: "payments", Name: "news", UID: "uid-1", Generation: 1,
	}}
	for _, c := range change {
		c(o)
	}
	return o
}

func full(o *v1alpha1.SNSTopic) {
	o.Spec = v1alpha1.SNSTopicSpec{
		TopicName: "news.fifo", FIFOTopic: true, ContentBasedDeduplication: aws.Bool(true), DisplayName: "News",
		KMSMasterKeyID: "alias/x",
		Policy:         `{"Statement":[{"Effect":"Allow","Principal":{"AWS":"111122223333"},"Action":["sns:Publish"],"Resource":"*"}]}`,
		Subscriptions: []v1alpha1.SNSSubscription{
			{QueueRef: &v1alpha1.LocalRef{Name: "orders"}, RawMessageDelivery: true, FilterPolicy: `{"a": ["b"]}`},
		},
		Tags: v1alpha1.Tags{"team": "payments"},
	}
}

func queue(change ...func(*v1alpha1.SQSQueue)) *v1alpha1.SQSQueue {
	q := &v1alpha1.SQSQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "orders"}}
	q.Status.ARN, q.Status.FirstReadyTime = queueARN, &metav1.Time{Time: time.Unix(1, 0)}
	q.Status.AccountID, q.Status.Region = "111122223333", "eu-west-1"
	for _, c := range change {
		c(q)
	}
	return q
}

// settle resolves, acts until nothing is left to do, and reports as external does.
func settle(t *testing.T, a *topic, obj *v1alpha1.SNSTopic) error {
	t.Helper()
	if err := a.Resolve(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		seen, err := a.Observe(t.Context(), obj)
		if err != nil {
			t.Fatal(err)
		}
		actions, rest := a.Plan(obj, seen)
		if len(actions) == 0 {
			a.Report(obj, seen)
			obj.Status.ManagedFields = a.Declared(obj)
			return rest
		}
		for _, s := range actions {
			if err := s.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatal("not settled")
	return nil
}

func TestTopicKeepsTheLaws(t *testing.T) {
	f := &fakeSNS{}
	a, obj := adapter(t, f, queue()), object(full)
	if err := a.Resolve(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	externaltest.Laws(t, externaltest.Case[*v1alpha1.SNSTopic, topicState]{
		Adapter: a, Object: obj,
		Writes: func() int { return f.writes },
		Fail:   func(err error) { f.fail = err },
		Errors: []error{code("AuthorizationError"), code("Throttled"), code("InternalError"), code("InvalidParameter")},
		Lose:   func(on bool) { f.lose = on },
		Strip: func() {
			maps.DeleteFunc(f.tags, func(key, _ string) bool { return strings.HasPrefix(key, "portico.dev/") })
		},
		Foreign: func() bool { return f.tags["made-by"] == "hand" },
		Drift: map[string]func(){
			"a tag":        func() { f.tags["team"], f.tags["made-by"] = "search", "hand" },
			"the name":     func() { f.attributes["DisplayName"] = "Olds" },
			"hashes":       func() { f.attributes["ContentBasedDeduplication"] = "false" },
			"the key":      func() { delete(f.attributes, kmsKey) },
			"the policy":   func() { f.attributes["Policy"] = `{"Statement":[]}` },
			"a delivery":   func() { f.subscriptions[queueARN] = map[string]string{"RawMessageDelivery": "true"} },
			"subscription": func() { clear(f.subscriptions) },
		},
	})
}

func TestANameOnlyTopicTakesThreeCalls(t *testing.T) {
	f := &fakeSNS{}
	obj := object()
	_ = settle(t, adapter(t, f), obj)
	if want := []string{"ListTagsForResource", "CreateTopic", "ListTagsForResource"}; !slices.Equal(f.calls, want) {
		t.Errorf("calls %v, want %v", f.calls, want)
	}
	if fifo := adapter(t, f).name(object(func(o *v1alpha1.SNSTopic) { o.Spec.FIFOTopic = true })); !strings.HasPrefix(
		obj.Status.TopicName, "payments-news-") || !strings.HasSuffix(fifo, ".fifo") {
		t.Errorf("names %s and %s", obj.Status.TopicName, fifo)
	}
}

// A removed field returns to AWS's default once; a removed subscription ends.
func TestRemovedFieldsGoBackToTheDefault(t *testing.T) {
	f := &fakeSNS{}
	obj := object(full)
	if err := settle(t, adapter(t, f, queue()), obj); err != nil || len(obj.Status.Subscriptions) != 1 {
		t.Fatalf("%v, %+v", err, obj.Status)
	}
	obj.Spec = v1alpha1.SNSTopicSpec{TopicName: "news.fifo", FIFOTopic: true}
	if err := settle(t, adapter(t, f), obj); err != nil || len(f.subscriptions) != 0 ||
		len(obj.Status.Subscriptions) != 0 {
		t.Errorf("%v, subscriptions %v", err, f.subscriptions)
	}
	want := map[string]string{
		"DisplayName": "", kmsKey: "", "ContentBasedDeduplication": "false", "FifoTopic": "true",
		"Policy": defaultPolicy(topicARN, account),
	}
	if !maps.Equal(f.attributes, want) {
		t.Errorf("attributes %v", f.attributes)
	}
}

func TestQueuesAreOfTheNamespace(t *testing.T) {
	for name, row := range map[string]struct {
		queue  *v1alpha1.SQSQueue
		reason string
	}{
		"Ready":              {queue(), ""},
		"in another one":     {queue(func(q *v1alpha1.SQSQueue) { q.Namespace = "search" }), v1alpha1.ReasonWaitingForQueues},
		"not Ready yet":      {queue(func(q *v1alpha1.SQSQueue) { q.Status.FirstReadyTime = nil }), v1alpha1.ReasonWaitingForQueues},
		"only observed":      {queue(func(q *v1alpha1.SQSQueue) { q.Spec.ManagementPolicy = v1alpha1.ManagementObserve }), v1alpha1.ReasonQueueMismatch},
		"of another account": {queue(func(q *v1alpha1.SQSQueue) { q.Status.ARN, q.Status.AccountID = "arn:aws:sqs:eu-west-1:1:orders", "1" }), v1alpha1.ReasonQueueMismatch},
		"FIFO":               {queue(func(q *v1alpha1.SQSQueue) { q.Spec.FIFOQueue = true }), v1alpha1.ReasonQueueMismatch},
	} {
		f := &fakeSNS{}
		obj := object(full, func(o *v1alpha1.SNSTopic) { o.Spec.TopicName, o.Spec.FIFOTopic = "news", false })
		rest := settle(t, adapter(t, f, row.queue), obj)
		wait, _ := engine.AsWait(rest)
		if !f.exists || (row.reason == "") != (len(f.subscriptions) == 1) {
			t.Errorf("%s: exists %v, subscriptions %v, want one: %v", name, f.exists, f.subscriptions, row.reason == "")
		}
		if row.reason != "" && (wait == nil || wait.Reason != row.reason) {
			t.Errorf("%s: error = %v, want %s", name, rest, row.reason)
		}
	}
}

// A queue that was subscribed stays subscribed while its object is missing.
func TestALostQueueHoldsUpNothing(t *testing.T) {
	f := &fakeSNS{}
	obj := object(full)
	_ = settle(t, adapter(t, f, queue()), obj)
	obj.Spec.DisplayName = "Olds"
	wait, _ := engine.AsWait(settle(t, adapter(t, f), obj))
	if wait == nil || f.attributes["DisplayName"] != "Olds" {
		t.Errorf("pause %v, DisplayName = %q, want one, Olds", wait, f.attributes["DisplayName"])
	}
	if len(f.subscriptions) != 1 || len(obj.Status.Subscriptions) != 1 {
		t.Errorf("subscriptions %v, in the status %v, want one each", f.subscriptions, obj.Status.Subscriptions)
	}
}

func TestATopicOfOthersIsKept(t *testing.T) {
	f := &fakeSNS{ids: map[string]string{"mail@example.com": "PendingConfirmation"}}
	a, obj := adapter(t, f, queue()), object(full)
	_ = settle(t, a, obj)
	seen := &topicState{ID: topicARN}
	f.subscriptions["arn:aws:lambda:x"], f.subscriptions["mail@example.com"] = nil, nil
	_, err := a.Delete(t.Context(), obj, seen)
	if wait, _ := engine.AsWait(err); wait == nil || wait.Reason != v1alpha1.ReasonSubscribedTo || !f.exists {
		t.Errorf("with others' subscriptions: %v", err)
	}
	delete(f.subscriptions, "arn:aws:lambda:x")
	if done, err := a.Delete(t.Context(), obj, seen); err != nil || !done || f.exists {
		t.Errorf("without: %v, %v", done, err)
	}
}

// CreateTopic refuses other tags for an existing topic; an invalid spec is a different error.
func TestATopicMadeInTheMeantimeIsLookedAt(t *testing.T) {
	f := &fakeSNS{exists: true, tags: map[string]string{"made-by": "hand"}}
	a := adapter(t, f)
	if err := a.create(object(), nil, nil).Do(t.Context()); err != nil {
		t.Error(err)
	}
	f.fail = code("ResourceNotFound")
	if wait, _ := engine.AsWait(a.create(object(), nil, nil).Do(t.Context())); wait == nil ||
		wait.Reason != "InvalidSpec" {
		t.Errorf("a wrong spec: %v", wait)
	}
}

func TestAListingIsCompleteOrNone(t *testing.T) {
	f := &fakeSNS{}
	if got, err := list(t.Context(), f); err != nil || !slices.Equal(got, []string{"arn:a", "arn:b"}) {
		t.Errorf("listed %v, %v", got, err)
	}
	f.fail = code("Throttled")
	if got, err := list(t.Context(), f); err == nil || got != nil {
		t.Errorf("a listing whose second page failed gave %v, %v", got, err)
	}
}

// The permissions in the docs are exactly those that the calls need.
func TestThePolicyInTheDocsIsThatOfTheCalls(t *testing.T) {
	cloudtest.Policy(t, "../../../docs/iam/snstopic.json", "sns", reflect.TypeFor[api](), map[string][]string{
		"":            {"tag:GetResources", "kms:DescribeKey", "kms:GetKeyPolicy", "sqs:GetQueueAttributes"},
		"CreateTopic": {"sns:CreateTopic", "sns:TagResource"},
	})
}
