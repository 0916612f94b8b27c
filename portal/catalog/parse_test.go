package catalog

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// bomb returns YAML whose aliases expand to a list of 9^depth elements.
func bomb(width, depth int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "a0: &a0 [%s]\n", strings.TrimSuffix(strings.Repeat("x,", width), ","))
	for i := 1; i <= depth; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), width), ","))
	}
	return b.String()
}

// allocated returns how many bytes do allocates, collected ones included.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestShortTextsStaySmall(t *testing.T) {
	k := bucketKind(t)
	const small = 64 << 20 // a node takes about 200 bytes for one byte of text
	for name, text := range map[string]string{
		"aliases of aliases": bomb(9, 9),
		"many aliases of one": "a: &a [" + strings.Repeat("x,", 3000) + "]\nb: [" +
			strings.Repeat("*a,", 27_000) + "]\n",
		"many aliases of a long text": longBomb(),
		"merge keys":                  "a: &a {x: 1}\nspec:\n  <<: *a\n",
		"a merge without alias":       "spec: {<<: {x: 1}}",
		"nested lists":                "spec: " + strings.Repeat("[", 40_000),
		"nested, and closed":          "spec: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"nested by indentation":       nestedByIndentation(400),
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if used := allocated(func() { _, err = k.ParseYAML([]byte(text)) }); used > small {
				t.Errorf("%d bytes of text take %d MB", len(text), used>>20)
			}
			if err == nil || !strings.Contains(err.Error(), "this is not valid YAML") || len(err.Error()) > 200 {
				t.Errorf("%v", err)
			}
		})
	}
}

// longBomb returns 87 kB of YAML that expand to 600 MB, with fewer aliases than libraries reject.
func longBomb() string {
	return "a: &a " + strings.Repeat("x", 43_000) + "\nspec:\n  b: [" + strings.Repeat("*a,", 14_500) + "]\n"
}

func nestedByIndentation(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestRefusalsOfYAMLSayWhatToDo(t *testing.T) {
	k := bucketKind(t)
	for text, want := range map[string]string{
		"metadata: {name: &x y}\nspec: {a: *x}": "line 1: the anchor &x is not taken here: " +
			"remove it",
		"spec: {a: &x y}":     "put text that begins with & in quotes",
		"spec:\n  <<: {x: 1}": "line 2: the merge key << is not taken here: write out",
		"spec: " + strings.Repeat("[", 64) + strings.Repeat("]", 64): "nested more than 64 levels deep",
		"spec: {a: 1, a: 2}": `key "a" already set`,
	} {
		if _, err := k.ParseYAML([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	obj := mustYAML(t, k, "spec: {a: 'R&D *x', b: yes, c: 9007199254740993, d: '<<', e: "+
		strings.Repeat("[", 62)+strings.Repeat("]", 62)+"}")
	spec, _ := obj.Object["spec"].(map[string]any)
	delete(spec, "e")
	want := map[string]any{"a": "R&D *x", "b": true, "c": int64(9007199254740993), "d": "<<"}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestInputsOfYAMLTakeNoAliases(t *testing.T) {
	d := decoder{}
	if v, ok := d.scalar(Field{Type: YAML}, "spec.x", bomb(9, 9)); ok || len(d.errs) != 1 ||
		!strings.Contains(d.errs[0].Message, "must be YAML: line 1: the anchor") {
		t.Errorf("%v, %v", v, d.errs)
	}
}

func TestJSONIsNotNestedDeeply(t *testing.T) {
	k := bucketKind(t)
	deeply := func(n int, open, shut string) []byte {
		return []byte(`{"spec":` + strings.Repeat(open, n) + "1" + strings.Repeat(shut, n) + "}")
	}
	for name, body := range map[string][]byte{
		"lists": deeply(maxDepth, "[", "]"), "objects": deeply(maxDepth, `{"a":`, "}"),
		"a megabyte": []byte(`{"spec":` + strings.Repeat("[", 1<<20)),
	} {
		if _, err := k.ParseJSON(body); err == nil ||
			!strings.Contains(err.Error(), "nested more than 64 levels deep") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, body := range map[string][]byte{
		"as deep as allowed": deeply(maxDepth-1, `{"a":`, "}"),
		"brackets in text":   []byte(`{"spec":{"a":"` + strings.Repeat(`[\"\\`, 100) + `"}}`),
	} {
		if _, err := k.ParseJSON(body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A null value is absent, as for kubectl.
func TestNullIsAbsent(t *testing.T) {
	k := bucketKind(t)
	for _, parse := range []func([]byte) (*unstructured.Unstructured, error){k.ParseJSON, k.ParseYAML} {
		obj, err := parse([]byte(
			`{"metadata":{"name":"a","labels":null,"annotations":{"x":null}},"spec":{"tags":null,"corsRules":[{"allowedHeaders":null}]},"status":null}`))
		if err != nil {
			t.Fatal(err)
		}
		delete(obj.Object, "apiVersion")
		delete(obj.Object, "kind")
		want := map[string]any{
			"metadata": map[string]any{"name": "a", "annotations": map[string]any{}},
			"spec":     map[string]any{"corsRules": []any{map[string]any{}}},
		}
		if !reflect.DeepEqual(obj.Object, want) {
			t.Errorf("%v, want %v", obj.Object, want)
		}
	}
}

func TestKindAndVersionMayBeLeftOut(t *testing.T) {
	k := bucketKind(t)
	for _, text := range []string{
		`{"spec":{}}`, `{"kind":"S3Bucket","spec":{}}`, `{"apiVersion":"portico.dev/v1alpha1","spec":{}}`,
		`{"kind":null,"apiVersion":"","spec":{}}`,
	} {
		obj, err := k.ParseJSON([]byte(text))
		if err != nil || obj.GroupVersionKind() != k.GVK() {
			t.Errorf("%s: %v %v", text, obj, err)
		}
	}
}
