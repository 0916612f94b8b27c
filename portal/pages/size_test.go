package pages

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
	"github.com/portico-platform/portico/portal/form"
)

// noted gives the first object an annotation of so many bytes, each of which a form encodes as three.
func noted(f *fakeCluster, bytes int) {
	theirs(f, strings.Repeat("/", bytes), "metadata", "annotations", "mine/note")
}

// TestTheLargestEditSurvivesAConflict: all three versions, as a browser encodes them, fit into the server's limit.
func TestTheLargestEditSurvivesAConflict(t *testing.T) {
	f := busySite(t)
	noted(f, form.MaxText-1<<10)
	page := visit(t, f, developer, editing1).Body.String()
	theirs(f, "7", "spec", "tags", "cost")
	posted := pressing(t, page, "review", "spec.versioning", "Suspended")
	w := post(t, f, editing1, posted)
	if w.Code != http.StatusConflict {
		t.Fatalf("answers %d", w.Code)
	}
	posted = pressing(t, w.Body.String(), "merge")
	if n := len(posted.Encode()); n > form.MaxBytes {
		t.Errorf("the page of the conflict sends %d bytes, the server takes %d", n, form.MaxBytes)
	}
	w = post(t, f, editing1, posted)
	lacks(t, w.Body.String(), "Apply the change")
	if w = post(t, f, editing1, pressing(t, w.Body.String(), "create")); w.Code != http.StatusSeeOther ||
		catalog.TextAt(f.objects[0], "spec", "tags", "cost") != "7" {
		t.Errorf("applying answers %d and makes %v", w.Code, f.objects[0].Object["spec"])
	}
}

// TestWhatIsTooLargeIsRefusedBeforeAnythingIsLost: before the edit, or with all input still on the page.
func TestWhatIsTooLargeIsRefusedBeforeAnythingIsLost(t *testing.T) {
	f := busySite(t)
	page := visit(t, f, developer, editing1).Body.String()
	yaml := post(t, f, editing1, pressing(t, page, "yaml")).Body.String()
	large := strings.Replace(formOn(t, yaml).Get("yaml"), "  tags:", "  newer: "+strings.Repeat("x", form.MaxText)+
		"\n  tags:", 1)
	w := post(t, f, editing1, pressing(t, yaml, "review", "yaml", large))
	lacks(t, w.Body.String(), "it is too large: as YAML it has 97 kB, and forms take 96",
		strings.Repeat("x", form.MaxText))
	if w.Code != http.StatusUnprocessableEntity {
		t.Errorf("a change that makes it too large answers %d", w.Code)
	}
	huge := "metadata: {name: x}\nspec: {bucketName: " + strings.Repeat("x", form.MaxYAML) + "}"
	w = post(t, f, ask, url.Values{"do": {"review"}, "yaml": {huge}})
	lacks(t, w.Body.String(), "this is too large: as YAML it has 257 kB, and forms take 256", huge)
	if w.Code != http.StatusUnprocessableEntity {
		t.Errorf("a request that is too large answers %d", w.Code)
	}
	noted(f, form.MaxText)
	w = post(t, f, editing1, pressing(t, page, "review", "spec.versioning", "Suspended"))
	lacks(t, w.Body.String(), "too large now to be merged here", `<option value="Suspended" selected>`)
	if w.Code != http.StatusConflict {
		t.Errorf("a conflict with what is too large answers %d", w.Code)
	}
	w = visit(t, f, developer, editing1)
	lacks(t, w.Body.String(), "It is too large to edit here", "kubectl edit s3buckets/invoices -n payments")
	if strings.Contains(w.Body.String(), `id="request"`) {
		t.Error("there is a form for what cannot be sent")
	}
	w = post(t, f, ask, url.Values{"do": {"review"}, "yaml": {strings.Repeat("x", form.MaxBytes)}})
	lacks(t, w.Body.String(), "The form is too large", "A form can have 1024 kB at most.")
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("more than the server takes answers %d", w.Code)
	}
}

// TestAFormWithEveryRowFits: the largest form that a page can show can be posted.
func TestAFormWithEveryRowFits(t *testing.T) {
	f := busySite(t)
	var rules []any
	for range form.MaxRows / 5 {
		var moves []any
		for range 3 {
			moves = append(moves, map[string]any{"storageClass": "GLACIER", "days": int64(30)})
		}
		rules = append(rules, map[string]any{
			"id": strings.Repeat("é", 60), "prefix": strings.Repeat("/", 60),
			"transitions": moves,
		})
	}
	if err := unstructured.SetNestedSlice(f.objects[0].Object, rules, "spec", "lifecycleRules"); err != nil {
		t.Fatal(err)
	}
	posted := pressing(t, visit(t, f, developer, editing1).Body.String(), "review", "spec.versioning", "Suspended")
	if n := len(posted.Encode()); n < form.MaxBytes/8 || n > form.MaxBytes {
		t.Errorf("the form sends %d bytes, the server takes %d", n, form.MaxBytes)
	}
	lacks(t, post(t, f, editing1, posted).Body.String(), "Apply the change")
}
