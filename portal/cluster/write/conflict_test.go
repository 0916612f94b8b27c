package write

import (
	"errors"
	"fmt"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/cluster/clustertest"
	"github.com/portico-platform/portico/portal/cluster/failure"
	"github.com/portico-platform/portico/portal/cluster/feed"
	"github.com/portico-platform/portico/portal/cluster/kubetest"
	"github.com/portico-platform/portico/portal/cluster/objects"
)

func bucketOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestAnEditKeepsLabelsAndAnnotationsOfOthers(t *testing.T) {
	ref := catalog.Ref{Kind: catalog.Kind{Plural: "s3buckets"}, Namespace: "n", Name: "b"}
	for _, c := range []struct{ name, began, live, mine, labels, annotations string }{
		{
			"they paused it, I changed the spec", `{spec: {a: "1"}}`,
			`{metadata: {annotations: {portico.dev/paused: "true", portico.dev/requested-by: them}}, spec: {a: "1"}}`,
			`{spec: {a: "2"}}`,
			"", "map[portico.dev/paused:true portico.dev/requested-by:them]",
		},
		{
			"I took a label away, they added one", `{metadata: {labels: {x: "1"}}, spec: {a: "1"}}`,
			`{metadata: {labels: {x: "1", z: "2"}}, spec: {a: "1"}}`, `{spec: {a: "2"}}`, "map[z:2]", "",
		},
		{
			"both gave a label the same value", `{spec: {a: "1"}}`, `{metadata: {labels: {x: "1"}}, spec: {a: "1"}}`,
			`{metadata: {labels: {x: "1"}}, spec: {a: "2"}}`, "map[x:1]", "",
		},
		{
			"both gave a label a value of their own", `{spec: {a: "1"}}`,
			`{metadata: {labels: {x: "1"}}, spec: {a: "1"}}`,
			`{metadata: {labels: {x: "2"}}, spec: {a: "2"}}`, "conflict", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			live := bucketOf(t, c.live)
			got, err := mergeEdit(ref, live, bucketOf(t, c.began), bucketOf(t, c.mine))
			if conflict := (*failure.ChangedError)(nil); errors.As(err, &conflict) {
				if c.labels != "conflict" || conflict.Now.GetLabels()["x"] != live.GetLabels()["x"] {
					t.Errorf("%v with %v", err, conflict.Now)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if l := text(got.GetLabels()); l != c.labels {
				t.Errorf("labels %s, want %s", l, c.labels)
			}
			if a := text(got.GetAnnotations()); a != c.annotations {
				t.Errorf("annotations %s, want %s", a, c.annotations)
			}
			if spec, _, _ := unstructured.NestedString(got.Object, "spec", "a"); spec != "2" {
				t.Errorf("spec %s", spec)
			}
		})
	}
}

func text(m map[string]string) string {
	if len(m) == 0 {
		return ""
	}
	return fmt.Sprint(m)
}

// TestAnEditOfAnOlderVersionTellsOfTheNewOne: the fake server's object is generation 3.
func TestAnEditOfAnOlderVersionTellsOfTheNewOne(t *testing.T) {
	j, a, _ := clustertest.NewRights()
	j.Allow = func(authorizationv1.SubjectAccessReviewSpec) bool { return true }
	w, s := clustertest.NewImpersonator(t, a)
	cl, ref := New(a, objects.New(a, nil, s.Reader(t)), w, nil), clustertest.Bucket(t)
	there := &stands{APIServer: s, uid: "u", generation: 3, version: 1, conflicts: 1}
	s.Answer = there.answers
	began := Began{ETag: tag("u", 2), Object: bucketOf(t, `{spec: {providerRef: {name: a}}}`)}
	mine := bucketOf(
		t, `{metadata: {name: logs, namespace: payments}, spec: {providerRef: {name: a}, region: eu-west-2}}`)
	_, err := cl.Edit(t.Context(), kubetest.Dev, ref.Kind, began, mine, false)
	if conflict := (*failure.ChangedError)(nil); !errors.As(err, &conflict) || conflict.Now.GetGeneration() != 3 {
		t.Errorf("an older version: %v", err)
	}
	began.ETag = tag("u", 3)
	got, err := cl.Edit(t.Context(), kubetest.Dev, ref.Kind, began, mine, true)
	body, writes := there.written(t)
	if err != nil || writes != 2 {
		t.Errorf("this version: %v after %d writes of %v, was %v", err, writes, body, got.Was)
	}
	if got.Was.GetGeneration() != 3 || body["spec"].(map[string]any)["region"] != "eu-west-2" {
		t.Errorf("this version: %v after %d writes of %v, was %v", err, writes, body, got.Was)
	}
}

func TestMergedKeepsWhatUsersDoNotWrite(t *testing.T) {
	live := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name": "x", "uid": "u", "resourceVersion": "7", "finalizers": []any{"f"},
			"annotations": map[string]any{v1alpha1.AnnotationRequestedBy: "me", feed.LastApplied: "{}", "gone": "1"},
			"labels":      map[string]any{"gone": "1"},
		},
		"spec": map[string]any{"a": "1"}, "status": map[string]any{"ready": true},
	}}
	wanted := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{
			"name": "x", "annotations": map[string]any{v1alpha1.AnnotationRequestedBy: "forged", "mine": "1"},
		},
		"spec":   map[string]any{"a": "2"},
		"status": map[string]any{"ready": false},
	}}
	got := withUsersPart(live, wanted)
	a := got.GetAnnotations()
	if a[v1alpha1.AnnotationRequestedBy] != "me" || a[feed.LastApplied] != "{}" {
		t.Errorf("annotations %v", a)
	}
	if a["mine"] != "1" || a["gone"] != "" {
		t.Errorf("annotations %v", a)
	}
	if got.GetResourceVersion() != "7" || len(got.GetFinalizers()) != 1 || len(got.GetLabels()) != 0 {
		t.Errorf("metadata %v", got.Object["metadata"])
	}
	if ready, _, _ := unstructured.NestedBool(got.Object, "status", "ready"); !ready ||
		got.Object["spec"].(map[string]any)["a"] != "2" {
		t.Errorf("%v", got.Object)
	}
}
