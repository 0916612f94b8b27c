package catalog

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

func mustYAML(tb testing.TB, k Kind, text string) *unstructured.Unstructured {
	tb.Helper()
	obj, err := k.ParseYAML([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return obj
}

func TestDecode(t *testing.T) {
	k := bucketKind(t)
	for _, c := range []struct {
		reason string
		form   string
		base   string // spec, as YAML
		want   string // spec, as YAML
	}{
		{
			"scalars by type",
			"spec.providerRef.name=p&spec.encryption.algorithm=aws:kms&spec.encryption.bucketKeyEnabled=true&spec.forceDestroy=false", "",
			"{providerRef: {name: p}, encryption: {algorithm: 'aws:kms', bucketKeyEnabled: true}, forceDestroy: false}",
		},
		{"empty means absent", "spec.bucketName=&spec.versioning=&spec.encryption.algorithm=&spec.encryption.bucketKeyEnabled=", "", "{}"},
		{"a check box after its hidden input", "spec.forceDestroy=&spec.forceDestroy=on", "", "{forceDestroy: true}"},
		{
			"rows in their order, gaps closed, empty ones gone",
			"spec.lifecycleRules[10].id=c&spec.lifecycleRules[2].expirationDays=30&spec.lifecycleRules[1].prefix=&spec.lifecycleRules[2].id=b", "",
			"{lifecycleRules: [{id: b, expirationDays: 30}, {id: c}]}",
		},
		{
			"rows in rows",
			"spec.lifecycleRules[0].transitions[0].days=30&spec.lifecycleRules[0].transitions[0].storageClass=GLACIER",
			"",
			"{lifecycleRules: [{transitions: [{days: 30, storageClass: GLACIER}]}]}",
		},
		{
			"a list of values: one a line, or repeated",
			"spec.corsRules[0].allowedOrigins=https://a%0D%0A%0D%0A https://b &spec.corsRules[0].allowedMethods=GET&spec.corsRules[0].allowedMethods=PUT", "",
			"{corsRules: [{allowedOrigins: ['https://a', 'https://b'], allowedMethods: [GET, PUT]}]}",
		},
		{
			"a map",
			"spec.tags[0].key=team&spec.tags[0].value=payments&spec.tags[1].key=&spec.tags[1].value=&spec.tags[2].key=empty&spec.tags[2].value=", "",
			"{tags: {team: payments, empty: ''}}",
		},
		{
			"what the form does not show stays", "spec.bucketName=new",
			"{bucketName: old, versioning: Enabled, tags: {a: b}, encryption: {algorithm: AES256}}",
			"{bucketName: new, versioning: Enabled, tags: {a: b}, encryption: {algorithm: AES256}}",
		},
		{
			"what no form can show stays", "spec.encryption.algorithm=AES256",
			"{encryption: {algorithm: x, future: 1}, unheard: {of: [1]}}",
			"{encryption: {algorithm: AES256, future: 1}, unheard: {of: [1]}}",
		},
		{
			"what is emptied goes", "spec.bucketName=&spec.tags=&spec.lifecycleRules=",
			"{bucketName: old, tags: {a: b}, lifecycleRules: [{id: a}], versioning: Enabled}",
			"{versioning: Enabled}",
		},
		{
			"a removed row",
			"spec.lifecycleRules[0].id=a&spec.lifecycleRules[0]._remove=on&spec.lifecycleRules[1].id=b",
			"{lifecycleRules: [{id: a, prefix: x}, {id: b, prefix: y}]}",
			"{lifecycleRules: [{id: b, prefix: y}]}",
		},
		{"empty but present", "spec.publicAccessBlock={}", "", "{publicAccessBlock: {}}"},
		{"names that are no paths", "spec..x=1&spec.tags[x].key=a&spec.tags[99999].key=a&csrf=1&spec.nothing.of.ours=1&status.ready=true", "", "{}"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			form, err := url.ParseQuery(c.form)
			if err != nil {
				t.Fatal(err)
			}
			var base *unstructured.Unstructured
			if c.base != "" {
				base = mustYAML(t, k, "spec: "+c.base)
			}
			got, errs := k.Decode(form, base)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if want := mustYAML(t, k, "spec: "+c.want); !reflect.DeepEqual(got.Object["spec"], want.Object["spec"]) {
				t.Errorf("got  %v\nwant %v", got.Object["spec"], want.Object["spec"])
			}
		})
	}
}

func TestDecodeNamesTheObject(t *testing.T) {
	k := bucketKind(t)
	got, errs := k.Decode(url.Values{"metadata.name": {" logs "}, "metadata.namespace": {"payments"}}, nil)
	if len(errs) > 0 || got.GroupVersionKind() != k.GVK() {
		t.Errorf("kind = %s, %v, want %s", got.GroupVersionKind(), errs, k.GVK())
	}
	if got.GetName() != "logs" || got.GetNamespace() != "payments" {
		t.Errorf("object = %s/%s, want payments/logs", got.GetNamespace(), got.GetName())
	}
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	k := bucketKind(t)
	for form, want := range map[string]FieldError{
		"spec.lifecycleRules[0].expirationDays=soon":       {"spec.lifecycleRules[0].expirationDays", "must be a whole number of days, such as 30 or 2 weeks", "soon"},
		"spec.lifecycleRules[0].expirationDays=1.5":        {"spec.lifecycleRules[0].expirationDays", "must be a whole number of days, such as 30 or 2 weeks", "1.5"},
		"spec.lifecycleRules[0].expirationDays=9999999999": {"spec.lifecycleRules[0].expirationDays", "is too large or too small a number", "9999999999"},
		"spec.forceDestroy=perhaps":                        {"spec.forceDestroy", "must be true or false, or empty for the default", "perhaps"},
		"spec.tags[4].value=lonely":                        {"spec.tags[0].key", "give this value a key, or empty both", ""},
		"spec.tags[0].key=a&spec.tags[1].key=a":            {"spec.tags[1].key", "this key is there twice: keep one", "a"},
	} {
		t.Run(form, func(t *testing.T) {
			values, err := url.ParseQuery(form)
			if err != nil {
				t.Fatal(err)
			}
			if _, errs := k.Decode(values, nil); len(errs) != 1 || errs[0] != want {
				t.Errorf("%+v, want %+v", errs, want)
			}
		})
	}
}

// anyValue draws a value that the field's schema allows, nil for absent.
func anyValue(t *rapid.T, f Field) any {
	if rapid.Bool().Draw(t, "absent "+f.Path) {
		return nil
	}
	switch f.Type {
	case Integer:
		return int64(rapid.Int32().Draw(t, f.Path))
	case Boolean:
		return rapid.Bool().Draw(t, f.Path)
	case Object:
		return anyObject(t, f.Fields)
	case Array:
		out := []any{}
		for range rapid.IntRange(1, 3).Draw(t, f.Path) {
			if f.Items.Type == Object {
				out = append(out, anyObject(t, f.Items.Fields))
			} else {
				out = append(out, rapid.StringMatching(`[!-~]{1,8}`).Draw(t, f.Path))
			}
		}
		return out
	case Map:
		out := map[string]any{}
		for range rapid.IntRange(1, 3).Draw(t, f.Path) {
			out[rapid.StringMatching(`[a-z:/. ]{1,8}`).Draw(t, "key")] = rapid.StringMatching(`[ -~é\n]{0,8}`).Draw(
				t, "value")
		}
		return out
	default:
		if f.Format == quantity { // the API server accepts no other text
			return rapid.StringMatching(`[0-9]{1,4}(\.[0-9])?(m|k|M|Ki|Mi|Gi|e3)?`).Draw(t, f.Path)
		}
		return rapid.StringMatching(`[ -~é\n]{1,12}`).Draw(t, f.Path)
	}
}

func anyObject(t *rapid.T, fields []Field) map[string]any {
	out := map[string]any{}
	for _, f := range fields {
		if v := anyValue(t, f); v != nil {
			out[f.Name] = v
		}
	}
	return out
}

func TestFormsKeepEverything(t *testing.T) {
	for _, k := range load(t) {
		t.Run(k.Name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				obj := &unstructured.Unstructured{Object: map[string]any{"spec": anyObject(t, k.Fields())}}
				obj.SetGroupVersionKind(k.GVK())
				obj.SetName("x")
				form := k.Encode(obj)
				for _, base := range []*unstructured.Unstructured{nil, obj} {
					got, errs := k.Decode(form, base)
					if len(errs) > 0 || !reflect.DeepEqual(got.Object, obj.Object) {
						t.Fatalf("%v\ngot  %v\nwant %v\nform %v", errs, got.Object, obj.Object, form)
					}
				}
			})
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("spec.tags[0].key=a&spec.tags[0].value=b")
	f.Add("spec.lifecycleRules[3].transitions[1].days=1&spec.lifecycleRules=x&spec.lifecycleRules[0]=y")
	f.Add("spec={}&spec.encryption=1&spec.corsRules[0].allowedMethods[0]=GET&metadata.name=%00")
	k := bucketKind(f)
	f.Fuzz(func(t *testing.T, query string) {
		form, err := url.ParseQuery(query)
		if err != nil {
			t.Skip()
		}
		obj, errs := k.Decode(form, nil)
		if len(errs) > 0 {
			return
		}
		again, errs := k.Decode(k.Encode(obj), nil)
		if len(errs) > 0 || !reflect.DeepEqual(obj.Object["spec"], again.Object["spec"]) {
			t.Fatalf("%q: %v\n%v\n%v", query, errs, obj.Object["spec"], again.Object["spec"])
		}
	})
}

func TestYAML(t *testing.T) {
	k := bucketKind(t)
	obj := mustYAML(t, k, strings.Join([]string{
		"metadata:", "  name: logs", "  namespace: payments", "  uid: u", "  resourceVersion: '1'",
		"  managedFields: [{manager: x}]",
		"  annotations: {portico.dev/requested-by: me, kubectl.kubernetes.io/last-applied-configuration: secret, " +
			"mine: yes!}",
		"spec: {lifecycleRules: [{expirationDays: 9007199254740993}]}", "status: {ready: true}",
	}, "\n"))
	b, err := ToYAML(obj)
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: portico.dev/v1alpha1
kind: S3Bucket
metadata:
  annotations:
    mine: yes!
  name: logs
  namespace: payments
spec:
  lifecycleRules:
  - expirationDays: 9007199254740993
`
	if string(b) != want {
		t.Errorf("got\n%s\nwant\n%s", b, want)
	}
}

func TestParseRefuses(t *testing.T) {
	k := bucketKind(t)
	for text, want := range map[string]string{
		"a: [":                         "not valid YAML",
		"a: 1\na: 2":                   "not valid YAML",
		"- 1":                          "not an object",
		"":                             "not an object",
		"spec: {}\n---\nspec: {}":      "several documents",
		"apiVersion: v1\nkind: Secret": "an S3Bucket of portico.dev/v1alpha1 is wanted",
		"metadata: x":                  "metadata must be an object",
		"spec: 1":                      "spec must be an object",
		"metadata: {name: 1}":          "put it in quotes",
		"metadata: {labels: {a: 1}}":   "metadata.labels must be a map of strings",
		"metadata: {labls: {a: b}}":    `metadata has no field "labls"`,
		"specs: {}":                    `has no field "specs"`,
	} {
		if _, err := k.ParseYAML([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"[]": "not a JSON object", "null": "not a JSON object", "{": "not a JSON object",
		`{"spec":{},"spec":{}}`:               "ambiguous",
		`{"kind":"Secret","apiVersion":"v1"}`: "is wanted",
		`{"kind":"Secret"}`: "this is a Secret of portico.dev/v1alpha1; an S3Bucket of " +
			"portico.dev/v1alpha1 is wanted",
		`{"kind":5}`: "this is a 5 of portico.dev/v1alpha1",
	} {
		if _, err := k.ParseJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	obj, err := k.ParseJSON([]byte(`{"spec":{"n":9007199254740993}}`))
	if err != nil {
		t.Fatal(err)
	}
	if n, _, _ := unstructured.NestedInt64(obj.Object, "spec", "n"); n != 9007199254740993 {
		t.Errorf("a large number became %d", n)
	}
}

func TestDense(t *testing.T) {
	form, err := url.ParseQuery(
		"metadata.name=x&do=review&spec.tags[7].key=b&spec.tags[7].value=c&spec.tags[2].key=a&spec.rules[900].in[5]=1&spec.rules[900].in[9]=2" +
			"&spec.rules=&spec.tags[02].key=z&spec.tags[%2B2].key=z&spec.tags[1000].key=z&spec..x=1")
	if err != nil {
		t.Fatal(err)
	}
	got, rows := Dense(form)
	want := url.Values{
		"metadata.name": {"x"}, "do": {"review"}, "spec.tags[0].key": {"a"}, "spec.tags[1].key": {"b"}, "spec.tags[1].value": {"c"},
		"spec.rules": {""}, "spec.rules[0].in[0]": {"1"}, "spec.rules[0].in[1]": {"2"},
	}
	if got.Encode() != want.Encode() {
		t.Errorf("got  %s\nwant %s", got.Encode(), want.Encode())
	}
	if want := map[string]int{"spec.tags": 2, "spec.rules": 1, "spec.rules[0].in": 2}; !reflect.DeepEqual(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
}
