package resource

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/portal/status"
	"github.com/portico-platform/portico/web/views"
)

func TestStepsSayWhichFinalizerWaits(t *testing.T) {
	k, now := catalogtest.Kinds(t).Requestable()[0], time.Now()
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"deletionPolicy": "Delete"}}}
	obj.SetDeletionTimestamp(&metav1.Time{Time: now})
	obj.SetFinalizers([]string{"portico.dev/release", "example.org/backup"})
	r := page.ResourceOf(page.Space{}, k, obj, now)
	var all []string
	for _, s := range stepsOf(status.FactsOf(obj), obj, k, r, now) {
		all = append(all, s.Title+": "+s.State)
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{
		"Requested: done", "Deleting its AWS resources: in progress",
		"Waiting for example.org/backup: in progress",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the steps lack %q:\n%s", want, got)
		}
	}
}

// TestAWarningIsNoStepThatIsDone: a condition that is True while something is unusual is shown as a warning.
func TestAWarningIsNoStepThatIsDone(t *testing.T) {
	k, _ := catalogtest.Kinds(t).ByName("AWSProvider")
	condition := func(kind, status string) any {
		return map[string]any{"type": kind, "status": status, "reason": "R", "message": "m"}
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{
		condition("WorkloadIdentityReady", "True"), condition("QuotaNearlyFull", "True"), condition("Ready", "True"),
	}}}}
	var all []string
	for _, s := range OwnSteps(obj, k, time.Now()) {
		all = append(all, s.State+" "+s.Tone)
	}
	if got := strings.Join(all, ", "); got != "done good, warning warn" {
		t.Errorf("the steps are %s", got)
	}
}

// TestWhatHasNoARNIsNotLookedForInAWS: a database user exists in the database and not in AWS.
func TestWhatHasNoARNIsNotLookedForInAWS(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	for name, want := range map[string]bool{
		"S3Bucket": true, "RDSInstance": true, "DatabaseUser": false,
		"WebApp": false,
	} {
		k, _ := kinds.ByName(name)
		obj := &unstructured.Unstructured{Object: map[string]any{}}
		all := stepsOf(status.FactsOf(obj), obj, k, page.ResourceOf(page.Space{}, k, obj, time.Now()), time.Now())
		if got := slices.ContainsFunc(all, func(s views.Step) bool {
			return s.Title == "Created in AWS"
		}); got != want {
			t.Errorf("%s: a step in AWS: %v", name, got)
		}
	}
}
