// Package phase says in one word how an object is doing, and in one sentence why. Lists, filters and counts of the pages
// and of the API all go by it.
package phase

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/prose"
)

// Phase is how an object is doing, in a word for people.
type Phase = phase.Phase

// The phases, worst first.
const (
	NeedsYou   = phase.NeedsYou
	InProgress = phase.InProgress
	Deleting   = phase.Deleting
	Paused     = phase.Paused
	Ready      = phase.Ready
)

// All are the phases, worst first: the order of lists.
func All() []Phase { return phase.All() }

// Parse is the phase with the slug given.
func Parse(slug string) (Phase, bool) { return phase.Parse(slug) }

// Of is how obj is doing, and the sentence that says what is in the way; "" when nothing is. It only reads obj, which
// may be shared with a cache.
func Of(obj *unstructured.Unstructured) (Phase, string) { return FactsOf(obj).Phase() }

// Phase follows kstatus: a status about an older generation says nothing about this one.
func (f Facts) Phase() (Phase, string) {
	ready, stalled := f.Condition(v1alpha1.ConditionReady), f.Condition(v1alpha1.ConditionStalled)
	switch {
	case f.Deleting && f.Observed >= f.Generation && stalled.True():
		return NeedsYou, prose.Sentence("deleting is blocked: " + stalled.Message)
	case f.Deleting:
		return Deleting, whileDeleting(ready)
	case f.Paused || f.Condition(v1alpha1.ConditionPaused).True():
		return Paused, "Portico leaves it alone until it is resumed."
	case f.Observed < 0:
		return InProgress, "Requested; waiting for Portico to start."
	case f.Observed < f.Generation:
		return InProgress, "Change not applied yet."
	case stalled.True():
		return NeedsYou, prose.Sentence(stalled.Message)
	case ready.True():
		return Ready, ""
	case ready.Failed():
		return NeedsYou, prose.Sentence(ready.Message)
	case ready.Message == "":
		return InProgress, prose.Sentence(f.Condition(v1alpha1.ConditionReconciling).Message)
	}
	return InProgress, prose.Sentence(ready.Message)
}

// whileDeleting prefers what the engine says of the deletion to what it said before it.
func whileDeleting(ready Condition) string {
	if ready.Status != "" && !ready.True() && ready.Message != "" {
		return prose.Sentence(ready.Message)
	}
	return "Waiting for what was made for it to go."
}
