package resource

import (
	"testing"

	"github.com/portico-platform/portico/portal/status"
)

// TestConditionsLookAsTheyAre: for conditions of either polarity, and objects in any phase.
func TestConditionsLookAsTheyAre(t *testing.T) {
	ready := status.Condition{Type: "Ready", Status: "True", Reason: "InSync"}
	creating := status.Condition{Type: "Ready", Status: "False", Reason: "Creating", Message: "creating"}
	stalled := status.Condition{Type: "Stalled", Status: "True", Reason: "NameTaken", Message: "taken"}
	taken := status.Condition{Type: "Ready", Status: "False", Reason: "NameTaken", Message: "taken"}
	rolling := status.Condition{Type: "RolledOut", Status: "False", Reason: "Progressing", Message: "1 of 2"}
	for name, c := range map[string]struct {
		facts status.Facts
		of    status.Condition
		look  string
	}{
		"ready":                                   {status.Facts{Conditions: []status.Condition{ready}}, ready, "check good"},
		"not ready while it is made":              {status.Facts{Conditions: []status.Condition{creating}}, creating, "spin busy"},
		"a step under way":                        {status.Facts{Conditions: []status.Condition{creating, rolling}}, rolling, "spin busy"},
		"a step of what somebody must unblock":    {status.Facts{Conditions: []status.Condition{taken, stalled, rolling}}, rolling, "wait idle"},
		"not ready because of what blocks it":     {status.Facts{Conditions: []status.Condition{taken, stalled}}, taken, "alert bad"},
		"what blocks it":                          {status.Facts{Conditions: []status.Condition{taken, stalled}}, stalled, "alert bad"},
		"an attempt that failed":                  {status.Facts{}, status.Condition{Type: "Ready", Status: "False", Reason: "Failed"}, "alert bad"},
		"under way":                               {status.Facts{}, status.Condition{Type: "Reconciling", Status: "True"}, "spin busy"},
		"not under way":                           {status.Facts{}, status.Condition{Type: "Reconciling", Status: "False"}, "check good"},
		"paused":                                  {status.Facts{Paused: true}, status.Condition{Type: "Paused", Status: "True"}, "pause idle"},
		"not ready while paused":                  {status.Facts{Paused: true}, creating, "pause idle"},
		"not ready while it is deleted":           {status.Facts{Deleting: true}, creating, "spin busy"},
		"throttled":                               {status.Facts{Conditions: []status.Condition{ready}}, status.Condition{Type: "Throttled", Status: "True"}, "alert warn"},
		"something amiss with what is ready":      {status.Facts{Conditions: []status.Condition{ready}}, status.Condition{Type: "ChangesApplied", Status: "False"}, "alert warn"},
		"not known":                               {status.Facts{}, status.Condition{Type: "Ready", Status: "Unknown", Reason: "Waiting"}, "wait idle"},
		"of a form that the API does not have":    {status.Facts{}, status.Condition{Type: "Ready"}, "wait idle"},
		"not stalled, as an old operator said it": {status.Facts{}, status.Condition{Type: "Stalled", Status: "False"}, "check good"},
	} {
		t.Run(name, func(t *testing.T) {
			is, _ := c.facts.Phase()
			if icon, tone := turnLook(c.facts, is, c.of); icon+" "+tone != c.look {
				t.Errorf("it looks %s %s, want %s; the object is %s", icon, tone, c.look, is)
			}
		})
	}
}
