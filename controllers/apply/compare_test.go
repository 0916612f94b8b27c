package apply

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// fieldsOf parses YAML; invalid YAML fails the test.
func fieldsOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	fields, err := toJSON(out)
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestComparison(t *testing.T) {
	for name, row := range map[string]struct{ want, have, diffs string }{
		"equal":                                  {"spec: {replicas: 2}", "spec: {replicas: 2}", ""},
		"what others declare beside it is left":  {"spec: {replicas: 2}", "spec: {replicas: 2, paused: true}", ""},
		"a number that may be told":              {"spec: {replicas: 2}", "spec: {replicas: 7}", "spec.replicas 7 → 2"},
		"an image is told":                       {"spec: {image: a}", "spec: {image: b}", "spec.image b → a"},
		"what is not there has no value to tell": {"spec: {image: a}", "spec: {}", "spec.image"},
		"any other value is not told":            {"spec: {command: [run, secret]}", "spec: {command: [run, hunter2]}", "spec.command[1]"},
		"a whole part is missing":                {"spec: {replicas: 2}", "{}", "spec.replicas"},
		"a field beside metadata and spec":       {"automountServiceAccountToken: false", "automountServiceAccountToken: true", "automountServiceAccountToken"},
		"apiVersion and kind are not compared":   {"{apiVersion: v1, kind: Service}", "{}", ""},
		"quantities written alike":               {"spec: {limits: {memory: 256Mi}}", "spec: {limits: {memory: 256Mi}}", ""},
		"a quantity that differs":                {"spec: {limits: {memory: 256Mi}}", "spec: {limits: {memory: 1Gi}}", "spec.limits.memory"},
		"an empty value is not stored":           {"env: [{name: A, value: ''}]", "env: [{name: A}]", ""},
		"an empty value that was filled":         {"env: [{name: A, value: ''}]", "env: [{name: A, value: hunter2}]", "env[A].value"},
		"the value of a variable is never told":  {"env: [{name: A, value: hunter2}]", "env: [{name: A, value: hunter3}]", "env[A].value"},
		"nor is its source": {
			"env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]",
			"env: [{name: A, value: hunter2}]",
			"env[A].valueFrom.secretKeyRef.key, env[A].valueFrom.secretKeyRef.name",
		},
		"elements that others added":        {"containers: [{name: app, image: a}]", "containers: [{name: proxy, image: p}, {name: app, image: a}]", ""},
		"an element that is missing":        {"volumes: [{name: tmp}]", "volumes: [{name: other}]", "volumes[tmp]"},
		"an atomic list that is longer":     {"args: [a]", "args: [a, b]", "args"},
		"an atomic list in another order":   {"args: [a, b]", "args: [b, a]", "args[0], args[1]"},
		"a port without a protocol is TCP":  {"ports: [{containerPort: 80, protocol: TCP}]", "ports: [{containerPort: 80}]", "ports[80].protocol"},
		"the same port of another protocol": {"ports: [{containerPort: 80, protocol: TCP}]", "ports: [{containerPort: 80, protocol: UDP}]", "ports[80]"},
		"a port that others added":          {"ports: [{port: 80, protocol: TCP}]", "ports: [{port: 80, protocol: UDP}, {port: 80, protocol: TCP, nodePort: 3}]", ""},
		"a number is not its name":          {"spec: {targetPort: 80}", "spec: {targetPort: '80'}", "spec.targetPort 80 → 80"},
		"a percentage":                      {"spec: {maxUnavailable: 25%}", "spec: {maxUnavailable: 1}", "spec.maxUnavailable 1 → 25%"},
		"an empty object counts as there":   {"spec: {emptyDir: {}}", "spec: {}", ""},
		"spread by zone and by host are two": {
			"topologySpreadConstraints: [{topologyKey: z, whenUnsatisfiable: S, maxSkew: 1}]",
			"topologySpreadConstraints: [{topologyKey: h, whenUnsatisfiable: S, maxSkew: 1}]",
			"topologySpreadConstraints[z,S]",
		},
		"one more label in a selector":           {"spec: {selector: {app: shop}}", "spec: {selector: {app: shop, tier: web}}", "spec.selector.tier"},
		"one more expression in a selector":      {"selector: {matchLabels: {app: shop}}", "selector: {matchLabels: {app: shop}, matchExpressions: [{key: a}]}", "selector.matchExpressions"},
		"one more label to be matched":           {"labelSelector: {matchLabels: {app: shop}}", "labelSelector: {matchLabels: {app: shop, tier: web}}", "labelSelector.matchLabels.tier"},
		"a key that need not be there any more":  {"secretKeyRef: {name: s, key: k}", "secretKeyRef: {name: s, key: k, optional: true}", "secretKeyRef.optional"},
		"a map in place of a list":               {"env: [{name: A}]", "env: {name: A}", "env[A]"},
		"a list in place of a map":               {"spec: {a: {b: 1}}", "spec: {a: [1]}", "spec.a.b"},
		"a keyed list that holds something else": {"env: [{name: A}]", "env: [A, 7, null]", "env[A]"},
	} {
		t.Run(name, func(t *testing.T) {
			var c comparison
			want, have := fieldsOf(t, row.want), fieldsOf(t, row.have)
			d := declaration{object: &unstructured.Unstructured{Object: want}}
			diffs, err := d.diff(&unstructured.Unstructured{Object: have})
			if got := strings.Join(diffs, ", "); err != nil || got != row.diffs {
				t.Errorf("diffs %q, want %q; %v", got, row.diffs, err)
			}
			if c.compare("", "", want, want); len(c.diffs) > 0 {
				t.Errorf("it differs from itself: %q", c.diffs)
			}
		})
	}
}

