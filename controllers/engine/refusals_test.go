package engine

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// A refused action is retried after as long as it has been refused, at once after an edit, and is forgotten once it
// succeeds.
func TestRefusalsAreRememberedUntilAnEdit(t *testing.T) {
	records, start := &Records{}, time.Unix(1000, 0)
	obj := &v1alpha1.S3Bucket{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "b", UID: "u", Generation: 1}}
	tag, denied := PlannedAction{"Tag", "team"}, errors.New("denied")
	pass := func(at time.Duration, refused bool) {
		p := &Pass{refusedBefore: records.refusedOf("S3Bucket", obj), plan: []PlannedAction{tag}}
		if p.LastRefusal(tag, start.Add(at)) == nil && refused {
			p.Refused(tag, denied, start.Add(at))
		}
		records.add("S3Bucket", obj, passResult{
			at: start.Add(at), plan: p.plan, refused: p.refused,
			reason: v1alpha1.ReasonInvalidSpec,
		})
	}
	recalled := func(at time.Duration) error {
		return (&Pass{refusedBefore: records.refusedOf("S3Bucket", obj)}).LastRefusal(tag, start.Add(at))
	}
	pass(0, true)
	if !errors.Is(recalled(10*time.Second), denied) || recalled(30*time.Second) != nil {
		t.Error("at first it is tried again after half a minute")
	}
	pass(30*time.Second, true)
	pass(60*time.Second, true)
	pass(2*time.Minute, true)
	if !errors.Is(recalled(3*time.Minute), denied) || recalled(4*time.Minute) != nil {
		t.Error("after two minutes of refusals it is tried again after two")
	}
	if recalled(time.Minute) != nil {
		t.Error("after the clock was put back it is not tried")
	}
	// This pass made no plan.
	records.add("S3Bucket", obj, passResult{at: start.Add(150 * time.Second), reason: v1alpha1.ReasonFailed})
	if !errors.Is(recalled(3*time.Minute), denied) {
		t.Error("a pass that came to no plan made it forgotten")
	}
	obj.Generation = 2
	if recalled(3*time.Minute) != nil {
		t.Error("after an edit it is not tried at once")
	}
	pass(3*time.Minute, true)
	obj.Annotations = map[string]string{v1alpha1.AnnotationReconcileRequestedAt: "now"}
	if recalled(3*time.Minute) != nil {
		t.Error("when somebody asks for it, it is not tried at once")
	}
	pass(4*time.Minute, true)
	pass(10*time.Minute, false)
	if recalled(10*time.Minute) != nil {
		t.Error("what succeeded is remembered as refused")
	}
}
