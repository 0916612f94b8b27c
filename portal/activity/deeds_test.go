package activity

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestChangesAreNamedWithoutTheirValues(t *testing.T) {
	const was = `{metadata: {labels: {a: b}, annotations: {x: z, portico.dev/paused: "true"}}, spec: {image: i1, replicas: 1, env: [{name: A, value: s3cret}]}, status: {phase: a}}`
	for reason, c := range map[string]struct{ is, want string }{
		"nothing":    {was, "[]"},
		"the status": {`{metadata: {labels: {a: b}, annotations: {x: z, portico.dev/paused: "true"}}, spec: {image: i1, replicas: 1, env: [{name: A, value: s3cret}]}}`, "[]"},
		"two fields": {
			`{metadata: {labels: {a: b}, annotations: {x: z, portico.dev/paused: "true"}}, spec: {image: i2, replicas: 2, env: [{name: A, value: s3cret}]}}`, "[{Changed changed image and replicas}]",
		},
		"a value in a list": {
			`{metadata: {labels: {a: b}, annotations: {x: z, portico.dev/paused: "true"}}, spec: {image: i1, replicas: 1, env: [{name: s3cret, value: b}]}}`, "[{Changed changed env}]",
		},
		"labels and an annotation": {
			`{metadata: {labels: {s3cret: b}, annotations: {x: s3cret, portico.dev/paused: "true"}}, spec: {image: i1, replicas: 1, env: [{name: A, value: s3cret}]}}`, "[{Changed changed annotations and labels}]",
		},
		"resumed": {`{metadata: {labels: {a: b}, annotations: {x: z}}, spec: {image: i1, replicas: 1, env: [{name: A, value: s3cret}]}}`, "[{Resumed resumed it}]"},
		"kept, and a field": {
			`{metadata: {labels: {a: b}, annotations: {x: z, portico.dev/paused: "true", portico.dev/keep: "true"}}, spec: {image: i1, replicas: 9, env: [{name: A, value: s3cret}]}}`, "[{Kept asked to keep it} {Changed changed replicas}]",
		},
	} {
		if got := fmt.Sprint(Changes(parsed(t, was), parsed(t, c.is))); got != c.want {
			t.Errorf("%s: %s, want %s", reason, got, c.want)
		}
	}
	if got := Changes(nil, parsed(t, was)); got != nil {
		t.Errorf("%v", got)
	}
}

func TestPatchesAreNamedWithoutTheirValues(t *testing.T) {
	many := map[string]any{}
	for i := range 12 {
		many[fmt.Sprintf("f%02d", i)] = "s3cret"
	}
	for reason, c := range map[string]struct {
		patch map[string]any
		want  string
	}{
		"nothing":  {map[string]any{}, "[]"},
		"a field":  {map[string]any{"spec": map[string]any{"tags": map[string]any{"s3cret": "x"}}}, "[{Changed changed tags}]"},
		"many":     {map[string]any{"spec": many}, "[{Changed changed f00, f01, f02, f03, f04, f05, f06, f07 and 4 more}]"},
		"labels":   {map[string]any{"metadata": map[string]any{"labels": map[string]any{"s3cret": nil}}}, "[{Changed changed labels}]"},
		"by REST":  {map[string]any{"metadata": map[string]any{"annotations": map[string]any{"portico.dev/paused": "true", "note": "s3cret"}}}, "[{Paused paused it} {Changed changed annotations}]"},
		"a button": {map[string]any{"metadata": map[string]any{"annotations": map[string]*string{"portico.dev/paused": nil}}}, "[{Resumed resumed it}]"},
		"all of the buttons": {map[string]any{"metadata": map[string]any{"annotations": map[string]*string{
			"portico.dev/restart-requested-at": new("x"), "portico.dev/rollback": new("3"),
			"portico.dev/reconcile-requested-at": new("x"), "portico.dev/acknowledge-recreate": new("1"),
		}}}, "[{RecreateRequested requested a new one instead of the one that is gone} {CheckRequested requested a " +
			"check} {Restarted restarted it} {RolledBack went back to an earlier version}]"},
	} {
		if got := fmt.Sprint(Patches(c.patch)); got != c.want {
			t.Errorf("%s: %s, want %s", reason, got, c.want)
		}
	}
}
