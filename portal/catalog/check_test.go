package catalog

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func app(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	return parsed(t, "{metadata: {name: shop}, spec: "+spec+"}")
}

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(
		[]byte(`{"apiVersion":"portico.dev/v1alpha1","kind":"WebApp",` + string(raw[1:]))); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestCheckFindsTheFirstFaults at their fields, with the API server's messages.
func TestCheckFindsTheFirstFaults(t *testing.T) {
	k, _ := load(t).ByName("WebApp")
	good := `image: ghcr.io/shop/web:1`
	for name, c := range map[string]struct {
		spec string
		want []FieldError
	}{
		"nothing":               {`{` + good + `, port: 8080}`, nil},
		"null is as if left":    {`{` + good + `, port: null, env: null}`, nil},
		"a field that is not":   {`{` + good + `, colour: red}`, []FieldError{{Field: "spec.colour", Message: noField}}},
		"required":              {`{` + good + `, env: [{}]}`, []FieldError{{Field: "spec.env[0].name", Message: Required}}},
		"a text, not a number":  {`{` + good + `, port: "8080"}`, []FieldError{{Field: "spec.port", Message: "must be a whole number"}}},
		"a list, not an object": {`{` + good + `, resources: [1]}`, []FieldError{{Field: "spec.resources", Message: "must be an object with fields"}}},
		"too large a number":    {`{` + good + `, port: 70000}`, []FieldError{{Field: "spec.port"}}},
		"a choice":              {`{` + good + `, env: [{name: A, value: b}], service: 3}`, []FieldError{{Field: "spec.service", Message: noField}}},
		"a quantity":            {`{` + good + `, resources: {requests: {cpu: 1, memory: 1Gi}}}`, nil},
		"no quantity":           {`{` + good + `, resources: {requests: {cpu: lots}}}`, []FieldError{{Field: "spec.resources.requests.cpu"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := FromStatus(k, k.Check(app(t, c.spec), nil))
			if len(c.want) == 0 && len(got) == 0 {
				return
			}
			if len(got) != len(c.want)+1 || got[len(got)-1].Message != Unchecked {
				t.Fatalf("%+v", got)
			}
			for i, want := range c.want {
				if want.Message == "" { // not Portico's own words
					want.Message = got[i].Message
				}
				if got[i].Field != want.Field || got[i].Message != want.Message {
					t.Errorf("error = %+v, want %+v", got[i], want)
				}
				if strings.Contains(got[i].Message, root+" in body") {
					t.Errorf("Message = %q, want no %q in it", got[i].Message, root+" in body")
				}
			}
		})
	}
}

// TestTheFirstFaultsEndACheck: the number of errors is bounded for an object of any size.
func TestTheFirstFaultsEndACheck(t *testing.T) {
	k, _ := load(t).ByName("WebApp")
	many := func(one string, n int) string { return strings.Repeat(one+",", n-1) + one }
	fields, labels := make([]string, 5000), make([]string, 5000)
	for i := range fields {
		fields[i], labels[i] = fmt.Sprintf("f%d: {}", i), fmt.Sprintf(`"!%d": x`, i)
	}
	for name, c := range map[string]struct {
		text   string
		faults int
	}{
		"items without a name":     {`{metadata: {name: shop}, spec: {image: a, env: [` + many("{}", 90) + `]}}`, maxFaults},
		"too many items":           {`{metadata: {name: shop}, spec: {image: a, env: [` + many("{}", 50_000) + `]}}`, 1},
		"unknown fields":           {`{metadata: {name: shop}, spec: {image: a, ` + strings.Join(fields, ", ") + `}}`, maxFaults},
		"too many labels":          {`{metadata: {name: shop, labels: {` + strings.Join(labels, ", ") + `}}, spec: {image: a}}`, 1},
		"too many annotations":     {`{metadata: {name: shop, annotations: {` + strings.Join(labels, ", ") + `}}, spec: {image: a}}`, 1},
		"labels":                   {`{metadata: {name: shop, labels: {` + strings.Join(labels[:900], ", ") + `}}, spec: {image: a}}`, maxFaults},
		"annotations":              {`{metadata: {name: shop, annotations: {` + strings.Join(labels[:900], ", ") + `}}, spec: {image: a}}`, maxFaults},
		"annotations of 256 KiB":   {`{metadata: {name: shop, annotations: {a: ` + strings.Repeat("x", 300_000) + `}}, spec: {image: a}}`, 1},
		"a long text":              {`{metadata: {name: shop}, spec: {image: ` + strings.Repeat("x", 300_000) + `}}`, 1},
		"lists in a field of text": {`{metadata: {name: shop}, spec: {image: [` + many("[]", 50_000) + `]}}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			err := k.Check(parsed(t, c.text), nil)
			if got := FromStatus(k, err); len(got) != c.faults+1 {
				t.Errorf("%d faults, want %d: %.300v", len(got)-1, c.faults, got)
			}
			if err != nil && len(err.Error()) > 20_000 {
				t.Errorf("the error has %d characters", len(err.Error()))
			}
		})
	}
}

// TestWhatAnEditLeavesAlonePasses, as at the API server: an object can be older than the schema.
func TestWhatAnEditLeavesAlonePasses(t *testing.T) {
	k, _ := load(t).ByName("WebApp")
	old := parsed(
		t,
		`{metadata: {name: shop, labels: {"!": x}}, spec: {image: a, port: 70000, gone: 1, env: [{name: A, value: 1}, {name: B, value: b}]}}`)
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"another image":          {`{metadata: {name: shop, labels: {"!": x}}, spec: {image: b, port: 70000, gone: 1, env: [{name: A, value: 1}, {name: B, value: b}]}}`, true},
		"an item in front":       {`{metadata: {name: shop, labels: {"!": x}}, spec: {image: b, port: 70000, gone: 1, env: [{name: C, value: c}, {name: A, value: 1}]}}`, true},
		"another bad port":       {`{metadata: {name: shop, labels: {"!": x}}, spec: {image: b, port: 70001, gone: 1}}`, false},
		"another bad item":       {`{metadata: {name: shop}, spec: {image: b, env: [{name: A, value: 2}]}}`, false},
		"the same bad label":     {`{metadata: {name: shop, labels: {"!": x, b: c}}, spec: {image: b}}`, true},
		"another bad label":      {`{metadata: {name: shop, labels: {"!!": x}}, spec: {image: b}}`, false},
		"what is bad, put right": {`{metadata: {name: shop}, spec: {image: b, port: 80}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			if err := k.Check(parsed(t, c.text), old); (err == nil) != c.ok {
				t.Errorf("%v", err)
			}
		})
	}
}
