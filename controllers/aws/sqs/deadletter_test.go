package sqs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

func TestDeadLetterQueueByReference(t *testing.T) {
	dead := func(change func(*v1alpha1.SQSQueue)) *v1alpha1.SQSQueue {
		d := object(func(q *v1alpha1.SQSQueue) { q.Name, q.UID = "dead", "uid-2" })
		d.Status.ARN, d.Status.AccountID, d.Status.Region = "arn:aws:sqs:eu-west-1:111122223333:dead", account, region
		d.Status.FirstReadyTime = &metav1.Time{Time: time.Unix(1, 0)}
		change(d)
		return d
	}
	for name, row := range map[string]struct {
		others  []client.Object
		fifo    bool
		ref     string
		want    string // reason; empty: resolved
		stalled bool
	}{
		"not there yet":        {ref: "dead", want: "WaitingForDeadLetterQueue"},
		"not Ready yet":        {ref: "dead", others: []client.Object{dead(func(d *v1alpha1.SQSQueue) { d.Status.FirstReadyTime = nil })}, want: "WaitingForDeadLetterQueue"},
		"of another account":   {ref: "dead", others: []client.Object{dead(func(d *v1alpha1.SQSQueue) { d.Status.AccountID = "2" })}, want: "DeadLetterQueueMismatch", stalled: true},
		"of another region":    {ref: "dead", others: []client.Object{dead(func(d *v1alpha1.SQSQueue) { d.Status.Region = "us-east-1" })}, want: "DeadLetterQueueMismatch", stalled: true},
		"in another namespace": {ref: "dead", others: []client.Object{dead(func(d *v1alpha1.SQSQueue) { d.Namespace = "search" })}, want: "WaitingForDeadLetterQueue"},
		"standard for FIFO":    {ref: "dead", fifo: true, others: []client.Object{dead(func(*v1alpha1.SQSQueue) {})}, want: "DeadLetterQueueMismatch", stalled: true},
		"the queue itself":     {ref: "orders", want: "DeadLetterQueueMismatch", stalled: true},
		"only observed": {
			ref: "dead", others: []client.Object{
				dead(func(d *v1alpha1.SQSQueue) { d.Spec.ManagementPolicy = v1alpha1.ManagementObserve }),
			},
			want: "DeadLetterQueueMismatch", stalled: true,
		},
		"Ready, and then it is": {ref: "dead", others: []client.Object{dead(func(*v1alpha1.SQSQueue) {})}},
	} {
		obj := object(func(q *v1alpha1.SQSQueue) {
			q.Spec.FIFOQueue = row.fifo
			q.Spec.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{
				TargetRef: &v1alpha1.LocalRef{Name: row.ref}, MaxReceiveCount: 3,
			}
		})
		a := adapter(t, &fakeSQS{}, row.others...)
		err := a.Resolve(t.Context(), obj)
		if row.want == "" {
			if got := a.Initial(obj)[redrivePolicy]; err != nil || !strings.Contains(got, ":dead") {
				t.Errorf("%s: RedrivePolicy = %q, %v, want :dead in it", name, got, err)
			}
			continue
		}
		wait, _ := engine.AsWait(err)
		if wait == nil || wait.Reason != row.want || wait.Stalled != row.stalled {
			t.Errorf("%s: error = %v, want %s, stalled: %v", name, err, row.want, row.stalled)
		}
	}
}

// Queues that wait for each other in a circle report that, as does every queue that waits for one of them.
func TestDeadLetterQueuesInACircle(t *testing.T) {
	names := func(name, dead string) *v1alpha1.SQSQueue {
		return object(func(q *v1alpha1.SQSQueue) {
			q.Name, q.UID = name, types.UID(name)
			if dead != "" {
				q.Spec.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{
					TargetRef: &v1alpha1.LocalRef{Name: dead}, MaxReceiveCount: 3,
				}
			}
		})
	}
	long := []client.Object{}
	for n := range 150 {
		long = append(long, names(fmt.Sprint("q", n), fmt.Sprint("q", n+1)))
	}
	for name, row := range map[string]struct {
		obj    *v1alpha1.SQSQueue
		others []client.Object
		want   string // in the message; empty: it only waits
	}{
		"two":                       {names("a", "b"), []client.Object{names("b", "a")}, "in a circle: a → b → a."},
		"three":                     {names("a", "b"), []client.Object{names("b", "c"), names("c", "a")}, "in a circle: a → b → c → a."},
		"one that leads to it":      {names("d", "a"), []client.Object{names("a", "b"), names("b", "a")}, "in a circle: d → a → b → a."},
		"one that waits for itself": {names("d", "a"), []client.Object{names("a", "a")}, "in a circle: d → a → a."},
		"a chain":                   {names("a", "b"), []client.Object{names("b", "c"), names("c", "")}, ""},
		"a chain without an end":    {names("a", "b"), []client.Object{names("b", "c")}, ""},
		"a very long chain":         {names("a", "q0"), long, ""},
	} {
		err := adapter(t, &fakeSQS{}, row.others...).Resolve(t.Context(), row.obj)
		wait, _ := engine.AsWait(err)
		if wait == nil || wait.Stalled != (row.want != "") || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A dead-letter queue that existed and is gone blocks no other change of the queue.
func TestALostDeadLetterQueueHoldsUpNothingElse(t *testing.T) {
	f := &fakeSQS{}
	obj := object(func(q *v1alpha1.SQSQueue) {
		q.Spec.DeadLetterQueue = &v1alpha1.SQSDeadLetterQueue{
			TargetRef: &v1alpha1.LocalRef{Name: "dead"}, MaxReceiveCount: 3,
		}
		q.Status.DeadLetterTargetARN = "arn:aws:sqs:eu-west-1:111122223333:dead"
	})
	a := adapter(t, f)
	if err := a.Resolve(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		actions, rest := a.Plan(obj, observe(t, a, obj))
		if wait, ok := engine.AsWait(rest); len(actions) == 0 && (!ok || wait.Reason != "WaitingForDeadLetterQueue") {
			t.Errorf("in the end: %v", rest)
		}
		for _, s := range actions {
			if err := s.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !strings.Contains(f.attributes[redrivePolicy], ":dead") {
		t.Errorf("attributes %v", f.attributes)
	}
}
