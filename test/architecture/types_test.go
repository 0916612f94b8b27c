package architecture

import (
	"go/ast"
	"path"
	"slices"
	"testing"
)

// TestTheAPIHoldsTypesOnly keeps behaviour out of api/v1alpha1: what the code decides stands where a reader looks for
// it. Methods on the types, and functions about the metadata that every object has, are part of the types.
func TestTheAPIHoldsTypesOnly(t *testing.T) {
	metadata := []string{"AddToScheme", "MadeByWebApp", "TeamOf", "WrittenByAdmission"}
	for _, s := range sources(t) {
		if path.Dir(s.path) != "api/v1alpha1" || s.isTest() {
			continue
		}
		for _, d := range s.Decls {
			f, isFunc := d.(*ast.FuncDecl)
			if !isFunc || f.Recv != nil || !f.Name.IsExported() {
				continue
			}
			if !slices.Contains(metadata, f.Name.Name) {
				t.Errorf("%s:%d: %s belongs in a package named after its topic", s.path, s.line(f.Pos()), f.Name.Name)
			}
		}
	}
}
