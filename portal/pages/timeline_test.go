package pages

import (
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/phase"
)

// TestConditionsLookAsTheyAre: whichever way round a condition is, and whatever the object is about.
func TestConditionsLookAsTheyAre(t *testing.T) {
	ready := phase.Condition{Type: "Ready", Status: "True", Reason: "InSync"}
	creating := phase.Condition{Type: "Ready", Status: "False", Reason: "Creating", Message: "creating"}
	stalled := phase.Condition{Type: "Stalled", Status: "True", Reason: "NameTaken", Message: "taken"}
	taken := phase.Condition{Type: "Ready", Status: "False", Reason: "NameTaken", Message: "taken"}
	rolling := phase.Condition{Type: "RolledOut", Status: "False", Reason: "Progressing", Message: "1 of 2"}
	for name, c := range map[string]struct {
		facts phase.Facts
		of    phase.Condition
		look  string
	}{
		"ready":                                   {phase.Facts{Conditions: []phase.Condition{ready}}, ready, "check good"},
		"not ready while it is made":              {phase.Facts{Conditions: []phase.Condition{creating}}, creating, "spin busy"},
		"a step under way":                        {phase.Facts{Conditions: []phase.Condition{creating, rolling}}, rolling, "spin busy"},
		"a step of what somebody must unblock":    {phase.Facts{Conditions: []phase.Condition{taken, stalled, rolling}}, rolling, "wait idle"},
		"not ready because of what blocks it":     {phase.Facts{Conditions: []phase.Condition{taken, stalled}}, taken, "alert bad"},
		"what blocks it":                          {phase.Facts{Conditions: []phase.Condition{taken, stalled}}, stalled, "alert bad"},
		"an attempt that failed":                  {phase.Facts{}, phase.Condition{Type: "Ready", Status: "False", Reason: "Failed"}, "alert bad"},
		"under way":                               {phase.Facts{}, phase.Condition{Type: "Reconciling", Status: "True"}, "spin busy"},
		"not under way":                           {phase.Facts{}, phase.Condition{Type: "Reconciling", Status: "False"}, "check good"},
		"paused":                                  {phase.Facts{Paused: true}, phase.Condition{Type: "Paused", Status: "True"}, "pause idle"},
		"not ready while paused":                  {phase.Facts{Paused: true}, creating, "pause idle"},
		"not ready while it is deleted":           {phase.Facts{Deleting: true}, creating, "spin busy"},
		"throttled":                               {phase.Facts{Conditions: []phase.Condition{ready}}, phase.Condition{Type: "Throttled", Status: "True"}, "alert warn"},
		"something amiss with what is ready":      {phase.Facts{Conditions: []phase.Condition{ready}}, phase.Condition{Type: "ChangesApplied", Status: "False"}, "alert warn"},
		"not known":                               {phase.Facts{}, phase.Condition{Type: "Ready", Status: "Unknown", Reason: "Waiting"}, "wait idle"},
		"of a form that the API does not have":    {phase.Facts{}, phase.Condition{Type: "Ready"}, "wait idle"},
		"not stalled, as an old operator said it": {phase.Facts{}, phase.Condition{Type: "Stalled", Status: "False"}, "check good"},
	} {
		t.Run(name, func(t *testing.T) {
			is, _ := c.facts.Phase()
			if icon, tone := turnLook(c.facts, is, c.of); icon+" "+tone != c.look {
				t.Errorf("it looks %s %s, want %s; the object is %s", icon, tone, c.look, is)
			}
		})
	}
}

// TestWhatIsGoneFromAWSIsNotSaidToBeThere: an ARN in the status tells where it was.
func TestWhatIsGoneFromAWSIsNotSaidToBeThere(t *testing.T) {
	f := newFake(t, lostBucket, provider)
	page := visit(t, f, developer, "/teams/payments/s3buckets/lost").Body.String()
	lacks(t, page, "Gone from AWS", "arn:aws:s3:::lost was deleted outside Portico.")
	tree := visit(t, f, developer, "/teams/payments/s3buckets/lost?tab=objects").Body.String()
	lacks(t, tree, "Gone", "It was deleted outside Portico.")
	asks := visit(t, f, developer, "/teams/payments/s3buckets/lost/delete").Body.String()
	lacks(t, asks, "arn:aws:s3:::lost is gone from AWS already")
	for _, html := range []string{page, tree, asks} {
		for _, wrong := range []string{"Exists in AWS", "There\n", ">There<", "Deleted from AWS for good"} {
			if strings.Contains(html, wrong) {
				t.Errorf("it says %q", wrong)
			}
		}
	}
	observed := visit(t, newFake(t, strings.Replace(readyBucket, "deletionPolicy: Delete", "deletionPolicy: Delete, managementPolicy: Observe", 1)), developer, atInvoices).Body.String()
	lacks(t, observed, "Portico only observes it")
}
