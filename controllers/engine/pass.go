package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Pass is one reconcile of one object, and what it recorded.
type Pass struct {
	Events
	save       func(context.Context) error
	plan       []PlannedAction
	conditions []conditionChange
	again      time.Duration // see LookAgain

	before, ineffective    ineffectiveActions // in earlier passes, and in this one
	refusedBefore, refused refusals           // likewise
}

// PlannedAction is an action in the plan of a pass: the call, and the difference that causes it.
type PlannedAction struct{ Name, Why string }

// String formats the action for people: "PutBucketVersioning (versioning Suspended → Enabled)".
func (a PlannedAction) String() string { return a.Name + " (" + a.Why + ")" }

// ineffectiveActions counts, by action, the consecutive passes after which it was accepted and not visible. It is kept
// in memory: a restart costs a few more tries, and a count in the status would cost a write for each.
type ineffectiveActions map[PlannedAction]int

// CountIneffective records that an action of this pass has no visible effect, and returns for how many consecutive
// passes. A pass that ends before it can tell does not reset the count; one that is in sync, or whose plan does not
// have the action, does.
func (p *Pass) CountIneffective(action PlannedAction) int {
	if p.ineffective == nil {
		p.ineffective = ineffectiveActions{}
	}
	p.ineffective[action] = 1 + p.before[action]
	return p.ineffective[action]
}

// IneffectiveCount returns what CountIneffective last returned for the action in earlier passes.
func (p *Pass) IneffectiveCount(action PlannedAction) int { return p.before[action] }

// after returns the counts to keep after a pass: its own, and if it made a plan, the earlier ones of actions still
// planned. So there are never more than one pass can plan.
func (before ineffectiveActions) after(pass passResult) ineffectiveActions {
	if pass.reason == v1alpha1.ReasonInSync {
		return nil
	}
	all := ineffectiveActions{}
	for action, passes := range before {
		if len(pass.plan) == 0 || slices.Contains(pass.plan, action) {
			all[action] = passes
		}
	}
	maps.Copy(all, pass.ineffective)
	return all
}

// conditionChange sets one condition; an empty status removes it.
type conditionChange struct {
	kind            string
	status          metav1.ConditionStatus
	reason, message string
}

// SetCondition sets a condition of the kind's own; finish writes it, before the Ready family.
func (p *Pass) SetCondition(kind string, status metav1.ConditionStatus, reason, message string) {
	p.conditions = append(p.conditions, conditionChange{kind, status, reason, message})
}

// LookAgain requests another pass in d, even if this one succeeds, if the next would be later; 0 requests none.
func (p *Pass) LookAgain(d time.Duration) { p.again = d }

// NextLook returns what LookAgain requested last. Only tests of a KindReconciler need it.
func (p *Pass) NextLook() time.Duration { return p.again }

// hasten returns the schedule with the next pass no later than this one requests.
func (p *Pass) hasten(s Schedule) Schedule {
	if p.again > 0 {
		s.Resync = min(s.Resync, p.again)
	}
	return s
}

// RemoveCondition removes a condition of the kind's own.
func (p *Pass) RemoveCondition(kind string) {
	p.conditions = append(p.conditions, conditionChange{kind: kind})
}

// Condition returns what the pass set for the condition; empty if it set nothing.
func (p *Pass) Condition(kind string) (status metav1.ConditionStatus, reason, message string) {
	for _, m := range p.conditions {
		if m.kind == kind {
			status, reason, message = m.status, m.reason, m.message
		}
	}
	return status, reason, message
}

// RecordPlan records the actions that the pass planned; see Record.
func (p *Pass) RecordPlan(actions ...PlannedAction) { p.plan = append(p.plan, actions...) }

// NewPass returns a pass whose SaveStatus calls save; nil saves nothing. Only tests of a KindReconciler need it.
func NewPass(save func(context.Context) error) *Pass { return &Pass{save: save} }

// NextPass returns a pass over the same object with the results of p. Only tests of a KindReconciler need it.
func NextPass(p *Pass) *Pass {
	over := passResult{plan: p.plan, ineffective: p.ineffective, refused: p.refused}
	return &Pass{before: p.before.after(over), refusedBefore: p.refusedBefore.after(over)}
}

// SaveStatus writes the object's status now, in the middle of the pass, at its resourceVersion. nil proves that the
// object is current, exists and is not being deleted since it was read. State that must be saved before an external
// action is saved with it, and it also precedes an action whose result could not be found again for a deleted object.
// Afterwards the object is the server's response: earlier pointers into its status are stale.
func (p *Pass) SaveStatus(ctx context.Context) error {
	if p.save == nil {
		return nil
	}
	return p.save(ctx)
}
