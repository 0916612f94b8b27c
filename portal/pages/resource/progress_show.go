package resource

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/api/phase"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

// advice returns what happens next, or what the user can do.
func advice(f status.Facts, p phase.Phase) string {
	switch {
	case strings.Contains(f.Condition(v1alpha1.ConditionReady).Message, "tries again by itself"):
		return "" // the headline says when
	case p == phase.NeedsYou && f.Condition(v1alpha1.ConditionStalled).True():
		return "Portico tries again by itself, at first after 30 seconds and then at least every 5 minutes, and at " +
			"once after a change."
	case p == phase.NeedsYou:
		return "Portico keeps trying, less and less often."
	case p == phase.InProgress:
		return "This page updates by itself."
	}
	return ""
}

// progress compares the observed generation with the object's, and counts the steps on the page.
func progress(f status.Facts, k catalog.Kind, is phase.Phase, steps []views.Step) string {
	switch {
	case f.Observed < 0:
		return "not checked yet"
	case f.Observed < f.Generation:
		return "change not applied yet"
	}
	if done := stepsDone(steps, k); done != "" || is == phase.Ready {
		return cmp.Or(done, "latest change applied")
	}
	return strings.ToLower(string(is))
}

// stepsDone returns the count of completed steps; "" for kinds without their own steps.
func stepsDone(all []views.Step, k catalog.Kind) string {
	if len(k.Steps) == 0 {
		return ""
	}
	n := 0
	for _, s := range all {
		if s.State == views.StepDone {
			n++
		}
	}
	return fmt.Sprintf("%d of %d done", n, len(all))
}

// headline returns the sentence at the top of the page: why the object is not Ready, or that it is.
func headline(k catalog.Kind, obj *unstructured.Unstructured, r views.Resource) string {
	switch {
	case r.Phase != phase.Ready || r.Why != "":
		return r.Why
	case !k.Own():
		return "Its controller, " + k.Controller.Name + ", says that it is ready."
	case catalog.TextAt(obj, "spec", "managementPolicy") == string(v1alpha1.ManagementObserve):
		return "It is in AWS; Portico only observes it, and changes nothing there."
	case catalog.TextAt(obj, "spec", "providerRef", "name") != "":
		return "It exists in AWS as described here. Portico checks it regularly and undoes changes made outside."
	}
	return "Everything is as requested. Portico checks it regularly."
}
