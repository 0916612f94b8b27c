package catalog

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func version(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}

// TestMergeKeepsWhatBothChanged: + marks a conflict.
func TestMergeKeepsWhatBothChanged(t *testing.T) {
	for _, c := range []struct {
		name, base, theirs, mine string
		differ                   []string
		want                     string // of spec and metadata, with mine chosen
	}{
		{"nobody changed anything", `{spec: {a: 1}}`, `{spec: {a: 1}}`, `{spec: {a: 1}}`, nil, `{spec: {a: 1}}`},
		{"they only", `{spec: {a: 1}}`, `{spec: {a: 2}}`, `{spec: {a: 1}}`, []string{"/spec/a"}, `{spec: {a: 2}}`},
		{"I only", `{spec: {a: 1}}`, `{spec: {a: 1}}`, `{spec: {a: 2}}`, []string{"/spec/a"}, `{spec: {a: 2}}`},
		{"both alike", `{spec: {a: 1}}`, `{spec: {a: 2}}`, `{spec: {a: 2}}`, []string{"/spec/a"}, `{spec: {a: 2}}`},
		{"both, otherwise", `{spec: {a: 1}}`, `{spec: {a: 2}}`, `{spec: {a: 3}}`, []string{"+/spec/a"}, `{spec: {a: 3}}`},
		{
			"different fields of one group", `{spec: {g: {a: 1, b: 1}}}`, `{spec: {g: {a: 2, b: 1}}}`,
			`{spec: {g: {a: 1, b: 2}}}`,
			[]string{"/spec/g/a", "/spec/g/b"},
			`{spec: {g: {a: 2, b: 2}}}`,
		},
		{
			"they take a group away that I change", `{spec: {g: {a: 1}}}`, `{spec: {}}`, `{spec: {g: {a: 2}}}`,
			[]string{"+/spec/g/a"},
			`{spec: {g: {a: 2}}}`,
		},
		{"they take a group away", `{spec: {g: {a: 1}, h: 1}}`, `{spec: {h: 1}}`, `{spec: {g: {a: 1}, h: 2}}`, []string{"/spec/g/a", "/spec/h"}, `{spec: {h: 2}}`},
		{"they empty a group", `{spec: {g: {a: 1}}}`, `{spec: {g: {}}}`, `{spec: {g: {a: 1}}}`, []string{"/spec/g/a"}, `{spec: {g: {}}}`},
		{"they add an empty group", `{spec: {}}`, `{spec: {g: {}}}`, `{spec: {}}`, []string{"/spec/g"}, `{spec: {g: {}}}`},
		{
			"a list is one value", `{spec: {l: [1]}}`, `{spec: {l: [1, 2]}}`, `{spec: {l: [1, 3]}}`,
			[]string{"+/spec/l"},
			`{spec: {l: [1, 3]}}`,
		},
		{
			"an annotation of theirs and a label of mine", `{spec: {}}`,
			`{metadata: {annotations: {portico.dev/paused: "true"}}, spec: {}}`,
			`{metadata: {labels: {a~b: c}}, spec: {}}`,
			[]string{"/metadata/labels/a~0b", "/metadata/annotations/portico.dev~1paused"},
			`{metadata: {annotations: {portico.dev/paused: "true"}, labels: {a~b: c}}, spec: {}}`,
		},
		{
			"their last label goes", `{metadata: {labels: {a: b}}, spec: {}}`, `{spec: {}}`,
			`{metadata: {labels: {a: b}}, spec: {x: 1}}`,
			[]string{"/metadata/labels/a", "/spec/x"},
			`{metadata: {}, spec: {x: 1}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			base, theirs, mine := version(t, c.base), version(t, c.theirs), version(t, c.mine)
			var differ []string
			for _, d := range (Kind{}).Differences(base, theirs, mine) {
				mark := ""
				if d.Overlaps() {
					mark = "+"
				}
				differ = append(differ, mark+d.Pointer())
			}
			if !reflect.DeepEqual(differ, c.differ) {
				t.Errorf("they differ at %v, want %v", differ, c.differ)
			}
			got, err := Kind{}.Merge(base, theirs, mine, func(d Difference) any { return d.Mine })
			if err != nil {
				t.Fatal(err)
			}
			want := version(t, c.want).Object
			if fmt.Sprint(got.Object["spec"]) != fmt.Sprint(want["spec"]) {
				t.Errorf("merged to %v, want %v", got.Object["spec"], want["spec"])
			}
			for _, part := range []string{"labels", "annotations"} {
				g, _, _ := unstructured.NestedStringMap(got.Object, "metadata", part)
				w, _, _ := unstructured.NestedStringMap(want, "metadata", part)
				if fmt.Sprint(g) != fmt.Sprint(w) {
					t.Errorf("%s merged to %v, want %v", part, g, w)
				}
			}
		})
	}
}

func TestWhatIsChosenIsTaken(t *testing.T) {
	base, theirs, mine := version(t, `{spec: {a: 1, l: [1]}}`), version(t, `{spec: {l: [2]}}`),
		version(t, `{spec: {a: 3, l: [3]}}`)
	got, err := Kind{}.Merge(base, theirs, mine, func(d Difference) any { return d.Theirs })
	if err != nil || strings.TrimSpace(yamlText(got.Object["spec"])) != "l:\n- 2" {
		t.Errorf("choosing theirs makes %v, %v", got, err)
	}
}
