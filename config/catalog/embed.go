// Package catalog carries the catalog entries of Portico's own kinds, which the operator writes to the cluster.
package catalog

import (
	"embed"
	"fmt"
	"io/fs"

	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/v1alpha1"
)

//go:embed entries/*.yaml
var files embed.FS

// Entries returns the entries, sorted by name.
func Entries() (all []v1alpha1.CatalogEntry, err error) {
	names, err := fs.Glob(files, "entries/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var one v1alpha1.CatalogEntry
		if err := yaml.UnmarshalStrict(text, &one); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, one)
	}
	return all, nil
}
