package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// marking is a KindReconciler that sets the conditions of the test.
type marking func(*Pass)

func (m marking) Reconcile(_ context.Context, _ *v1alpha1.S3Bucket, pass *Pass) error {
	m(pass)
	return nil
}

func (m marking) Finalize(context.Context, *v1alpha1.S3Bucket, *Pass) error { return nil }

func TestAMarkBecomesACondition(t *testing.T) {
	b := newBench(t, nil)
	b.loop.KindReconciler = marking(func(p *Pass) {
		p.SetCondition("Rolled", metav1.ConditionFalse, "Waiting", "one")
		p.SetCondition("Rolled", metav1.ConditionTrue, "Done", "two")
		if status, reason, text := p.Condition("Rolled"); status != metav1.ConditionTrue || reason != "Done" ||
			text != "two" {
			t.Errorf("the last mark does not win: %s %s %s", status, reason, text)
		}
		if status, _, _ := p.Condition("Other"); status != "" {
			t.Errorf("a mark that nobody made is %s", status)
		}
	})
	obj := b.pass(nil)
	c := meta.FindStatusCondition(obj.Status.Conditions, "Rolled")
	want := metav1.Condition{
		Type: "Rolled", Status: metav1.ConditionTrue, ObservedGeneration: 3, LastTransitionTime: metav1.NewTime(noon),
		Reason: "Done", Message: "two",
	}
	if diff := cmp.Diff(&want, c); diff != "" {
		t.Errorf("condition (-want +got):\n%s", diff)
	}
	if obj.Status.Conditions[0].Type != "Rolled" || !obj.Status.Ready {
		t.Errorf("the marks do not come first: %+v", obj.Status.Conditions)
	}
	b.writes = 0
	if b.pass(nil); b.writes != 0 {
		t.Errorf("%d writes for the same marks", b.writes)
	}
}

func TestUnmarkTakesAConditionAway(t *testing.T) {
	b := newBench(t, nil)
	b.loop.KindReconciler = marking(func(p *Pass) { p.SetCondition("Rolled", metav1.ConditionTrue, "Done", "x") })
	b.pass(nil)
	b.loop.KindReconciler = marking(func(*Pass) {})
	if meta.FindStatusCondition(b.pass(nil).Status.Conditions, "Rolled") == nil {
		t.Error("a condition that this pass says nothing of is gone")
	}
	b.loop.KindReconciler = marking(func(p *Pass) { p.RemoveCondition("Rolled") })
	if obj := b.pass(nil); meta.FindStatusCondition(obj.Status.Conditions, "Rolled") != nil || !obj.Status.Ready {
		t.Errorf("conditions %+v", obj.Status.Conditions)
	}
	b.writes = 0
	if b.pass(nil); b.writes != 0 {
		t.Errorf("%d writes to take away what is not there", b.writes)
	}
}

// A message may quote a team or a server: the API server would reject the whole status if it is too long.
func TestAMessageIsCutToWhatAConditionHolds(t *testing.T) {
	status := &v1alpha1.CommonStatus{}
	conditionWriter{status: status, now: time.Unix(1, 0)}.set("Ready", metav1.ConditionFalse, "NotAllowed",
		strings.Repeat("→", 100_000))
	if got := status.Conditions[0].Message; len(got) > longestMessage || !strings.HasSuffix(got, "→…") {
		t.Errorf("%d bytes", len(got))
	}
}
