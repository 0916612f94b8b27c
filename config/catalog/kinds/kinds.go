// Package kinds has the catalog entries of Portico's own kinds, from which config/generate writes those of
// config/catalog. Only that reads it: everything that runs reads the entries of the cluster.
package kinds

import (
	"cmp"
	"slices"
	"strings"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
)

// All returns the entries, sorted by name.
func All() []v1alpha1.CatalogEntry {
	specs := []v1alpha1.CatalogEntrySpec{
		accessBinding, awsProvider, catalogEntry, databaseUser, deployPolicy, domainClaim, ec2Instance,
		gatewayHostnameRequest, hostnameGrant, poolGateway, rdsInstance, s3Bucket, snsTopic, sqsQueue, team, webApp,
	}
	all := make([]v1alpha1.CatalogEntry, 0, len(specs))
	for i := range specs {
		all = append(all, v1alpha1.CatalogEntry{
			TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "CatalogEntry"},
			ObjectMeta: metav1.ObjectMeta{Name: name(specs[i].Definition.Resource)},
			Spec:       specs[i],
		})
	}
	slices.SortFunc(all, func(a, b v1alpha1.CatalogEntry) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Of returns the entry of a kind of Portico; nil if it has none.
func Of(kind *apiext.CustomResourceDefinition) *v1alpha1.CatalogEntrySpec {
	for _, one := range All() {
		if one.Name == kind.Name {
			return &one.Spec
		}
	}
	return nil
}

// Requested reports whether teams ask for objects of the kind.
func Requested(kind *apiext.CustomResourceDefinition) bool {
	entry := Of(kind)
	return entry != nil && entry.Writers == "" && kind.Spec.Scope == apiext.NamespaceScoped
}

// ours returns the definition of a kind of Portico.
func ours(resource string) v1alpha1.CatalogDefinition {
	return v1alpha1.CatalogDefinition{
		Group: v1alpha1.GroupVersion.Group, Resource: resource, Version: v1alpha1.GroupVersion.Version,
	}
}

// name returns the name of the entry of a kind of Portico.
func name(resource string) string { return resource + "." + v1alpha1.GroupVersion.Group }

// words returns the words of lines.
func words(lines ...string) (all []string) {
	for _, line := range lines {
		all = append(all, strings.Fields(line)...)
	}
	return all
}

// fields returns the names in lines.
func fields(lines ...string) (all []v1alpha1.FieldName) {
	for _, one := range words(lines...) {
		all = append(all, v1alpha1.FieldName(one))
	}
	return all
}

// steps returns the steps of the conditions in lines. Optional ones end in a question mark.
func steps(lines ...string) (all []v1alpha1.CatalogStep) {
	for _, one := range words(lines...) {
		condition, optional := strings.CutSuffix(one, "?")
		all = append(all, v1alpha1.CatalogStep{Condition: condition, Optional: optional})
	}
	return all
}
