package engine

import (
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Pass is one reconcile of one object, and what it noted.
type Pass struct {
	Events
	save       func(context.Context) error
	plan       []PlannedAction
	conditions []conditionChange
	again      time.Duration // see LookAgain

	before, ineffective    ineffectiveActions // in the passes before, and in this one
	refusedBefore, refused refusals           // likewise
}

// PlannedAction names an action that a pass found to do: the call, and the difference that asks for it.
type PlannedAction struct{ Name, Why string }

// String returns the action as people read it: "PutBucketVersioning (versioning Suspended → Enabled)".
func (a PlannedAction) String() string { return a.Name + " (" + a.Why + ")" }

// ineffectiveActions counts, by action, the passes in a row after which it was accepted and did not show. It lives in
// memory: a restart costs a few tries more, and a count in the status would be one more write for each.
type ineffectiveActions map[PlannedAction]int

// CountIneffective notes that an action of this pass does not show, and returns in how many passes in a row it did not.
// A pass that ends before it comes to know does not end the row; one that finds everything in sync does, or plans
// without the action.
func (p *Pass) CountIneffective(action PlannedAction) int {
	if p.ineffective == nil {
		p.ineffective = ineffectiveActions{}
	}
	p.ineffective[action] = 1 + p.before[action]
	return p.ineffective[action]
}

// IneffectiveCount returns what CountIneffective last returned for the action in the passes before.
func (p *Pass) IneffectiveCount(action PlannedAction) int { return p.before[action] }

// after returns what is to be remembered after a pass: of the counts before it those of actions that are still to do,
// if it came to plan, and its own. So there are never more than one pass can plan.
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

// SetCondition sets a condition of the kind's own; finish writes it, ahead of the Ready family.
func (p *Pass) SetCondition(kind string, status metav1.ConditionStatus, reason, message string) {
	p.conditions = append(p.conditions, conditionChange{kind, status, reason, message})
}

// LookAgain asks for another pass in d though this one ends well, if that is earlier than the next would be; 0 asks for
// none.
func (p *Pass) LookAgain(d time.Duration) { p.again = d }

// hasten returns the schedule with the next pass as early as this one asks for.
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

// Condition returns the status that the pass gave the condition, empty if it gave none.
func (p *Pass) Condition(kind string) (status metav1.ConditionStatus, reason, message string) {
	for _, m := range p.conditions {
		if m.kind == kind {
			status, reason, message = m.status, m.reason, m.message
		}
	}
	return status, reason, message
}

// RecordPlan notes what the pass found to do; see Record.
func (p *Pass) RecordPlan(actions ...PlannedAction) { p.plan = append(p.plan, actions...) }

// NewPass returns a pass whose SaveStatus calls save; nil saves nothing. Only tests of a KindReconciler need it.
func NewPass(save func(context.Context) error) *Pass { return &Pass{save: save} }

// NextPass returns a pass over the same object that remembers what p found. Only tests of a KindReconciler need it.
func NextPass(p *Pass) *Pass {
	over := passResult{plan: p.plan, ineffective: p.ineffective, refused: p.refused}
	return &Pass{before: p.before.after(over), refusedBefore: p.refusedBefore.after(over)}
}

// SaveStatus writes the object's status now, in the middle of the work, under its resourceVersion. nil proves that the
// object is the latest, still exists and is not being deleted since it was read: what must be written down before an
// act outside goes through here, and so does the act itself if nobody could find its result for an object that is gone.
// The object holds the server's answer afterwards: pointers into its status from before lead nowhere.
func (p *Pass) SaveStatus(ctx context.Context) error {
	if p.save == nil {
		return nil
	}
	return p.save(ctx)
}
