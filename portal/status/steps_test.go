package status

import (
	"slices"
	"testing"

	"github.com/portico-platform/portico/portal/catalog"
)

func TestStepsTellHowFarAnObjectIs(t *testing.T) {
	kind := catalog.Kind{Steps: []catalog.Step{
		{Type: "Certified", Title: "Certificate issued"}, {Type: "Routed", Title: "Route set"}, {Type: "Scaled", Title: "Scaled", Optional: true}, {Type: "Named", Title: "DNS name set"},
	}}
	conditions := []Condition{
		{Type: "Ready", Status: "False", Reason: "Waiting", Message: "the route is missing"},
		{Type: "Routed", Status: "Unknown", Reason: "Waiting"},
		{Type: "Certified", Status: "True", Message: "issued"},
		{Type: "Stalled", Status: "True", Message: "said elsewhere"},
		{Type: "QuotaNearlyFull", Status: "True", Message: "80 % are used"},
		{Type: "Throttled", Status: "False", Message: "as usual"},
		{Type: "HeadersSet", Status: "False", Reason: "Failed", Message: "refused"},
		{Type: "LogsKept", Status: "Unknown", Message: "nobody looked"},
	}
	for _, c := range []struct {
		name  string
		facts Facts
		want  []string
	}{
		{"in the order of the kind", Facts{Conditions: conditions}, []string{
			"Certificate issued: done: Issued.", "Route set: waiting: Waits for the steps above.",
			"DNS name set: waiting: Not started yet.",
			"Quota nearly full: warning: 80 % are used.", "Headers set: failed: Refused.",
			"Logs kept: not known yet: Nobody looked.", "Ready: needs you: The route is missing.",
		}},
		{
			"not what an old status says of a new change",
			Facts{Generation: 2, Observed: 1, Conditions: []Condition{
				{Type: "Certified", Status: "True"},
				{Type: "Ready", Status: "True", Message: "well"},
			}},
			[]string{
				"Certificate issued: done: ", "Route set: waiting: Not started yet.",
				"DNS name set: waiting: Not started yet.", "Ready: in progress: The latest change is not applied yet.",
			},
		},
		{
			"not what does not begin any more",
			Facts{Deleting: true, Conditions: []Condition{
				{Type: "Ready", Status: "False", Reason: "Deleting", Message: "going"},
			}},
			[]string{"Ready: in progress: Going."},
		},
		{"before anybody looked", Facts{Observed: -1}, []string{"Certificate issued: waiting: Not started yet.", "Route set: waiting: Not started yet.", "DNS name set: waiting: Not started yet."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, s := range c.facts.Steps(kind) {
				got = append(got, s.Title+": "+s.State+": "+s.Text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
