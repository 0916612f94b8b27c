package external

import (
	"slices"
	"time"

	"github.com/portico-platform/portico/api/spoken"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// maxIneffective is how often an accepted action may have no visible effect before people are asked to check.
const maxIneffective = 3

// attributeSettling is the default time AWS may take to show a changed attribute, unless a new resource takes longer:
// SQS documents a minute.
const attributeSettling = time.Minute

// ineffectiveAction is an action that AWS accepted, and that the plan contains again.
type ineffectiveAction struct {
	action engine.PlannedAction
	passes int           // in which it was not visible
	again  time.Duration // when to check again
}

// takenInVain reports whether the action was executed in this pass, or by an earlier one so recently that AWS may not
// show it yet: it is not repeated before that.
func (r *reconciliation[T, S]) takenInVain(create bool, a Action) (ineffectiveAction, bool) {
	action, settles := a.planned(), r.settles(a)
	if slices.Contains(r.taken, action) {
		return r.countIneffective(action), true
	}
	tried := r.pass.IneffectiveCount(action)
	before := r.lastSyncBefore
	young := before != nil && r.Now().Sub(before.Time) < settles
	return ineffectiveAction{action, tried, max(r.pollInterval(), settles/settlingLooks)}, !create && tried > 0 && young
}

// settlingLooks is the maximum number of checks for an effect that takes long to become visible.
const settlingLooks = 30

// settles returns how long the action may take to become visible.
func (r *reconciliation[T, S]) settles(a Action) time.Duration {
	switch {
	case a.Settles == 0:
		return min(r.Settling, attributeSettling)
	case r.Scaled != nil:
		return r.Scaled(a.Settles)
	}
	return a.Settles
}

func (r *reconciliation[T, S]) countIneffective(action engine.PlannedAction) ineffectiveAction {
	return ineffectiveAction{action, r.pass.CountIneffective(action), r.pollInterval()}
}

// ineffectiveError returns the error for actions, at least one, that were executed and are planned again. At first AWS
// may just not show them yet. After several passes it is more likely that the service ignores one, or that somebody
// reverts it at once.
func (r *reconciliation[T, S]) ineffectiveError(all ...ineffectiveAction) error {
	var waiting, unkept []engine.PlannedAction
	again := all[0].again
	for _, one := range all {
		again = min(again, one.again)
		if waiting = append(waiting, one.action); one.passes >= maxIneffective {
			unkept = append(unkept, one.action)
		}
	}
	switch len(unkept) {
	case 0:
		return waitUntilVisible(again, waiting...)
	case 1:
		return engine.Blocked(v1alpha1.ReasonNotKept, "%s was accepted again and again, and does not show: the "+
			"service takes no notice of it, shows it late, or something changes it back at once. Find out which, or "+
			"change the spec; Portico tries again by itself, at least every 5 minutes", unkept[0])
	}
	return engine.Blocked(v1alpha1.ReasonNotKept, "%s were accepted again and again, and do not show: the service "+
		"takes no notice of them, shows them late, or something changes them back at once. Find out which, or change "+
		"the spec; Portico tries again by itself, at least every 5 minutes", list(unkept))
}

// waitUntilVisible returns a WaitError for actions that AWS accepted and does not show yet.
func waitUntilVisible(again time.Duration, actions ...engine.PlannedAction) error {
	if len(actions) == 1 {
		return engine.Wait(v1alpha1.ReasonSettling, again, "%s was accepted; waiting until it shows", actions[0])
	}
	return engine.Wait(v1alpha1.ReasonSettling, again, "%s were accepted; waiting until they show", list(actions))
}

// list formats several actions for people.
func list(actions []engine.PlannedAction) string {
	texts := make([]string, 0, len(actions))
	for _, a := range actions {
		texts = append(texts, a.String())
	}
	return spoken.And(texts)
}
