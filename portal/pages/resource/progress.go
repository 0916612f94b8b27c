package resource

import (
	"cmp"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// advice tells what happens next, or what the reader can do.
func advice(f status.Facts, p phase.Phase) string {
	switch {
	case p == phase.NeedsYou && f.Condition(v1alpha1.ConditionStalled).True():
		return "Portico tries again by itself, at first after 30 seconds and then at least every 5 minutes, and at once after a change."
	case p == phase.NeedsYou:
		return "Portico keeps trying, less and less often."
	case p == phase.InProgress:
		return "This page follows by itself."
	}
	return ""
}

// progress compares the generation that the status speaks of with the object's, and counts the steps that the page shows.
func progress(f status.Facts, k catalog.Kind, steps []views.Step) string {
	switch {
	case f.Observed < 0:
		return "not looked at yet"
	case f.Observed < f.Generation:
		return "change not applied yet"
	}
	return cmp.Or(stepsDone(steps, k), "latest change applied")
}