func TestWhatIsNotDeclaredAnyMoreIsSeenByTheHash(t *testing.T) {
	d := declaration{hash: "new", object: &unstructured.Unstructured{Object: fieldsOf(t, "spec: {a: 1}")}}
	for hash, want := range map[string]int{"new": 0, "old": 1, "": 1} {
		live := &unstructured.Unstructured{Object: fieldsOf(t, "spec: {a: 1, b: 2}")}
		live.SetAnnotations(map[string]string{AnnotationApplied: hash})
		if diffs, err := d.diff(live); err != nil || len(diffs) != want {
			t.Errorf("hash %q: diffs %q, %v", hash, diffs, err)
		}
	}
}

// values generates any JSON value, including names that comparison treats specially.
func values(deep int) *rapid.Generator[any] {
	scalar := rapid.OneOf(
		rapid.Map(rapid.SampledFrom([]string{"", "a", "TCP", "hunter2"}), func(v string) any { return v }),
		rapid.Map(rapid.Int64Range(0, 3), func(v int64) any { return v }),
		rapid.Map(rapid.Bool(), func(v bool) any { return v }),
		rapid.Just[any](nil),
	)
	if deep == 0 {
		return scalar
	}
	names := rapid.SampledFrom(
		[]string{"env", "ports", "name", "value", "containers", "protocol", "port", "image", "x"})
	return rapid.OneOf(
		scalar,
		rapid.Map(rapid.MapOfN(names, values(deep-1), 0, 4), func(v map[string]any) any { return v }),
		rapid.Map(rapid.SliceOfN(values(deep-1), 0, 3), func(v []any) any { return v }),
	)
}

func TestAnythingMayBeCompared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var with, self comparison
		want, have := values(4).Draw(t, "want"), values(4).Draw(t, "have")
		with.compare("spec", "spec", want, have)
		for _, diff := range with.diffs {
			if !strings.HasPrefix(diff, "spec") {
				t.Fatalf("no path: %q", diff)
			}
		}
		self.compare("spec", "spec", distinct(want), distinct(want))
		if len(self.diffs) > 0 {
			t.Fatalf("%v differs from itself: %q", distinct(want), self.diffs)
		}
	})
}

// distinct removes elements of keyed lists without a key or with a duplicate one: the API server rejects both.
func distinct(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, below := range v {
			out[name] = distinct(below)
			if list, ok := out[name].([]any); ok && len(keyed[name]) > 0 {
				var seen []string
				out[name] = slices.DeleteFunc(list, func(one any) bool {
					id := identity(one, keyed[name])
					twice := id == "" || slices.Contains(seen, id)
					seen = append(seen, id)
					return twice
				})
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = distinct(v[i])
		}
		return out
	}
	return v
}

func FuzzComparison(f *testing.F) {
	f.Add(`{"spec":{"ports":[{"port":80}]}}`, `{"spec":{"ports":[7,null,{"port":"80"}]}}`)
	f.Add(`{"env":[{"name":"A","value":""}]}`, `{"env":{"name":"A"}}`)
	f.Add(`{"ports":[{},{}]}`, `{"ports":[[]]}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		var want, have map[string]any
		if yaml.Unmarshal([]byte(a), &want) != nil || yaml.Unmarshal([]byte(b), &have) != nil {
			t.Skip()
		}
		var c comparison
		c.compare("spec", "spec", want, have)
		for _, diff := range c.diffs {
			if !strings.HasPrefix(diff, "spec") {
				t.Errorf("no path: %q", diff)
			}
		}
	})
}
