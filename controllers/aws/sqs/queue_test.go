package sqs

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/portico-platform/portico/api/iampolicy"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/attributes"
	"github.com/portico-platform/portico/controllers/aws/senders"
	"github.com/portico-platform/portico/controllers/aws/senders/senderstest"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/cloud/cloudtest"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/external/externaltest"
)

const account, region = "111122223333", "eu-west-1"

func adapter(tb testing.TB, f *fakeSQS, others ...client.Object) *queue {
	tb.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		tb.Fatal(err)
	}
	session := &cloud.Session{
		Config: aws.Config{Region: region}, AccountID: account, Partition: "aws",
		Identity: cloud.Identity{Cluster: "cluster", Kind: "SQSQueue", NamespaceUID: "ns-uid"},
	}
	q := newQueue(session, f,
		external.Kube{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(others...).Build()})
	q.keys = senderstest.Keys{}
	return q
}

func object(change ...func(*v1alpha1.SQSQueue)) *v1alpha1.SQSQueue {
	q := &v1alpha1.SQSQueue{
		ObjectMeta: metav1.ObjectMeta{Namespace: "payments", Name: "orders", UID: "uid-1", Generation: 1},
		Spec:       v1alpha1.SQSQueueSpec{AWSSpec: v1alpha1.AWSSpec{ProviderRef: v1alpha1.LocalRef{Name: "aws"}}},
	}
	for _, c := range change {
		c(q)
	}
	return q
}

const deadARN = "arn:aws:sqs:eu-west-1:111122223333:dead.fifo"

// full declares everything that can be declared together.
func full(q *v1alpha1.SQSQueue) {
	s := &q.Spec
	s.FIFOQueue, s.ContentBasedDeduplication = true, aws.Bool(true)
	s.DeduplicationScope, s.FIFOThroughputLimit = "messageGroup", "perMessageGroupId"
	s.DelaySeconds, s.MaximumMessageSize, s.MessageRetentionPeriod = aws.Int32(5), aws.Int32(2048), aws.Int32(3600)
	s.VisibilityTimeout, s.ReceiveMessageWaitTimeSeconds = aws.Int32(0), aws.Int32(20)
	s.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{TargetARN: deadARN, MaxReceiveCount: 5}
	s.RedriveAllowPolicy = &v1alpha1.SQSRedriveAllowPolicy{RedrivePermission: "byQueue", SourceQueueARNs: []string{
		"arn:b", "arn:a",
	}}
	s.KMSMasterKeyID, s.KMSDataKeyReusePeriodSeconds = "alias/x", aws.Int32(600)
	s.Tags = v1alpha1.Tags{"team": "payments"}
	s.AllowFrom = v1alpha1.Senders{{ARN: "arn:aws:sns:eu-west-1:111122223333:news.fifo"}}
	s.Policy = `{"Statement":{"Effect":"Allow","Principal":{"AWS":"111122223333"},"Action":"sqs:*"}}`
}

