package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// CRDs returns which CustomResourceDefinitions of this version the cluster lacks, or has without a field that this
// version knows: the API server would drop such a field from writes. Fields that this version does not know are
// ignored: a newer version may have added them.
func (c *Cluster) CRDs(ctx context.Context) ([]Problem, error) {
	wanted, err := c.names.crds()
	if err != nil {
		return nil, err
	}
	return c.each(ctx, wanted, lacks)
}

// lacks returns what a CRD does not serve.
func lacks(wanted, served *object) []string {
	var want, have apiextensionsv1.CustomResourceDefinition
	for o, into := range map[*object]*apiextensionsv1.CustomResourceDefinition{wanted: &want, served: &have} {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into); err != nil {
			return []string{"cannot be read: " + err.Error()}
		}
	}
	var all []string
	if !established(&have) {
		all = append(all, "is not served yet")
	}
	if want.Spec.Scope != have.Spec.Scope {
		all = append(all, fmt.Sprintf("is %s instead of %s", have.Spec.Scope, want.Spec.Scope))
	}
	for i := range want.Spec.Versions {
		all = append(all, lacksVersion(&want.Spec.Versions[i], have.Spec.Versions)...)
	}
	return all
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
	})
}

func lacksVersion(want *apiextensionsv1.CustomResourceDefinitionVersion,
	served []apiextensionsv1.CustomResourceDefinitionVersion,
) []string {
	at := slices.IndexFunc(served, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == want.Name && v.Served
	})
	if at < 0 {
		return []string{"does not serve " + want.Name}
	}
	have := &served[at]
	if have.Schema == nil || have.Schema.OpenAPIV3Schema == nil {
		return []string{"has no schema of " + want.Name}
	}
	all := lacksFields("", want.Schema.OpenAPIV3Schema, have.Schema.OpenAPIV3Schema)
	if want.Subresources != nil &&
		(have.Subresources == nil || want.Subresources.Status != nil && have.Subresources.Status == nil ||
			want.Subresources.Scale != nil && have.Subresources.Scale == nil) {
		all = append(all, "lacks a subresource")
	}
	return all
}

// lacksFields returns which fields below path are missing in the served schema, or have another type there.
func lacksFields(path string, want, have *apiextensionsv1.JSONSchemaProps) []string {
	if want.Type != have.Type || want.XIntOrString != have.XIntOrString {
		return []string{fmt.Sprintf("has %s as %s instead of %s", path, have.Type, want.Type)}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(want.Properties)) {
		field, ok := have.Properties[name]
		if !ok {
			all = append(all, "lacks "+path+"."+name)
			continue
		}
		mine := want.Properties[name]
		all = append(all, lacksFields(path+"."+name, &mine, &field)...)
	}
	return append(all, lacksElements(path, want, have)...)
}

// lacksElements compares the elements of lists and maps, as lacksFields does fields.
func lacksElements(path string, want, have *apiextensionsv1.JSONSchemaProps) []string {
	var all []string
	if want.Items != nil && want.Items.Schema != nil {
		if have.Items == nil || have.Items.Schema == nil {
			return []string{"lacks the elements of " + path}
		}
		all = lacksFields(path+"[]", want.Items.Schema, have.Items.Schema)
	}
	if want.AdditionalProperties != nil && want.AdditionalProperties.Schema != nil {
		if have.AdditionalProperties == nil || have.AdditionalProperties.Schema == nil {
			return append(all, "lacks the values of "+path)
		}
		all = append(all, lacksFields(path+"{}", want.AdditionalProperties.Schema, have.AdditionalProperties.Schema)...)
	}
	return all
}
