package pages

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/portal/auth"
	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/pages/page"
	"github.com/portico-platform/portico/web/views"
)

// anyText is any short text except "<<": the YAML library writes that unquoted and cannot read it again, nor can
// kubectl edit.
var anyText = rapid.StringMatching("[ -~é\t\r\n]{0,12}").Filter(func(s string) bool { return s != "<<" })

// stored draws a value as the API server can store it, nil for absent: any strings, values that no input offers,
// numbers instead of strings, and empty values.
func stored(t *rapid.T, f catalog.Field) any {
	if rapid.IntRange(0, 2).Draw(t, "absent "+f.Path) == 0 {
		return nil
	}
	switch f.Type {
	case catalog.Integer, catalog.Number:
		return int64(rapid.Int32().Draw(t, f.Path))
	case catalog.Boolean:
		return rapid.Bool().Draw(t, f.Path)
	case catalog.Object:
		return storedObject(t, f.Fields)
	case catalog.Array:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(t, f.Path) {
			if v := stored(t, *f.Items); v != nil {
				out = append(out, v)
			}
		}
		return out
	case catalog.Map:
		out := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, f.Path) {
			out[rapid.StringMatching(`[a-z:/.]{1,8}`).Draw(t, "key")] = anyText.Draw(t, "value")
		}
		return out
	default:
		return storedText(t, f)
	}
}

func storedText(t *rapid.T, f catalog.Field) any {
	switch {
	case f.Format == "quantity" && rapid.Bool().Draw(t, "a number"):
		return int64(rapid.IntRange(1, 9).Draw(t, f.Path))
	case len(f.Options) > 0 && rapid.Bool().Draw(t, "offered"):
		return rapid.SampledFrom(f.Options).Draw(t, f.Path)
	case f.Name == "name" || f.Name == "kind" || f.Name == "hostname": // it selects another object
		return rapid.StringMatching("[a-z]{1,8}").Draw(t, f.Path)
	case len(f.Options) > 0:
		return rapid.StringMatching("[!-~]{3,8}").Draw(t, f.Path)
	}
	return anyText.Draw(t, f.Path)
}

func storedObject(t *rapid.T, fields []catalog.Field) map[string]any {
	out := map[string]any{}
	for _, f := range fields {
		if v := stored(t, f); v != nil {
			out[f.Name] = v
		}
	}
	if _, chosen := out["kind"]; chosen && out["name"] == nil {
		out["name"] = "x"
	}
	return out
}

// sent posts a form and returns the response's page.
func sent(t *testing.T, f *fakeCluster, id auth.Identity, path string, form url.Values) string {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	site(f, id, noon).ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s answers %d:\n%s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// TestPagesKeepWhatNobodyTouches: an object that a browser shows in its kind's form and posts again is exactly the
// same; for every kind and any object, in forms for new objects and for edits.
func TestPagesKeepWhatNobodyTouches(t *testing.T) {
	f := hostnameSite(t)
	for _, k := range f.Kinds.Offered() {
		t.Run(k.Name, func(t *testing.T) {
			id, team := developer, "payments"
			if !k.Namespaced {
				id, team = platformAdmin, page.PlatformTeam
			}
			rapid.Check(t, func(rt *rapid.T) {
				obj := &unstructured.Unstructured{Object: map[string]any{"spec": storedObject(rt, k.Fields())}}
				obj.SetGroupVersionKind(k.GVK())
				obj.SetName("x")
				if k.Namespaced {
					obj.SetNamespace(team)
				}
				obj.SetGeneration(1)
				obj.SetUID("x")
				f.objects = []*unstructured.Unstructured{obj}
				path := views.EditPath(team, k.Plural, "x")
				page := visit(t, f, id, path).Body.String()
				if k.Fixed != "" {
					path = views.RequestPath(team, k.Plural)
					page = sent(t, f, id, path,
						url.Values{"do": {"form"}, "yaml": {string(catalog.ValueYAML(obj.Object))}})
				}
				got := map[string]any{}
				if err := yaml.Unmarshal([]byte(formOn(t, sent(t, f, id, path, pressing(t, page, "yaml"))).Get("yaml")),
					&got); err != nil {
					rt.Fatal(err)
				}
				want := map[string]any{}
				if err := yaml.Unmarshal(catalog.ValueYAML(obj.Object["spec"]), &want); err != nil {
					rt.Fatal(err)
				}
				if !reflect.DeepEqual(got["spec"], any(want)) {
					rt.Fatalf("got  %v\nwant %v", got["spec"], want)
				}
			})
		})
	}
}

// TestARowThatGoesTakesWhatIsHiddenInItAlong: a removed row's hidden values are removed with it, and later rows keep
// theirs.
func TestARowThatGoesTakesWhatIsHiddenInItAlong(t *testing.T) {
	f := busySite(t)
	rules := []any{
		map[string]any{"id": "a", "transitions": []any{}, "newer": "of a"},
		map[string]any{"id": "b", "prefix": ""},
		map[string]any{"id": "c", "newer": "of c"},
	}
	if err := unstructured.SetNestedSlice(f.objects[0].Object, rules, "spec", "lifecycleRules"); err != nil {
		t.Fatal(err)
	}
	page := visit(t, f, developer, editing1).Body.String()
	page = sent(t, f, developer, editing1, pressing(t, page, "remove spec.lifecycleRules[0]"))
	page = sent(t, f, developer, editing1, pressing(t, page, "remove spec.lifecycleRules[1]"))
	page = sent(t, f, developer, editing1, pressing(t, page, "add spec.lifecycleRules"))
	if w := post(t, f, editing1, pressing(t, page, "create", "spec.lifecycleRules[1].id",
		"d")); w.Code != http.StatusSeeOther {
		t.Fatalf("answers %d:\n%s", w.Code, w.Body)
	}
	got, _, _ := unstructured.NestedSlice(f.objects[0].Object, "spec", "lifecycleRules")
	if want := []any{map[string]any{"id": "b", "prefix": ""}, map[string]any{"id": "d"}}; !reflect.DeepEqual(
		got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
