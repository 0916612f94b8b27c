package sqs

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/aws/reference"
	"github.com/portico-platform/portico/controllers/external"
)

// A dead-letter queue of another team would receive messages as if from that team. An existing reference is not checked
// again.
func TestADeadLetterQueueIsNamedByItsARN(t *testing.T) {
	const dead, theirs = "arn:aws:sqs:eu-west-1:111122223333:dead", "arn:aws:sqs:eu-west-1:111122223333:theirs"
	f := &fakeSQS{}
	a, obj := adapter(t, f), object(func(q *v1alpha1.SQSQueue) {
		q.Spec.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{TargetARN: dead, MaxReceiveCount: 5}
	})
	named := func() (all []external.Reference) {
		t.Helper()
		if err := a.Resolve(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		actions, err := a.Plan(obj, observe(t, a, obj))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range actions {
			all = append(all, s.References...)
		}
		return all
	}
	for _, step := range []struct {
		what   string
		change func(*v1alpha1.SQSQueueSpec)
		names  string
	}{
		{"a creation", func(*v1alpha1.SQSQueueSpec) {}, dead},
		{"another count", func(s *v1alpha1.SQSQueueSpec) { s.DeadLetterQueue.MaxReceiveCount = 7 }, ""},
		{"another queue", func(s *v1alpha1.SQSQueueSpec) { s.DeadLetterQueue.TargetARN = theirs }, theirs},
	} {
		step.change(&obj.Spec)
		var want []external.Reference
		if step.names != "" {
			want = []external.Reference{{Kind: reference.DeadLetterQueue, Name: step.names}}
		}
		if got := named(); !slices.Equal(got, want) {
			t.Errorf("%s names %v, want %v", step.what, got, want)
		}
		settle(t, a, obj)
	}
}

// The key is checked before the queue is created, and before it replaces another one.
func TestTheKeyOfAQueueIsNamed(t *testing.T) {
	f := &fakeSQS{}
	a, obj := adapter(t, f), object(func(q *v1alpha1.SQSQueue) { q.Spec.KMSMasterKeyID = "alias/one" })
	named := func() (all []external.Reference) {
		t.Helper()
		actions, err := a.Plan(obj, observe(t, a, obj))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range actions {
			all = append(all, s.References...)
		}
		return all
	}
	if got := named(); !slices.Equal(got, []external.Reference{{Kind: reference.KMSKey, Name: "alias/one"}}) {
		t.Errorf("a creation names %v", got)
	}
	settle(t, a, obj)
	obj.Spec.DelaySeconds = aws.Int32(5)
	if got := named(); len(got) != 0 {
		t.Errorf("the key that it has is named again: %v", got)
	}
	obj.Spec.KMSMasterKeyID = "alias/two"
	if got := named(); len(got) != 1 || got[0].Name != "alias/two" {
		t.Errorf("an edit names %v", got)
	}
}
