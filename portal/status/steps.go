package status

import (
	"slices"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/humanize"
)

// The states of steps, in words for people.
const (
	StepDone       = "done"
	StepInProgress = "in progress"
	StepFailed     = "failed"
	StepWaiting    = "waiting"
	StepUnknown    = "not known yet"
	StepWarning    = "warning" // of a condition that is True while something is unusual
	StepNeedsYou   = "needs you"
)

// Step is one step of an object towards Ready, and the condition that reports it.
type Step struct {
	Condition

	Title string // for people
	State string // one of the states above
	Text  string // the condition's message as a sentence
}

// whole are the condition types that are no steps: the object's phase covers them.
var whole = []string{
	v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled, v1alpha1.ConditionPaused,
	v1alpha1.ConditionProgressing,
}

// Steps returns the steps that a kind declares, in its order, then those of other conditions, and Ready at the end.
func (f Facts) Steps(k catalog.Kind) []Step {
	var steps []Step
	seen := append(slices.Clone(whole), v1alpha1.ConditionReady)
	for _, d := range k.Steps {
		seen = append(seen, d.Type)
		if c, ok := f.Find(d.Type); ok {
			steps = append(steps, StepOf(d.Title, c))
		} else if !d.Optional && !f.Deleting {
			steps = append(steps, Step{
				Condition: Condition{Type: d.Type}, Title: d.Title, State: StepWaiting,
				Text: "Not started yet.",
			})
		}
	}
	for _, c := range f.Conditions {
		if !slices.Contains(seen, c.Type) && (!c.Abnormal() || c.True()) {
			steps = append(steps, StepOf(humanize.Words(c.Type), c))
		}
	}
	if c, ok := f.Find(v1alpha1.ConditionReady); ok {
		steps = append(steps, f.readyStep(c))
	}
	f.markStuck(steps)
	return steps
}

// markStuck sets StepNeedsYou on the steps that are the reason why the object needs somebody.
func (f Facts) markStuck(steps []Step) {
	if is, _ := f.Phase(); is != phase.NeedsYou {
		return
	}
	ready := f.Condition(v1alpha1.ConditionReady)
	for i := range steps {
		if s := &steps[i]; s.Status == "False" && !ready.True() &&
			(s.Type == v1alpha1.ConditionReady || s.Message != "" && s.Message == ready.Message) {
			s.State = StepNeedsYou
		}
	}
}

// readyStep returns the step of Ready. Before the operator has observed the latest change, it is in progress.
func (f Facts) readyStep(c Condition) Step {
	s := StepOf(v1alpha1.ConditionReady, c)
	if f.Observed < f.Generation && !f.Deleting {
		s.State, s.Text = StepInProgress, "The latest change is not applied yet."
	}
	return s
}

// StepOf returns the step that a condition reports.
func StepOf(title string, c Condition) Step {
	s := Step{Condition: c, Title: title, State: StepUnknown, Text: humanize.Sentence(c.Message)}
	switch {
	case c.True() && c.Abnormal():
		s.State = StepWarning
	case c.True():
		s.State = StepDone
	case c.Status == "False" && c.Failed():
		s.State = StepFailed
	case c.Status == "False":
		s.State = StepInProgress
	case c.Reason == "Waiting":
		s.State, s.Text = StepWaiting, "Waits for the steps above."
	}
	return s
}
