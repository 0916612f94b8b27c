package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// Published is a kind as other programs read it. New makes the same kind from its definition and its entry.
type Published struct {
	Revision   string                          // changes with the entry and with the definition
	Entry      v1alpha1.CatalogEntry           //
	Definition apiext.CustomResourceDefinition // with the version in use only
}

// origin is what a kind was made from. It is read-only.
type origin struct {
	revision   string
	entry      *v1alpha1.CatalogEntrySpec
	definition *apiext.CustomResourceDefinition // without the content of the schema, which a source has
}

// newOrigin returns the origin of a kind. schema is its schema as JSON.
func newOrigin(crd *apiext.CustomResourceDefinition, entry *v1alpha1.CatalogEntrySpec,
	v *apiext.CustomResourceDefinitionVersion, schema []byte,
) (*origin, error) {
	content := &apiext.CustomResourceValidation{OpenAPIV3Schema: outline(v.Schema.OpenAPIV3Schema)}
	slim := &apiext.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiext.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: crd.Name},
		Spec: apiext.CustomResourceDefinitionSpec{
			Group: crd.Spec.Group, Names: crd.Spec.Names, Scope: crd.Spec.Scope,
			Versions: []apiext.CustomResourceDefinitionVersion{{
				Name: v.Name, Served: v.Served, Storage: v.Storage,
				AdditionalPrinterColumns: v.AdditionalPrinterColumns, Schema: content,
			}},
		},
	}
	o := &origin{entry: entry.DeepCopy(), definition: slim}
	text, err := json.Marshal([]any{entry, slim.Spec})
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	_, _ = sum.Write(text) // a hash takes everything
	_, _ = sum.Write(schema)
	o.revision = hex.EncodeToString(sum.Sum(nil)[:8])
	return o, nil
}

// outline returns a schema without its content.
func outline(root *apiext.JSONSchemaProps) *apiext.JSONSchemaProps {
	out := &apiext.JSONSchemaProps{Type: "object", Description: root.Description}
	for name := range root.Properties {
		if out.Properties == nil {
			out.Properties = map[string]apiext.JSONSchemaProps{}
		}
		out.Properties[name] = apiext.JSONSchemaProps{Type: "object"}
	}
	return out
}

// Published returns the kind for other programs, without the content of its schema. A kind that New makes from it has
// columns and states, which is enough for lists, but no fields. Callers must not change the result.
func (k Kind) Published() Published {
	entry := v1alpha1.CatalogEntry{
		TypeMeta: metav1.TypeMeta{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindCatalogEntry,
		},
		ObjectMeta: metav1.ObjectMeta{Name: k.origin.definition.Name}, Spec: *k.origin.entry,
	}
	return Published{Revision: k.origin.revision, Entry: entry, Definition: *k.origin.definition}
}

// PublishedWhole returns what Published does, with the whole schema.
func (k Kind) PublishedWhole() (Published, error) {
	p := k.Published()
	versions := []apiext.CustomResourceDefinitionVersion{p.Definition.Spec.Versions[0]}
	root := &apiext.JSONSchemaProps{}
	schema, err := k.Schema()
	if err == nil {
		err = json.Unmarshal(schema, root)
	}
	if err != nil {
		return p, err
	}
	versions[0].Schema = &apiext.CustomResourceValidation{OpenAPIV3Schema: root}
	p.Definition.Spec.Versions = versions
	return p, nil
}
