package apidocs

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
)

func get(t *testing.T, h http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
	return w
}

func TestEveryOperationIsDescribed(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	h, err := New(kinds)
	if err != nil {
		t.Fatal(err)
	}
	first := get(t, h, "/api/docs").Body.String()
	for _, k := range kinds {
		at := "/api/docs/" + strings.ToLower(k.Name)
		page := get(t, h, at).Body.String()
		if !strings.Contains(first, `href="`+at+`"`) || !strings.Contains(page, `id="get`+k.Name+`"`) ||
			!strings.Contains(page, `id="list`+k.Name) {
			t.Errorf("%s is not described", k.Name)
		}
		if !strings.Contains(page, `href="`+at+`" aria-current="page"`) ||
			!strings.Contains(page, `href="#get`+k.Name+`"`) || !strings.Contains(page, `href="/api/docs"`) {
			t.Errorf("the navigation beside %s leads neither to its operations nor to the other parts", k.Name)
		}
		if k.KeptBy != "" {
			continue
		}
		for _, want := range []string{
			`id="patch` + k.Name + `"`, "If-Match", "application/merge-patch+json", "dryRun",
			"428", "&#34;kind&#34;: &#34;" + k.Name,
		} {
			if !strings.Contains(page, want) {
				t.Errorf("the page of %s lacks %s", k.Name, want)
			}
		}
	}
	for _, want := range []string{"Authorization: Bearer", "/api/v1/openapi.json", "ETag", "getMe"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first page lacks %s", want)
		}
	}
	for _, page := range []string{first, get(t, h, "/api/docs/s3bucket").Body.String()} {
		for _, wrong := range []string{`="http`, "<style", "style="} {
			if strings.Contains(page, wrong) {
				t.Errorf("a page has %s, which loads from elsewhere or is a style of its own", wrong)
			}
		}
	}
	if w := get(t, h, "/api/docs/nothing"); w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/api/docs" {
		t.Errorf("a part that there is not: %d", w.Code)
	}
}