func TestQueueKeepsTheLaws(t *testing.T) {
	f := &fakeSQS{}
	a, obj := adapter(t, f), object(full)
	if err := a.Resolve(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	drift := map[string]func(){
		"a tag":         func() { f.tags["team"], f.tags["made-by"] = "search", "hand" },
		"the owner tag": func() { f.tags["portico.dev/uid"] = "older" },
		"the key":       func() { f.set(map[string]string{"KmsMasterKeyId": "", managedEncryption: "true"}) },
	}
	for _, attr := range a.settings(obj) {
		if attr.Name != managedEncryption { // which follows from the key
			drift[attr.Path] = func() { f.attributes[attr.Name] = "7" }
		}
	}
	policy := iampolicy.LetIn("sqs:SendMessage", "arn:elsewhere",
		[]iampolicy.Source{{ARN: "arn:aws:sns:eu-west-1:111122223333:news.fifo"}})
	drift[senders.OwnPath] = func() {
		_, rest := iampolicy.Split(f.attributes["Policy"])
		f.attributes["Policy"] = iampolicy.Join(policy, rest)
	}
	drift[senders.RestPath] = func() {
		own, _ := iampolicy.Split(f.attributes["Policy"])
		f.attributes["Policy"] = iampolicy.Join(own, `{"Statement":{"Sid":"theirs"}}`)
	}
	externaltest.Laws(t, externaltest.Case[*v1alpha1.SQSQueue, queueState]{
		Adapter: a, Object: obj,
		Writes:  func() int { return f.writes },
		Fail:    func(err error) { f.fail = err },
		Errors:  []error{code("AccessDenied"), code("RequestThrottled"), code("InternalError"), code("ExpiredToken"), code("QueueDeletedRecently")},
		Lose:    func(on bool) { f.lose = on },
		Strip:   f.strip,
		Foreign: func() bool { return f.tags["made-by"] == "hand" },
		Drift:   drift, Together: [][]string{
			{"kmsMasterKeyId", "kmsDataKeyReusePeriodSeconds", "sqsManagedSseEnabled"},
			{"deduplicationScope", "fifoThroughputLimit"},
		},
	})
}

func TestANameOnlyQueueTakesFourCallsAndRestsWithOne(t *testing.T) {
	f := &fakeSQS{}
	a, obj := adapter(t, f), object()
	settle(t, a, obj)
	a.Report(obj, observe(t, a, obj))
	if want := []string{"GetQueueUrl", "CreateQueue", "ListQueueTags", "ListQueueTags"}; !slices.Equal(f.calls, want) {
		t.Errorf("calls %v, want %v", f.calls, want)
	}
	if obj.Status.QueueName != "payments-orders-"+obj.Status.QueueName[len(obj.Status.QueueName)-8:] ||
		obj.Status.QueueURL == "" {
		t.Errorf("status %+v", obj.Status)
	}
}

func TestTheNameOfAFIFOQueueEndsInFIFO(t *testing.T) {
	obj := object(func(q *v1alpha1.SQSQueue) { q.Spec.FIFOQueue, q.Name = true, strings.Repeat("long-", 30) })
	name := adapter(t, &fakeSQS{}).name(obj)
	if !strings.HasSuffix(name, attributes.FIFOSuffix) || len(name) > longest {
		t.Errorf("name %q of %d characters", name, len(name))
	}
}

func TestRemovedFieldsGoBackToTheDefaultOnce(t *testing.T) {
	f := &fakeSQS{}
	obj := object(full)
	a := adapter(t, f)
	if err := a.Resolve(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	settle(t, a, obj)
	a.Report(obj, observe(t, a, obj))
	obj.Status.ManagedFields = a.Declared(obj)
	obj.Spec = object(func(q *v1alpha1.SQSQueue) { q.Spec.FIFOQueue = true }).Spec
	a = adapter(t, f)
	settle(t, a, obj)
	for name, want := range map[string]string{
		"VisibilityTimeout": "30", "DelaySeconds": "0", redrivePolicy: "",
		"RedriveAllowPolicy": "", "KmsMasterKeyId": "", managedEncryption: "true",
	} {
		if f.attributes[name] != want {
			t.Errorf("%s is %q, want AWS's default %q", name, f.attributes[name], want)
		}
	}
	obj.Status.ManagedFields = a.Declared(obj)
	f.attributes["VisibilityTimeout"], f.calls = "77", nil // no longer managed
	settle(t, a, obj)
	if f.attributes["VisibilityTimeout"] != "77" || len(f.calls) != 1 {
		t.Errorf("an unmanaged attribute was touched: %v", f.calls)
	}
}

func TestPoliciesCompareByMeaning(t *testing.T) {
	f := &fakeSQS{}
	a, obj := adapter(t, f), object(full)
	if err := a.Resolve(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	settle(t, a, obj)
	f.attributes[redrivePolicy] = `{"maxReceiveCount": "5", "deadLetterTargetArn": "` + deadARN + `"}`
	f.attributes["RedriveAllowPolicy"] = `{"sourceQueueArns":["arn:b","arn:a"],"redrivePermission":"byQueue"}`
	if actions := plan(t, a, obj); len(actions) != 0 {
		t.Errorf("the same policies in other words are rewritten: %s", actions[0].Why)
	}
}

func TestOnlyOneEncryptionIsAskedFor(t *testing.T) {
	f := &fakeSQS{}
	a, obj := adapter(t, f), object(func(q *v1alpha1.SQSQueue) { q.Spec.KMSMasterKeyID = "alias/x" })
	settle(t, a, obj)
	if f.attributes[managedEncryption] != "false" {
		t.Errorf("attributes %v", f.attributes)
	}
}

func TestCreationExplainsItself(t *testing.T) {
	f := &fakeSQS{recently: true}
	a, obj := adapter(t, f), object()
	actions := plan(t, a, obj)
	wait, ok := engine.AsWait(actions[0].Do(t.Context()))
	if !ok || wait.Reason != "NameBusy" || wait.Stalled {
		t.Errorf("a name that is not free yet: %+v", wait)
	}
	f.recently, f.exists, f.attributes = false, true, map[string]string{"VisibilityTimeout": "1"}
	other := object(func(q *v1alpha1.SQSQueue) { q.Spec.VisibilityTimeout = aws.Int32(2) })
	if err := a.create(other, a.Initial(other), nil).Do(t.Context()); err != nil {
		t.Errorf("a queue made in the meantime: %v; the next look must tell whose it is", err)
	}
}

func TestNothingMoreIsReadOfAForeignQueue(t *testing.T) {
	f := &fakeSQS{exists: true, tags: map[string]string{"made-by": "hand"}}
	seen := observe(t, adapter(t, f), object(full))
	if seen.Attributes != nil || !slices.Equal(f.calls, []string{"GetQueueUrl", "ListQueueTags"}) {
		t.Errorf("calls %v", f.calls)
	}
}

// From any state of the attributes, one round of actions leads to what is declared.
func TestPlanConvergesFromAnywhere(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := &fakeSQS{exists: true, attributes: map[string]string{managedEncryption: "true"}}
		a, obj := adapter(t, f), object()
		f.tags = a.Session.Tags(obj, nil)
		values := rapid.SampledFrom(
			[]string{"", "0", "7", "true", "false", "{}", `{"deadLetterTargetArn":"x","maxReceiveCount":"3"}`})
		for _, attr := range a.settings(obj) {
			if v := values.Draw(r, attr.Name); v != "" &&
				!slices.Contains([]string{"KmsMasterKeyId", senders.Own, senders.Rest}, attr.Name) {
				f.attributes[attr.Name] = v
			}
			if rapid.Bool().Draw(r, "managed "+attr.Path) {
				obj.Status.ManagedFields = append(obj.Status.ManagedFields, attr.Path)
			}
		}
		own := iampolicy.LetIn("sqs:SendMessage", "arn:q", []iampolicy.Source{{ARN: "arn:aws:sns:r:1:t"}})
		rest := rapid.SampledFrom([]string{"", `{"Statement":{"Sid":"theirs"}}`, "no policy"}).Draw(r, "rest")
		if f.attributes["Policy"] = rapid.SampledFrom([]string{rest, iampolicy.Join(own, rest)}).Draw(r,
			"policy"); f.attributes["Policy"] == "" {
			delete(f.attributes, "Policy")
		}
		if rapid.Bool().Draw(r, "declared") {
			full(obj)
			if err := a.Resolve(t.Context(), obj); err != nil {
				r.Fatal(err)
			}
		}
		for _, s := range plan(r, a, obj) {
			if err := s.Do(t.Context()); err != nil {
				r.Fatal(err)
			}
		}
		if again := plan(r, a, obj); len(again) != 0 {
			r.Fatalf("still to do: %s", again[0].Why)
		}
	})
}

func TestAListingIsCompleteOrNone(t *testing.T) {
	f := &fakeSQS{}
	session := adapter(t, f).Session
	got, err := list(t.Context(), f, session)
	if err != nil || !slices.Equal(got, []string{session.ARN("sqs", "a"), session.ARN("sqs", "b.fifo")}) {
		t.Errorf("listed %v, %v", got, err)
	}
	f.fail = code("RequestThrottled")
	if got, err := list(t.Context(), f, session); err == nil || got != nil {
		t.Errorf("a listing whose second page failed gave %v, %v", got, err)
	}
}

// The permissions in the docs are exactly those that the calls need.
func TestThePolicyInTheDocsIsThatOfTheCalls(t *testing.T) {
	cloudtest.Policy(t, "../../../docs/iam/sqsqueue.json", "sqs", reflect.TypeFor[api](), map[string][]string{
		"":            {"tag:GetResources", "kms:DescribeKey", "kms:GetKeyPolicy"},
		"CreateQueue": {"sqs:CreateQueue", "sqs:TagQueue"},
	})
}

type fataler interface {
	Helper()
	Fatal(...any)
}

func observe(t fataler, a *queue, obj *v1alpha1.SQSQueue) *queueState {
	t.Helper()
	seen, err := a.Observe(context.Background(), obj)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func plan(t fataler, a *queue, obj *v1alpha1.SQSQueue) []external.Action {
	t.Helper()
	actions, err := a.Plan(obj, observe(t, a, obj))
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

// settle acts until nothing is left to do.
func settle(t *testing.T, a *queue, obj *v1alpha1.SQSQueue) {
	t.Helper()
	for range 4 {
		actions := plan(t, a, obj)
		if len(actions) == 0 {
			return
		}
		for _, s := range actions {
			if err := s.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatal("not settled")
}

// An attribute that takes longer to show is set with a call of its own: the call stays the same until it shows,
// whatever else has shown.
func TestRetentionIsSetByItself(t *testing.T) {
	f := &fakeSQS{}
	a, obj := adapter(t, f), object()
	settle(t, a, obj)
	obj.Spec.DelaySeconds, obj.Spec.VisibilityTimeout, obj.Spec.MessageRetentionPeriod = aws.Int32(5), aws.Int32(60),
		aws.Int32(3600)
	plan := func() (whys []string, settles []time.Duration) {
		actions, err := a.Plan(obj, observe(t, a, obj))
		if err != nil {
			t.Fatal(err)
		}
		for _, action := range actions {
			whys, settles = append(whys, action.Why), append(settles, action.Settles)
		}
		return whys, settles
	}
	const slow = "messageRetentionPeriod 345600 → 3600"
	whys, settles := plan()
	if len(whys) != 2 || strings.Contains(whys[0], "messageRetention") || whys[1] != slow {
		t.Errorf("whys = %q, want two, the slow one last: %s", whys, slow)
	}
	if want := []time.Duration{0, 15 * time.Minute}; !slices.Equal(settles, want) {
		t.Errorf("settle in %v, want %v", settles, want)
	}
	f.set(map[string]string{"DelaySeconds": "5", "VisibilityTimeout": "60"})
	if whys, _ := plan(); !slices.Equal(whys, []string{slow}) {
		t.Errorf("once the others show: %q", whys)
	}
}

// A server other than AWS that reports no encryption has none: if it is declared, the queue is not in sync without it.
func TestEncryptionThatDoesNotShowIsNotTakenForGranted(t *testing.T) {
	for name, row := range map[string]struct {
		endpoint string
		declared *bool
		differs  bool
	}{
		"asked for elsewhere":     {"http://sqs.local", aws.Bool(true), true},
		"not wanted elsewhere":    {"http://sqs.local", nil, false},
		"asked for at AWS itself": {"", aws.Bool(true), false},
	} {
		f := &fakeSQS{exists: true, attributes: map[string]string{}}
		a, q := adapter(t, f), object(func(q *v1alpha1.SQSQueue) { q.Spec.SQSManagedSSEEnabled = row.declared })
		a.Session.Services.All = row.endpoint
		f.tags = a.Session.Tags(q, nil)
		differs := false
		for _, action := range plan(t, a, q) {
			differs = differs || action.Name == "SetQueueAttributes" && strings.Contains(
				action.Why, "sqsManagedSseEnabled not shown → true")
		}
		if differs != row.differs {
			t.Errorf("%s: planned %v", name, differs)
		}
	}
}
