package manifests

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

func TestOuterLabelsAndAnnotationsReplaceInnerOnes(t *testing.T) {
	files := fstest.MapFS{
		"outer/Kustomization": {Data: []byte("resources: [../inner]\nlabels: [{pairs: {a: outer, b: outer}}]\n" +
			"commonAnnotations: {a: outer, b: outer}")},
		"inner/Kustomization": {Data: []byte("resources: [x.yaml]\nlabels: [{pairs: {a: inner, c: inner}}]\n" +
			"commonAnnotations: {a: inner, c: inner}")},
		"inner/x.yaml": {Data: []byte("kind: A\n---\n# nothing\n---\nkind: B\nmetadata: {labels: {c: own, d: own}, " +
			"annotations: {c: own, d: own}}")},
	}
	all, err := Read(files, "outer")
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	want := map[string]string{"a": "outer", "b": "outer", "c": "inner", "d": "own"}
	if got := all[1].GetLabels(); !reflect.DeepEqual(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
	if got := all[1].GetAnnotations(); !reflect.DeepEqual(got, want) {
		t.Errorf("annotations %v, want %v", got, want)
	}
}

func TestWhatIsNotRead(t *testing.T) {
	for name, c := range map[string]struct{ kustomization, object, want string }{
		"another field":           {"namePrefix: x", "kind: A", `Kustomization: error unmarshaling JSON: while decoding JSON: json: unknown field "namePrefix"`},
		"labels in templates":     {"labels: [{includeTemplates: true}]", "kind: A", `unknown field "includeTemplates"`},
		"a resource that is none": {"resources: [none.yaml]", "kind: A", "none.yaml"},
		"wrong YAML":              {"resources: [x.yaml]", "kind: {", "f/x.yaml: "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(fstest.MapFS{
				"f/Kustomization": {Data: []byte(c.kustomization)}, "f/x.yaml": {Data: []byte(c.object)},
			}, "f")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
