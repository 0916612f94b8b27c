package feed

import (
	"errors"
	"slices"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/catalog"
)

func widgets(group string) (*apiext.CustomResourceDefinition, v1alpha1.CatalogEntry) {
	name := "widgets." + group
	schema := &apiext.JSONSchemaProps{Type: "object", Properties: map[string]apiext.JSONSchemaProps{
		"spec": {Type: "object", Properties: map[string]apiext.JSONSchemaProps{"size": {Type: "integer"}}},
	}}
	crd := &apiext.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"},
		Spec: apiext.CustomResourceDefinitionSpec{
			Group: group, Scope: apiext.NamespaceScoped,
			Names: apiext.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiext.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Schema: &apiext.CustomResourceValidation{OpenAPIV3Schema: schema},
			}},
		},
	}
	return crd, v1alpha1.CatalogEntry{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec: v1alpha1.CatalogEntrySpec{
			Definition: v1alpha1.CatalogDefinition{Group: group, Resource: "widgets", Version: "v1"}, Title: "Widget",
			Confirmed: []v1alpha1.CatalogPower{v1alpha1.PowerUnknown},
		},
	}
}

// TestTheCatalogFollowsEntriesAndDefinitions counts reads of definitions, of which a cluster has hundreds.
func TestTheCatalogFollowsEntriesAndDefinitions(t *testing.T) {
	one, ofOne := widgets("one.example.com")
	two, ofTwo := widgets("two.example.com")
	client := fake.NewClientset(one, two)
	reads, down := 0, false
	client.PrependReactor("get", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		if reads++; down {
			return true, nil, errors.New("it does not answer")
		}
		return false, nil, nil
	})
	o := newOffered(catalog.NewLive(nil), client.ApiextensionsV1().CustomResourceDefinitions())
	versions := map[string]string{one.Name: "1", two.Name: "1"}
	look := func(when string, entries []v1alpha1.CatalogEntry, wantReads int, wantChanged bool, want ...string) {
		t.Helper()
		reads = 0
		known, changed, err := o.read(t.Context(), entries, versions)
		var got []string
		for _, k := range o.keep(known) {
			got = append(got, k.Title+" "+k.Plural)
		}
		o.begun = true
		if (err != nil) != down {
			t.Errorf("%s: got %v", when, err)
		}
		if reads != wantReads || changed != wantChanged {
			t.Errorf("%s: got %d reads, changed %v; want %d, %v", when, reads, changed, wantReads, wantChanged)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", when, got, want)
		}
	}
	first, second := "Widget widgets.one.example.com", "Widget widgets.two.example.com"
	both := []v1alpha1.CatalogEntry{ofOne, ofTwo}
	look("at first", both, 2, true, first, second)
	look("again", both, 0, false, first, second)

	versions[two.Name] = "2"
	look("after a definition has changed", both, 1, true, first, second)

	both[0].Generation, both[0].Spec.Title = 2, "Gadget"
	look("after an entry has changed", both, 1, true, "Gadget widgets.one.example.com", second)

	down = true
	both[0].Generation, both[0].Spec.Title = 3, "Gizmo"
	look("while the API server does not answer", both, 1, true, "Gadget widgets.one.example.com", second)
	down = false
	look("when it answers again", both, 1, true, "Gizmo widgets.one.example.com", second)

	look("without an entry", both[1:], 0, true, second)
	delete(versions, two.Name)
	resource := apiext.SchemeGroupVersion.WithResource("customresourcedefinitions")
	if err := client.Tracker().Delete(resource, "", two.Name); err != nil {
		t.Fatal(err)
	}
	look("without a definition", both[1:], 1, true)
}
