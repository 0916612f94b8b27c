package pages

import (
	"strings"
	"testing"

	"github.com/portico-platform/portico/web/views"
)

func TestPhaseFollowsKstatus(t *testing.T) {
	meta := "apiVersion: portico.dev/v1alpha1\nkind: S3Bucket\nmetadata: {name: x, namespace: payments, generation: 2"
	deleted := `, deletionTimestamp: "2026-11-21T11:55:00Z"`
	stalled := `{type: Stalled, status: "True", reason: Denied, message: the role may not create buckets}`
	ready := `{type: Ready, status: "True", reason: InSync, message: ok}`
	cases := []struct {
		name, object string
		phase        views.Phase
		why          string
	}{
		{
			"fresh object: the CRD's default says nobody has looked", meta + "}\nstatus: {observedGeneration: -1}",
			views.InProgress, "Requested; waiting for Portico to start.",
		},
		{"no status at all", meta + "}", views.InProgress, "Requested; waiting for Portico to start."},
		{"ready", meta + "}\nstatus: {observedGeneration: 2, conditions: [" + ready + "]}", views.Ready, ""},
		{
			"ready, but of an older generation", meta + "}\nstatus: {observedGeneration: 1, conditions: [" + ready + "]}",
			views.InProgress, "Change not applied yet.",
		},
		{
			"stalled", meta + "}\nstatus: {observedGeneration: 2, conditions: [" + stalled + "]}",
			views.NeedsYou, "The role may not create buckets.",
		},
		{
			"failed and tried again", meta + `}
status: {observedGeneration: 2, conditions: [{type: Ready, status: "False", reason: Failed, message: AWS answered 503}]}`,
			views.NeedsYou, "AWS answered 503.",
		},
		{
			"under way", meta + `}
status: {observedGeneration: 2, conditions: [{type: Ready, status: Unknown, reason: Creating, message: waiting for S3}]}`,
			views.InProgress, "Waiting for S3.",
		},
		{"paused wins over ready", meta + `, annotations: {portico.dev/paused: "true"}}
status: {observedGeneration: 2, conditions: [` + ready + "]}", views.Paused, "Portico leaves it alone until it is resumed."},
		{
			"deleting, with an old Ready", meta + deleted + "}\nstatus: {observedGeneration: 2, conditions: [" + ready + "]}",
			views.Deleting, "Waiting for what was made for it to go.",
		},
		{
			"deleting, with progress", meta + deleted + `}
status: {observedGeneration: 2, conditions: [{type: Ready, status: "False", reason: Emptying, message: "emptying: 10 deleted"}]}`,
			views.Deleting, "emptying: 10 deleted.",
		},
		{
			"deleting is refused", meta + deleted + "}\nstatus: {observedGeneration: 2, conditions: [" + stalled + "]}",
			views.NeedsYou, "Deleting is blocked: the role may not create buckets.",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			phase, why := factsOf(object(t, c.object)).phase()
			if phase != c.phase || why != c.why {
				t.Errorf("phase is %q, %q; want %q, %q", phase, why, c.phase, c.why)
			}
		})
	}
}

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		"the bucket is taken":       "The bucket is taken.",
		"kmsKeyID is required":      "kmsKeyID is required.",
		"spec.x must be set!":       "spec.x must be set!",
		"Already one. And another.": "Already one. And another.",
	} {
		if got := sentence(in); got != want {
			t.Errorf("sentence(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestStepsSayWhichFinalizerWaits(t *testing.T) {
	f := busySite(t)
	obj := f.objects[3] // import-tmp, being deleted
	r := resourceOf(space{}, f.kinds.Requestable()[0], obj, noon)
	var all []string
	for _, s := range stepsOf(factsOf(obj), obj, f.kinds.Requestable()[0], r, noon) {
		all = append(all, s.Title+": "+s.State)
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{"Requested: done", "Portico releases what it made: in progress", "Waiting for example.org/backup: in progress"} {
		if !strings.Contains(got, want) {
			t.Errorf("the steps lack %q:\n%s", want, got)
		}
	}
}
