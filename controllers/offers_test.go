package controllers

import (
	"slices"
	"testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	entries "github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
)

// TestFormsAskForWhatIsListed compares the entries, which the portal reads, with the lists of the operator.
func TestFormsAskForWhatIsListed(t *testing.T) {
	crds, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	for i := range crds {
		kind, entry := crds[i].Spec.Names.Kind, entries.Of(&crds[i])
		if got, want := len(entry.Form.Offers), len(offered[kind]); got != want {
			t.Errorf("the entry of %s has %d offers, want %d", kind, got, want)
		}
		spec := crd.Spec(&crds[i]).Properties
		for name, field := range offered[kind] {
			i := slices.IndexFunc(entry.Form.Offers, func(o v1alpha1.CatalogOffer) bool {
				return string(o.Field) == name
			})
			if i < 0 {
				t.Errorf("the entry of %s offers no %s", kind, name)
				continue
			}
			o := entry.Form.Offers[i]
			var by []string
			for _, on := range o.DependsOn {
				by = append(by, string(on))
			}
			if o.Complete != field.Whole || !slices.Equal(by, field.By) {
				t.Errorf("%s of %s: got %v, %v; want %v, %v", name, kind, o.Complete, by, field.Whole, field.By)
			}
			if p := spec[name]; field.Many != (p.Type == "array") {
				t.Errorf("%s of %s is a %s, want a list: %t", name, kind, p.Type, field.Many)
			}
		}
	}
}
