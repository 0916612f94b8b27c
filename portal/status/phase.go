// Package status derives an object's phase from its status, with a sentence that says why. The pages and the API use it
// for all lists, filters and counts.
package status

import (
	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/humanize"
)

// Phase returns the phase and why it is not Ready. As in kstatus, the status of an older generation says nothing about
// this one.
func (f Facts) Phase() (phase.Phase, string) {
	ready, stalled := f.Condition(v1alpha1.ConditionReady), f.Condition(v1alpha1.ConditionStalled)
	switch {
	case f.Deleting && f.Observed >= f.Generation && stalled.True():
		return phase.NeedsYou, humanize.Sentence("deleting is blocked: " + stalled.Message)
	case f.Deleting:
		return phase.Deleting, whileDeleting(ready)
	case f.Paused || f.Condition(v1alpha1.ConditionPaused).True():
		return phase.Paused, "Portico changes nothing until you resume it."
	case f.Observed < 0:
		return phase.InProgress, "Requested. Portico starts in a moment."
	case f.Observed < f.Generation:
		return phase.InProgress, "Your change is not applied yet."
	case stalled.True():
		return phase.NeedsYou, humanize.Sentence(stalled.Message)
	case ready.True():
		return phase.Ready, ""
	case ready.Failed():
		return phase.NeedsYou, humanize.Sentence(ready.Message)
	case ready.Message == "":
		return phase.InProgress, humanize.Sentence(f.Condition(v1alpha1.ConditionReconciling).Message)
	}
	return phase.InProgress, humanize.Sentence(ready.Message)
}

// whileDeleting returns the message of the Ready condition if it is about the deletion, or a general one: a condition
// that is True dates from before the deletion.
func whileDeleting(ready Condition) string {
	if ready.Status != "" && !ready.True() && ready.Message != "" {
		return humanize.Sentence(ready.Message)
	}
	return "Deleting what belongs to it."
}
