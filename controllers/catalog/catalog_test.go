package catalog

import (
	"context"
	"strings"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/portico-platform/portico/api/v1alpha1"
	shipped "github.com/portico-platform/portico/config/catalog"
	"github.com/portico-platform/portico/config/crd"
)

// world returns a Reconciler in a cluster with Portico's definitions, and a count of how often they are read.
func world(t *testing.T, more ...client.Object) (r Reconciler, reads *int) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, apiext.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	crds, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	for i := range crds {
		more = append(more, &crds[i])
	}
	reads = new(int)
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(more...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object,
			opts ...client.GetOption,
		) error {
			if _, whole := obj.(*apiext.CustomResourceDefinition); whole {
				*reads++
			}
			return c.Get(ctx, key, obj, opts...)
		},
	}).Build()
	return Reconciler{Definitions: c, Cached: c}, reads
}

// TestARestartReadsNoDefinitions counts reads: a definition can have a megabyte.
func TestARestartReadsNoDefinitions(t *testing.T) {
	r, reads := world(t)
	entries, err := shipped.Entries()
	if err != nil {
		t.Fatal(err)
	}
	e := &entries[0]
	pass := func(when string, want int) {
		t.Helper()
		*reads = 0
		if err := r.Reconcile(t.Context(), e, nil); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if *reads != want {
			t.Errorf("%s: got %d reads, want %d", when, *reads, want)
		}
	}
	pass("at first", 1)
	e.Status.ObservedGeneration = e.Generation
	e.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}
	pass("after a restart", 0)
	e.Generation++
	pass("after an edit", 1)
	e.Status.ObservedGeneration, e.Status.DefinitionVersion = e.Generation, "another"
	pass("after the definition has changed", 1)
}

func TestAnEntryThatRefersToNoneIsToldSo(t *testing.T) {
	name := "widgets.example.com"
	schema := &apiext.JSONSchemaProps{Type: "object", Properties: map[string]apiext.JSONSchemaProps{
		"spec": {Type: "object", Properties: map[string]apiext.JSONSchemaProps{"queue": {Type: "string"}}},
	}}
	definition := &apiext.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: apiext.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiext.NamespaceScoped,
			Names: apiext.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiext.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Schema: &apiext.CustomResourceValidation{OpenAPIV3Schema: schema},
			}},
		},
	}
	r, _ := world(t, definition)
	e := &v1alpha1.CatalogEntry{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.CatalogEntrySpec{
		Definition: v1alpha1.CatalogDefinition{Group: "example.com", Resource: "widgets", Version: "v1"},
		Confirmed:  []v1alpha1.CatalogPower{v1alpha1.PowerUnknown},
		References: []v1alpha1.CatalogReference{{Field: "queue", To: "nothings.example.com"}},
	}}
	err := r.Reconcile(t.Context(), e, nil)
	if err == nil || !strings.Contains(err.Error(), "what does not exist: the entry nothings.example.com") {
		t.Errorf("got %v", err)
	}
	e.Spec.Confirmed = nil
	if err := r.Reconcile(t.Context(), e, nil); err == nil || !strings.Contains(err.Error(), "is not offered") {
		t.Errorf("without its powers confirmed: %v", err)
	}
}
