//go:build integration

package integration

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/api/entry"
	"github.com/portico-platform/portico/api/v1alpha1"
)

// widget is a kind that no code of Portico knows.
const widget = `
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        description: Widget is a thing.
        properties:
          spec:
            type: object
            required: [size]
            properties: {size: {type: integer, minimum: 1}, colour: {type: string}}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func widgetDefinition() (*apiext.CustomResourceDefinition, error) {
	crd := &apiext.CustomResourceDefinition{}
	return crd, yaml.UnmarshalStrict([]byte(widget), crd)
}

func widgetEntry() *v1alpha1.CatalogEntry {
	meta := metav1.ObjectMeta{Name: "widgets.example.com"}
	return &v1alpha1.CatalogEntry{ObjectMeta: meta, Spec: v1alpha1.CatalogEntrySpec{
		Definition: v1alpha1.CatalogDefinition{Group: "example.com", Resource: "widgets", Version: "v1"},
		Title:      "Widget", Controller: &v1alpha1.CatalogController{Name: "the maker of widgets"},
		Confirmed: []v1alpha1.CatalogPower{v1alpha1.PowerUnknown},
		Form:      v1alpha1.CatalogForm{First: []v1alpha1.FieldName{"size"}},
	}}
}

// offeredKind is what a test of a kind of others needs.
type offeredKind struct {
	t     *testing.T
	c     client.Client
	p     *replica
	token string
	entry *v1alpha1.CatalogEntry
}

// offer adds the kind and its entry to the cluster, with the roles that portico kind roles prints, while a portal runs.
func offer(t *testing.T) *offeredKind {
	t.Helper()
	startOperator(t, operatorOptions{})
	o := &offeredKind{t: t, c: admin(t), p: startPortal(t, world.Issuer, sessionKeys(t))}
	o.token = userToken(t, "payments-dev")
	crd, err := widgetDefinition()
	if err != nil {
		t.Fatal(err)
	}
	o.entry = widgetEntry()
	objects := []client.Object{crd, o.entry}
	for _, role := range entry.Roles(o.entry) {
		objects = append(objects, &role)
	}
	for _, obj := range objects {
		create(t, o.c, obj)
		t.Cleanup(func() { _ = o.c.Delete(context.Background(), obj) }) // it can be gone already
	}
	return o
}

// canCreate returns what the catalog says of the kind: whether it has it, and whether the user can create one.
func (o *offeredKind) canCreate() (known, can bool, title any) {
	got := o.p.call(o.t, o.token, "GET", "/catalog?namespace=payments", nil).want(o.t, http.StatusOK)
	items, _ := got.body["items"].([]any)
	i := slices.IndexFunc(items, func(item any) bool {
		return nested(item.(map[string]any), "resource") == "widgets.example.com"
	})
	if i < 0 {
		return false, false, nil
	}
	item := items[i].(map[string]any)
	return true, item["canCreate"] == true, item["title"]
}

// TestAKindOfOthersIsOfferedAtOnce adds, changes and removes the entry of a kind while a portal runs.
func TestAKindOfOthersIsOfferedAtOnce(t *testing.T) {
	o := offer(t)
	const path = "/namespaces/payments/widgets.example.com"
	await(t, "the kind in the catalog", func() (bool, string) {
		known, can, _ := o.canCreate()
		return known && can, fmt.Sprint(known, can)
	})
	name := unique("w")
	body := map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"size": 3}}
	wrong := map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"size": 0}}
	if got := o.p.call(t, o.token, "POST", path, wrong).want(t, http.StatusUnprocessableEntity); !strings.Contains(
		fmt.Sprint(got.body), "spec.size") {
		t.Errorf("a size of 0: %v", got.body)
	}
	o.p.call(t, userToken(t, "search-dev"), "POST", path, body).want(t, http.StatusForbidden)
	o.p.call(t, o.token, "POST", path, body).want(t, http.StatusCreated)
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
	key := client.ObjectKey{Namespace: "payments", Name: name}
	if err := o.c.Get(t.Context(), key, live); err != nil {
		t.Fatal(err)
	}
	listed := func(want string) {
		t.Helper()
		await(t, "the widget in the list, "+want, func() (bool, string) {
			got := o.p.call(t, o.token, "GET", "/resources?namespace=payments&kind=widgets.example.com&status="+want, nil)
			return strings.Contains(fmt.Sprint(got.body), name), fmt.Sprint(got.body)
		})
	}
	listed("in-progress")
	for status, want := range map[string]string{"True": "ready", "False": "in-progress"} {
		if err := unstructured.SetNestedSlice(live.Object, []any{
			map[string]any{"type": "Ready", "status": status, "message": "as the maker says"},
		}, "status", "conditions"); err != nil {
			t.Fatal(err)
		}
		if err := o.c.Status().Update(t.Context(), live); err != nil {
			t.Fatal(err)
		}
		listed(want)
	}
	o.onTheCommandLine()
	o.renamed()
	o.p.call(t, o.token, "DELETE", path+"/"+name, nil)
	if err := o.c.Delete(t.Context(), o.entry); err != nil {
		t.Fatal(err)
	}
	await(t, "no kind without its entry", func() (bool, string) {
		known, _, _ := o.canCreate()
		return !known, "it is still in the catalog"
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.p.url+"/api/v1"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+o.token)
	resp, err := plainly().Do(req) // the document that others are compared with has the kind
	if err != nil {
		t.Fatal(err)
	}
	read(t, resp).want(t, http.StatusNotFound)
}

// renamed changes the entry, and waits until the catalog shows it.
func (o *offeredKind) renamed() {
	o.t.Helper()
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"title":"Gadget"}}`))
	if err := o.c.Patch(o.t.Context(), o.entry, patch); err != nil {
		o.t.Fatal(err)
	}
	await(o.t, "the new title", func() (bool, string) {
		_, _, title := o.canCreate()
		return title == "Gadget", fmt.Sprint(title)
	})
}

// onTheCommandLine requests, lists, describes and deletes an object of the kind with portico, which has the kind from
// the portal only.
func (o *offeredKind) onTheCommandLine() {
	o.t.Helper()
	c := newTerminal(o.t, "PORTICO_SERVER="+o.p.url, "PORTICO_TOKEN="+o.token, "PORTICO_NAMESPACE=payments")
	name := unique("cli")
	for _, step := range []struct {
		args []string
		says string
	}{
		{[]string{"__complete", "request", "wid"}, "widgets.example.com\tWidget is a thing"},
		{[]string{"kinds", "widget"}, "size*"},
		{[]string{"__complete", "request", "widget", name, "--set", "co"}, "colour="},
		{[]string{"request", "widget", name, "--set", "size=2"}, ""},
		{[]string{"get", "widgets.example.com"}, name},
		{[]string{"get"}, name},
		{[]string{"describe", "widget", name}, "Widget (Widget)"},
	} {
		if out, said := c.run(0, step.args...); !strings.Contains(out, step.says) {
			o.t.Errorf("portico %v prints %s%s", step.args, out, said)
		}
	}
	for _, own := range []string{"history", "pause"} { // what only our engine does
		if _, said := c.run(2, own, "widget", name); !strings.Contains(said, "belongs to the maker of widgets") {
			o.t.Errorf("portico %s of a kind of others: %s", own, said)
		}
	}
	c.run(0, "delete", "widget", name, "--yes", "--wait")
	if _, said := c.run(2, "request", "widget", name, "--set", "size=many"); !strings.Contains(said, "size") {
		o.t.Errorf("a size that is no number: %s", said)
	}
}
