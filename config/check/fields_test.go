package check

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
)

// What a newer version stored must not be dropped by an older one, wherever it is in the spec.
func TestFieldsOfANewerVersionAreNotDropped(t *testing.T) {
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	within := func(s *apiextensionsv1.JSONSchemaProps, names ...string) *apiextensionsv1.JSONSchemaProps {
		for _, name := range names {
			field := s.Properties[name]
			s = &field
		}
		return s
	}
	for name, c := range map[string]struct {
		newer func(spec *apiextensionsv1.JSONSchemaProps)
		spec  string
		says  string
	}{
		"a field that nobody uses": {
			func(s *apiextensionsv1.JSONSchemaProps) { s.Properties["newer"] = text }, `{"versioning":"Enabled"}`, "",
		},
		"a field": {
			func(s *apiextensionsv1.JSONSchemaProps) { s.Properties["newer"] = text }, `{"newer":"x"}`,
			"1 objects have spec.newer",
		},
		"a field within one": {
			func(s *apiextensionsv1.JSONSchemaProps) { within(s, "providerRef").Properties["newer"] = text },
			`{"providerRef":{"name":"a","newer":"x"}}`, "spec.providerRef.newer",
		},
		"a field of elements": {
			func(s *apiextensionsv1.JSONSchemaProps) {
				within(s, "lifecycleRules").Items.Schema.Properties["newer"] = text
			}, `{"lifecycleRules":[{"id":"a"},{"id":"b","newer":"x"}]}`, "spec.lifecycleRules[].newer",
		},
		"a field of elements that have none": {
			func(s *apiextensionsv1.JSONSchemaProps) {
				within(s, "lifecycleRules").Items.Schema.Properties["newer"] = text
			}, `{"lifecycleRules":[{"id":"a"}]}`, "",
		},
		"a field of elements of elements": {
			func(s *apiextensionsv1.JSONSchemaProps) {
				within(within(s, "lifecycleRules").Items.Schema, "transitions").Items.Schema.Properties["newer"] = text
			}, `{"lifecycleRules":[{"transitions":[{"days":1,"newer":"x"}]}]}`,
			"spec.lifecycleRules[].transitions[].newer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Names{}.crds()
			s := inStore{wanted: named(t, all, err, "CustomResourceDefinition", "s3buckets.portico.dev")}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.wanted.Object, &s.want); err != nil {
				t.Fatal(err)
			}
			s.have = *s.want.DeepCopy()
			c.newer(within(s.have.Spec.Versions[0].Schema.OpenAPIV3Schema, "spec"))
			bucket, err := decode([]byte(
				`{"apiVersion":"portico.dev/v1alpha1","kind":"S3Bucket","metadata":{"name":"a","namespace":"b"},"spec":` + c.spec + `}`))
			if err != nil {
				t.Fatal(err)
			}
			objects := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
				map[schema.GroupVersionResource]string{
					{Group: "portico.dev", Version: "v1alpha1", Resource: "s3buckets"}: "S3BucketList",
				}, bucket[0])
			says, err := (&Cluster{objects: objects}).losing(t.Context(), &s)
			if err != nil {
				t.Fatal(err)
			}
			if (says == "") != (c.says == "") || !strings.Contains(says, c.says) {
				t.Errorf("losing() = %q, want %q", says, c.says)
			}
		})
	}
}

func TestValuesOfMapsAreLookedInto(t *testing.T) {
	field := apiextensionsv1.JSONSchemaProps{Type: "string"}
	old := &apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"kept": {XPreserveUnknownFields: new(bool)},
		"map": {AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &apiextensionsv1.JSONSchemaProps{
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": field},
		}}},
	}}
	newer := old.DeepCopy()
	newer.Properties["map"].AdditionalProperties.Schema.Properties["b"] = field
	*old.Properties["kept"].XPreserveUnknownFields = true
	newer.Properties["kept"] = apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"c": field,
	}}
	more := fieldsBeyond(nil, old, newer)
	if len(more) != 1 || pathText(more[0]) != "map[].b" {
		t.Fatalf("%v are beyond", more)
	}
	for value, want := range map[string]bool{
		`{"x":{"a":"1"}}`: false, `{"x":{"a":"1"},"y":{"b":"2"}}`: true,
		`null`: false, `"text"`: false,
	} {
		o, err := decode([]byte(`{"apiVersion":"v1","kind":"X","spec":{"map":` + value + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := using([]object{*o[0]}, more[0]) == 1; got != want {
			t.Errorf("%s: %t", value, got)
		}
	}
}
