package write

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestETagsTellOfWhatUsersWrite(t *testing.T) {
	of := func(text string) string {
		obj := bucketOf(t, text)
		n, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "metadata", "generation")
		obj.SetGeneration(int64(n.(float64)))
		return ETag(obj)
	}
	base := of(
		`{metadata: {uid: u, generation: 3, labels: {a: b}, annotations: {c: d}}, spec: {}, status: {ready: false}}`)
	for name, c := range map[string]struct {
		object  string
		same    bool
		another bool // object
	}{
		"the status": {`{metadata: {uid: u, generation: 3, labels: {a: b}, annotations: {c: d}}, spec: {}, status: {ready: true}}`, true, false},
		"what machines annotate": {
			`{metadata: {uid: u, generation: 3, labels: {a: b}, annotations: {c: d, portico.dev/requested-by: x, kubectl.kubernetes.io/last-applied-configuration: old}}}`, true, false,
		},
		"the spec":                 {`{metadata: {uid: u, generation: 4, labels: {a: b}, annotations: {c: d}}}`, false, false},
		"a label":                  {`{metadata: {uid: u, generation: 3, labels: {a: c}, annotations: {c: d}}}`, false, false},
		"an annotation more":       {`{metadata: {uid: u, generation: 3, labels: {a: b}, annotations: {c: d, portico.dev/paused: "true"}}}`, false, false},
		"a label as an annotation": {`{metadata: {uid: u, generation: 3, annotations: {a: b, c: d}}}`, false, false},
		"a namesake":               {`{metadata: {uid: v, generation: 3, labels: {a: b}, annotations: {c: d}}}`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := of(c.object)
			if (got == base) != c.same || SameObject(got, base) == c.another {
				t.Errorf("%s and %s", got, base)
			}
		})
	}
	if tag := ETag(&unstructured.Unstructured{Object: map[string]any{}}); strings.Count(tag, `"`) != 2 ||
		!strings.HasSuffix(tag, `"`) {
		t.Errorf("not an entity tag: %s", tag)
	}
}

// Compressing proxies change ETags: the changed ETag still matches the version.
func TestETagsComeBackThroughProxies(t *testing.T) {
	obj := bucketOf(t, `{metadata: {uid: u, generation: 3}, spec: {}}`)
	tag := ETag(obj)
	bare := strings.Trim(tag, `"`)
	for _, sent := range []string{
		tag, "W/" + tag, bare, `W/"` + bare + `-gzip"`, `"` + bare + `--gzip"`, `"` + bare + `;br"`, `"another", W/` +
			tag,
	} {
		for _, specOnly := range []bool{false, true} {
			if !(Seen{ETag: sent, SpecOnly: specOnly}).isVersion(obj) {
				t.Errorf("%s is not the version %s", sent, tag)
			}
		}
	}
	for _, sent := range []string{`"x"`, `W/"x"`, "W/", `"` + bare + `-x"`, bare[:len(bare)-1]} {
		if (Seen{ETag: sent}).isVersion(obj) {
			t.Errorf("%s is taken for the version %s", sent, tag)
		}
	}
}
