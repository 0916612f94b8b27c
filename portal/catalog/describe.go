package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// New returns the catalog of the entries, whose definitions are among crds.
func New(crds []apiext.CustomResourceDefinition, entries []v1alpha1.CatalogEntry) (Catalog, error) {
	defined := map[string]*apiext.CustomResourceDefinition{}
	for i := range crds {
		defined[crds[i].Name] = &crds[i]
	}
	described := make([]Described, 0, len(entries))
	for i := range entries {
		crd, ok := defined[entries[i].Name]
		if !ok {
			return nil, fmt.Errorf("the entry %s has no CRD", entries[i].Name)
		}
		one, err := Describe(crd, &entries[i].Spec)
		if err != nil {
			return nil, fmt.Errorf("reading the CRD %s: %w", crd.Name, err)
		}
		described = append(described, one)
	}
	return Join(described), nil
}

// Described is a kind without its references, which lead to other kinds.
type Described struct {
	kind Kind
	refs []referred
}

// Known reports whether d is a kind: the zero value is not.
func (d Described) Known() bool { return d.kind.Name != "" }

// Join returns the catalog of the kinds.
func Join(all []Described) Catalog {
	kinds := make(Catalog, 0, len(all))
	for _, one := range all {
		kinds = append(kinds, one.kind)
	}
	for i := range kinds {
		kinds.refer(&kinds[i], all[i].refs)
	}
	slices.SortFunc(kinds, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.Plural, b.Plural))
	})
	return kinds
}

// Describe returns the kind of a definition, as the entry describes it.
func Describe(crd *apiext.CustomResourceDefinition, entry *v1alpha1.CatalogEntrySpec) (Described, error) {
	k, d, err := newKind(crd, entry)
	if err != nil {
		return Described{}, err
	}
	return Described{kind: k, refs: references(d.fields, entry.References, k.Own())}, nil
}

// pluralOf returns the Plural of a kind.
func pluralOf(crd *apiext.CustomResourceDefinition) string {
	if crd.Spec.Group == v1alpha1.GroupVersion.Group {
		return crd.Spec.Names.Plural
	}
	return crd.Spec.Names.Plural + "." + crd.Spec.Group
}

func newKind(crd *apiext.CustomResourceDefinition, entry *v1alpha1.CatalogEntrySpec) (Kind, *unpacked, error) {
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiext.CustomResourceDefinitionVersion) bool {
		return v.Name == entry.Definition.Version
	})
	if i < 0 || crd.Spec.Versions[i].Schema == nil || crd.Spec.Versions[i].Schema.OpenAPIV3Schema == nil {
		return Kind{}, nil, fmt.Errorf("no version %s with a schema", entry.Definition.Version)
	}
	v := &crd.Spec.Versions[i]
	root := v.Schema.OpenAPIV3Schema
	from, d, err := newSource(root, fieldNames(entry.Form.First), fieldNames(entry.Form.Order))
	if err != nil {
		return Kind{}, nil, err
	}
	of, err := newOrigin(crd, entry, v, d.schema)
	if err != nil {
		return Kind{}, nil, err
	}
	spec := root.Properties["spec"]
	k := Kind{
		Resource:   schema.GroupVersionResource{Group: crd.Spec.Group, Version: v.Name, Resource: crd.Spec.Names.Plural},
		Name:       crd.Spec.Names.Kind,
		Plural:     pluralOf(crd),
		ShortNames: crd.Spec.Names.ShortNames,
		Namespaced: crd.Spec.Scope == apiext.NamespaceScoped,
		Help:       oneLine(root.Description),
		Columns:    columns(v.AdditionalPrinterColumns),
		spec:       slices.Sorted(maps.Keys(spec.Properties)),
		status:     slices.Sorted(maps.Keys(root.Properties["status"].Properties)),
		Fixed:      neverChanges(spec.XValidations),
		source:     from,
		origin:     of,
	}
	_, k.hasStatus = root.Properties["status"]
	k.describe(entry)
	return k, d, nil
}
