package catalog

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

// storedText draws a string as other clients may have stored it: any spelling, empty, with any line ends.
func storedText(t *rapid.T, name string) string {
	return rapid.StringMatching("[ -~é\t\r\n]{0,12}").Draw(t, name)
}

// stored draws a value as the API server can store it, nil for absent: not only what a form would produce.
func stored(t *rapid.T, f Field) any {
	if rapid.IntRange(0, 2).Draw(t, "absent "+f.Path) == 0 {
		return nil
	}
	switch f.Type {
	case Integer:
		return int64(rapid.Int32().Draw(t, f.Path))
	case Number:
		return rapid.SampledFrom([]any{int64(1), 0.5, 1e30}).Draw(t, f.Path)
	case Boolean:
		return rapid.Bool().Draw(t, f.Path)
	case Object:
		return storedObject(t, f.Fields)
	case Array:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, f.Path) {
			if v := stored(t, *f.Items); v != nil {
				out = append(out, v)
			}
		}
		return out
	case Map:
		out := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, f.Path) {
			out[rapid.StringMatching(`[a-z:/. ]{0,8}`).Draw(t, "key")] = storedText(t, "value")
		}
		return out
	default:
		return storedScalar(t, f)
	}
}

func storedScalar(t *rapid.T, f Field) any {
	if f.Format == quantity && rapid.Bool().Draw(t, "a number") {
		return int64(rapid.IntRange(1, 9).Draw(t, f.Path))
	}
	if len(f.Options) > 0 && rapid.Bool().Draw(t, "offered") {
		return rapid.SampledFrom(f.Options).Draw(t, f.Path)
	}
	return storedText(t, f.Path)
}

func storedObject(t *rapid.T, fields []Field) map[string]any {
	out := map[string]any{}
	for _, f := range fields {
		if v := stored(t, f); v != nil {
			out[f.Name] = v
		}
	}
	return out
}

func storedOf(t *rapid.T, k Kind) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": storedObject(t, k.Fields())}}
	obj.SetGroupVersionKind(k.GVK())
	obj.SetName("x")
	return obj
}

// TestWhatNobodyTouchesStays: for every kind and any object.
func TestWhatNobodyTouchesStays(t *testing.T) {
	for _, k := range load(t) {
		t.Run(k.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				obj := storedOf(t, k)
				form := k.Encode(obj)
				got, errs := k.Decode(form, obj)
				if len(errs) > 0 || !reflect.DeepEqual(got.Object, obj.Object) {
					t.Fatalf("%v\ngot  %v\nwant %v\nform %v", errs, got.Object, obj.Object, form)
				}
			})
		})
	}
}

// TestOneChangeChangesOneField: everything else stays unchanged.
func TestOneChangeChangesOneField(t *testing.T) {
	for _, k := range load(t) {
		t.Run(k.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				obj := storedOf(t, k)
				form := k.Encode(obj)
				name, entered, value := anyChange(t, k, form)
				if name == "" {
					t.Skip("nothing that can be changed")
				}
				form.Set(name, entered)
				got, errs := k.Decode(form, obj)
				want := obj.DeepCopy()
				steps, _ := parseName(name)
				put(want.Object, steps, value)
				if len(errs) > 0 || !reflect.DeepEqual(got.Object, want.Object) {
					t.Fatalf("%s=%s: %v\ngot  %v\nwant %v", name, entered, errs, got.Object, want.Object)
				}
			})
		})
	}
}

// anyChange draws an input of a single value, and a new value.
func anyChange(t *rapid.T, k Kind, form url.Values) (name, entered string, value any) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(form)) {
		if f, ok := k.field(pattern(name)); ok && f.Scalar() {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", "", nil
	}
	name = rapid.SampledFrom(names).Draw(t, "changed")
	f, _ := k.field(pattern(name))
	switch f.Type {
	case Integer:
		return name, "77", int64(77)
	case Boolean:
		is := form.Get(name) == "true"
		return name, map[bool]string{true: "false", false: "true"}[is], !is
	default:
		return name, "changed", "changed"
	}
}

// put sets the value at a path; all its maps and rows must exist.
func put(at any, steps []string, value any) {
	if i, ok := rowIndex(steps[0]); ok {
		if list := at.([]any); len(steps) > 1 {
			put(list[i], steps[1:], value)
		} else {
			list[i] = value
		}
		return
	}
	if m := at.(map[string]any); len(steps) > 1 {
		put(m[steps[0]], steps[1:], value)
	} else {
		m[steps[0]] = value
	}
}

func TestBoxesKeepTheirOrder(t *testing.T) {
	k := bucketKind(t)
	base := mustYAML(t, k, "spec: {corsRules: [{allowedMethods: [PUT, GET, PATCH]}]}")
	for posted, want := range map[string][]any{
		"GET PUT PATCH":        {"PUT", "GET", "PATCH"},
		"GET":                  {"GET"},
		"GET DELETE PUT PATCH": {"PUT", "GET", "PATCH", "DELETE"},
	} {
		form := url.Values{"spec.corsRules[0].allowedMethods": append([]string{""}, strings.Fields(posted)...)}
		got, errs := k.Decode(form, base)
		rules, _, _ := unstructured.NestedSlice(got.Object, "spec", "corsRules")
		if len(errs) > 0 || !reflect.DeepEqual(rules[0].(map[string]any)["allowedMethods"], any(want)) {
			t.Errorf("%s: %v, %v", posted, rules, errs)
		}
	}
}

// TestValuesInRowsAreExact: a line of a text field would lose line breaks and surrounding space.
func TestValuesInRowsAreExact(t *testing.T) {
	k := kindNamed(t, "WebApp")
	form := url.Values{
		"spec.args": {""}, "spec.args[0]": {"-c"}, "spec.args[1]": {" echo a\r\necho b\r\n"},
		"spec.args[2]": {""}, "spec.args[3]": {"x"}, "spec.args[3]._remove": {"on"},
	}
	got, errs := k.Decode(form, nil)
	args, _, _ := unstructured.NestedStringSlice(got.Object, "spec", "args")
	if len(errs) > 0 || !slices.Equal(args, []string{"-c", " echo a\necho b\n"}) {
		t.Errorf("%q, %v", args, errs)
	}
	got, _ = k.Decode(form, mustYAML(t, k, `spec: {args: ["", "x", ""]}`))
	if args, _, _ = unstructured.NestedStringSlice(got.Object, "spec", "args"); !slices.Equal(
		args, []string{"-c", " echo a\necho b\n", ""}) {
		t.Errorf("an empty value that was there: %q", args)
	}
}
