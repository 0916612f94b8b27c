package resource

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// stepsOf returns the object's steps: requested, in AWS, the kind's own conditions, ready; for a deletion, what blocks
// it. A new object has all steps from the start, so that the layout does not change.
func stepsOf(f status.Facts, obj *unstructured.Unstructured, k catalog.Kind, r views.Resource,
	now time.Time,
) []views.Step {
	by := "Portico has your request."
	if r.RequestedBy != "" {
		by = "By " + r.RequestedBy + "."
	}
	steps := []views.Step{done("Requested", by, r.Created)}
	if k.Has("deletionPolicy") && k.Tells("arn") { // it has one resource in AWS
		steps = append(steps, inAWS(f, obj))
	}
	own, told := ownSteps(f, k, now)
	steps = append(steps, own...)
	if f.Deleting { // then Ready and its steps are about the deletion
		return append(steps, deletionSteps(obj, r, now)...)
	}
	if told && f.Observed >= f.Generation {
		return append(steps, waiting("Ready", "When the steps above are done."))
	}
	return append(steps, readyStep(f, k, now))
}

// OwnSteps returns the steps that the object's kind declares, with the state of their conditions.
func OwnSteps(obj *unstructured.Unstructured, k catalog.Kind, now time.Time) []views.Step {
	steps, _ := ownSteps(status.FactsIn(k, obj), k, now)
	return steps
}

// ownSteps returns the conditions of the object's own kind: first the steps that the kind declares, in order, then
// others. told reports whether one of them already shows the reason why the object is not Ready, in the same words.
func ownSteps(f status.Facts, k catalog.Kind, now time.Time) (steps []views.Step, told bool) {
	ready := f.Condition(v1alpha1.ConditionReady)
	for _, c := range f.Steps(k) {
		if c.Type == v1alpha1.ConditionReady || c.Type == v1alpha1.ConditionAWSAccess { // shown elsewhere
			continue
		}
		s := stepOf(c, now)
		if c.Status == "False" && !ready.True() && c.Message != "" && c.Message == ready.Message {
			told = true
		}
		steps = append(steps, s)
	}
	return steps, told
}

// saidOnce removes from the steps the text that is already shown above them.
func saidOnce(steps []views.Step, headline string) []views.Step {
	for i := range steps {
		if steps[i].Text == headline {
			steps[i].Text = ""
		}
	}
	return steps
}

// inAWS returns the step of the resource in AWS.
func inAWS(f status.Facts, obj *unstructured.Unstructured) views.Step {
	arn := catalog.TextAt(obj, "status", "arn")
	switch {
	case arn == "":
		return waiting("Created in AWS", "Not created yet.")
	case f.Lost():
		return views.Step{
			Title: "Gone from AWS", Text: arn + " was deleted outside Portico.", Icon: "alert",
			Tone: "bad", State: "gone",
		}
	}
	return done("Created in AWS", arn, views.Moment{})
}

// readyStep returns the Ready condition, unless a newer generation has not been observed.
func readyStep(f status.Facts, k catalog.Kind, now time.Time) views.Step {
	all := f.Steps(k)
	if len(all) == 0 || all[len(all)-1].Type != v1alpha1.ConditionReady {
		return waiting("Ready", "Portico has not checked it yet.")
	}
	return stepOf(all[len(all)-1], now)
}

// looks are the looks of steps, by state.
var looks = map[string]struct{ icon, tone string }{
	status.StepDone: {"check", "good"}, status.StepInProgress: {"spin", "busy"}, status.StepFailed: {"alert", "bad"},
	status.StepWaiting: {"wait", "idle"}, status.StepUnknown: {"wait", "idle"}, status.StepWarning: {"alert", "warn"},
	status.StepNeedsYou: {"alert", "bad"},
}

func stepOf(c status.Step, now time.Time) views.Step {
	s := views.Step{Title: c.Title, Text: c.Text, State: c.State, Icon: looks[c.State].icon, Tone: looks[c.State].tone}
	if c.Since != "" && c.State != status.StepWaiting {
		s.At = views.Moment{At: parsed(c.Since), Now: now}
	}
	return s
}

// deletionSteps returns a step for each finalizer, with what it waits for.
func deletionSteps(obj *unstructured.Unstructured, r views.Resource, now time.Time) []views.Step {
	steps := []views.Step{done("Deletion requested", "", views.Moment{At: obj.GetDeletionTimestamp().Time, Now: now})}
	for _, name := range obj.GetFinalizers() {
		s := views.Step{
			Title: "Waiting for " + name, Icon: "spin", Tone: "busy", State: "in progress",
			Text: "Another controller must release it first.",
		}
		if strings.HasPrefix(name, "portico.dev/") {
			s.Title, s.Text = deletionTitle(obj), r.Why
		}
		if r.Phase == phase.NeedsYou {
			s.Icon, s.Tone, s.State = "alert", "bad", "needs you"
		}
		steps = append(steps, s)
	}
	return steps
}

// deletionTitle returns what Portico does before it releases the object.
func deletionTitle(obj *unstructured.Unstructured) string {
	switch {
	case obj.GetKind() == page.ProviderKind:
		return "Waiting until nothing uses it"
	case catalog.TextAt(obj, "spec", "deletionPolicy") == string(v1alpha1.DeletionStop):
		return "Stopping it"
	}
	return "Deleting its AWS resources"
}

func done(title, text string, at views.Moment) views.Step {
	return views.Step{Title: title, Text: text, Icon: "check", Tone: "good", State: views.StepDone, At: at}
}

func waiting(title, text string) views.Step {
	return views.Step{Title: title, Text: text, Icon: "wait", Tone: "idle", State: "waiting"}
}

// parsed returns the parsed time, or the zero time.
func parsed(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
