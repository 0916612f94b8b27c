package status

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/phase"
)

func TestPhaseFollowsKstatus(t *testing.T) {
	meta := "apiVersion: portico.dev/v1alpha1\nkind: S3Bucket\nmetadata: {name: x, namespace: payments, generation: 2"
	deleted := `, deletionTimestamp: "2026-11-21T11:55:00Z"`
	stalled := `{type: Stalled, status: "True", reason: Denied, message: the role may not create buckets}`
	ready := `{type: Ready, status: "True", reason: InSync, message: ok}`
	cases := []struct {
		name, object string
		phase        phase.Phase
		why          string
	}{
		{
			"fresh object: the CRD's default says nobody has looked", meta + "}\nstatus: {observedGeneration: -1}",
			phase.InProgress, "Requested. Portico starts in a moment.",
		},
		{"no status at all", meta + "}", phase.InProgress, "Requested. Portico starts in a moment."},
		{"ready", meta + "}\nstatus: {observedGeneration: 2, conditions: [" + ready + "]}", phase.Ready, ""},
		{
			"ready, but of an older generation", meta + "}\nstatus: {observedGeneration: 1, conditions: [" + ready +
				"]}",
			phase.InProgress, "Your change is not applied yet.",
		},
		{
			"stalled", meta + "}\nstatus: {observedGeneration: 2, conditions: [" + stalled + "]}",
			phase.NeedsYou, "The role may not create buckets.",
		},
		{
			"failed and tried again", meta + `}
status: {observedGeneration: 2, conditions: [{type: Ready, status: "False", reason: Failed, message: AWS answered 503}]}`,
			phase.NeedsYou, "AWS answered 503.",
		},
		{
			"under way", meta + `}
status: {observedGeneration: 2, conditions: [{type: Ready, status: Unknown, reason: Creating, message: waiting for S3}]}`,
			phase.InProgress, "Waiting for S3.",
		},
		{"paused wins over ready", meta + `, annotations: {portico.dev/paused: "true"}}
status: {observedGeneration: 2, conditions: [` + ready + "]}", phase.Paused, "Portico changes nothing until you resume it."},
		{
			"deleting, with an old Ready", meta + deleted + "}\nstatus: {observedGeneration: 2, conditions: [" + ready +
				"]}",
			phase.Deleting, "Deleting what belongs to it.",
		},
		{
			"deleting, with progress", meta + deleted + `}
status: {observedGeneration: 2, conditions: [{type: Ready, status: "False", reason: Emptying, message: "emptying: 10 deleted"}]}`,
			phase.Deleting, "emptying: 10 deleted.",
		},
		{
			"deleting is refused", meta + deleted + "}\nstatus: {observedGeneration: 2, conditions: [" + stalled + "]}",
			phase.NeedsYou, "Deleting is blocked: the role may not create buckets.",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, why := FactsOf(object(t, c.object)).Phase()
			if got != c.phase || why != c.why {
				t.Errorf("phase is %q, %q; want %q, %q", got, why, c.phase, c.why)
			}
		})
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestFactsOfHostileStatusesAreThoseOfNone(t *testing.T) {
	for name, status := range map[string]string{
		"a text":                 `status: broken`,
		"conditions as a text":   `status: {conditions: broken}`,
		"a condition as a text":  `status: {conditions: [broken, 1, null]}`,
		"a generation as a text": `status: {observedGeneration: "2"}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := FactsOf(object(t, "apiVersion: v1\nkind: X\nmetadata: {name: x}\n"+status))
			if f.Observed != -1 || len(f.Conditions) > 0 {
				t.Errorf("facts are %+v", f)
			}
		})
	}
	f := FactsOf(object(t, "apiVersion: v1\nkind: X\nstatus: {conditions: [{type: 1, status: true, reason: null}]}"))
	if len(f.Conditions) != 1 || f.Conditions[0] != (Condition{}) {
		t.Errorf("a condition without texts is %+v", f.Conditions)
	}
}
