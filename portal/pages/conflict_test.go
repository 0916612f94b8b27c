package pages

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
)

func TestChangesOfDifferentFieldsAreMergedAfterALook(t *testing.T) {
	f := busySite(t)
	page := visit(t, f, developer, editing1).Body.String()
	theirs(f, "7", "spec", "tags", "cost")
	for _, do := range []string{"review", "create"} {
		w := post(t, f, editing1, pressing(t, page, do, "spec.versioning", "Suspended"))
		conflict := w.Body.String()
		if w.Code != 409 {
			t.Fatalf("%s answers %d", do, w.Code)
		}
		lacks(t, conflict, "Somebody else changed invoices while you edited it.", "both will hold", "Changed by them",
			"Tags, cost", "Changed by you", "Versioning")
		w = post(t, f, editing1, pressing(t, conflict, "merge"))
		lacks(t, w.Body.String(), `+   versioning: Suspended`, "Apply the change")
		if w.Code != 200 || strings.Contains(w.Body.String(), "cost: &#34;42&#34;") {
			t.Errorf("the review after the merge answers %d, and takes their change back:\n%s", w.Code, w.Body)
		}
		if do == "create" {
			w = post(t, f, editing1, pressing(t, w.Body.String(), "create"))
		}
		if do == "create" && w.Code != 303 {
			t.Errorf("applying answers %d:\n%s", w.Code, w.Body)
		}
	}
	if catalog.TextAt(f.objects[0], "spec", "versioning") != "Suspended" ||
		catalog.TextAt(f.objects[0], "spec", "tags", "cost") != "7" {
		t.Errorf("both changes made %v", f.objects[0].Object["spec"])
	}
}

func TestWhereBothChangedTheSameTheUserChooses(t *testing.T) {
	const input = "take /spec/versioning"
	for _, c := range []struct{ take, want string }{{"mine", "Suspended"}, {"theirs", "Disabled"}} {
		f := busySite(t)
		page := visit(t, f, developer, editing1).Body.String()
		theirs(f, "Disabled", "spec", "versioning")
		conflict := post(t, f, editing1,
			pressing(t, page, "review", "spec.versioning", "Suspended", "spec.tags[0].value", "9")).Body.String()
		lacks(t, conflict, "Changed by both", "When you began: <code>Enabled</code>", "<code>Disabled</code>",
			"<code>Suspended</code>", "Tags, cost")
		undecided := post(t, f, editing1, pressing(t, conflict, "merge"))
		if undecided.Code != 422 {
			t.Errorf("without a choice it answers %d", undecided.Code)
		}
		lacks(t, undecided.Body.String(), "Choose one of the two.")
		w := post(t, f, editing1, pressing(t, undecided.Body.String(), "merge", input, c.take))
		w = post(t, f, editing1, pressing(t, w.Body.String(), "create"))
		if w.Code != 303 || catalog.TextAt(f.objects[0], "spec", "versioning") != c.want ||
			catalog.TextAt(f.objects[0], "spec", "tags", "cost") != "9" {
			t.Errorf("taking %s answers %d and makes %v", c.take, w.Code, f.objects[0].Object["spec"])
		}
	}
}

func TestAThirdChangeIsAConflictAgain(t *testing.T) {
	f := busySite(t)
	page := visit(t, f, developer, editing1).Body.String()
	theirs(f, "7", "spec", "tags", "cost")
	conflict := post(t, f, editing1, pressing(t, page, "review", "spec.versioning", "Suspended")).Body.String()
	theirs(f, "ledger", "spec", "tags", "team")
	w := post(t, f, editing1, pressing(t, conflict, "merge"))
	if w.Code != 409 {
		t.Errorf("answers %d", w.Code)
	}
	lacks(t, w.Body.String(), "Tags, team")
	back := post(t, f, editing1, pressing(t, conflict, "form"))
	lacks(t, back.Body.String(), `<option value="Suspended" selected>`)
}

func TestWhatWasDeletedMeanwhileCanBeAskedForAnew(t *testing.T) {
	f := busySite(t)
	page := visit(t, f, developer, editing1).Body.String()
	f.objects = f.objects[1:]
	w := post(t, f, editing1, pressing(t, page, "review", "spec.versioning", "Suspended"))
	gone := w.Body.String()
	if w.Code != 404 {
		t.Errorf("answers %d", w.Code)
	}
	lacks(t, gone, "invoices was deleted while you edited it.", "Request it again",
		`action="/teams/payments/new/s3buckets"`)
	lacks(t, post(t, f, ask, pressing(t, gone, "form")).Body.String(), ` value="invoices"`,
		`<option value="Suspended" selected>`)
	f.denied = []string{"create payments"}
	if again := post(t, f, editing1, pressing(t, page, "review")).Body.String(); strings.Contains(
		again, "Request it again") {
		t.Error("who may not request it is told to")
	}
	f.objects = append(f.objects,
		object(t, strings.Replace(readyBucket, "{name: invoices,", "{name: invoices, uid: other,", 1)))
	lacks(t, post(t, f, editing1, pressing(t, page, "review")).Body.String(),
		"It was deleted and created again under the same name.")
}

// TestElementsOfListsAreMergedByTheirNames: two users who each add a variable are not in conflict.
func TestElementsOfListsAreMergedByTheirNames(t *testing.T) {
	f := newFake(
		t,
		`{apiVersion: portico.dev/v1alpha1, kind: WebApp, metadata: {name: shop, namespace: payments, generation: 1}, spec: {image: "r/x:1", env: [{name: A, value: a}]}}`)
	const path = "/teams/payments/webapps/shop/edit"
	page := visit(t, f, developer, path).Body.String()
	theirs(f, []any{map[string]any{"name": "A", "value": "theirs"}, map[string]any{"name": "T", "value": "t"}}, "spec",
		"env")
	page = post(t, f, path, pressing(t, page, "add spec.env", "spec.env[0].value", "mine")).Body.String()
	conflict := post(t, f, path, pressing(t, page, "review", "spec.env[1].name", "M", "spec.env[1].value",
		"m")).Body.String()
	lacks(t, conflict, "<legend>Environment variables, A, Value</legend>", "Environment variables, T",
		"Environment variables, M")
	review := post(t, f, path, pressing(t, conflict, "merge", "take /spec/env/[A]/value", "mine")).Body.String()
	if w := post(t, f, path, pressing(t, review, "create")); w.Code != 303 {
		t.Fatalf("answers %d:\n%s", w.Code, w.Body)
	}
	got, _, _ := unstructured.NestedSlice(f.objects[0].Object, "spec", "env")
	if want := "[map[name:A value:mine] map[name:M value:m] map[name:T value:t]]"; fmt.Sprint(got) != want {
		t.Errorf("merged to %v, want %s", got, want)
	}
}
