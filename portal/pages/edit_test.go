package pages

import (
	"net/url"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog"
)

const (
	atInvoices = "/teams/payments/s3buckets/invoices"
	editing1   = atInvoices + "/edit"
)

func TestTheFormOfAnEditIsFilledInFromTheObject(t *testing.T) {
	page := visit(t, busySite(t), developer, editing1).Body.String()
	lacks(t, page, "Edit invoices", `<option value="Enabled" selected>`, `name="spec.tags[0].value" value="42"`,
		"Cannot be changed: S3 cannot rename a bucket.", "Cannot be changed: the resource would stay behind in the "+
			"old account.",
		`name="etag"`, `name="began"`, "kubectl patch s3buckets/invoices -n payments --type=merge", "curl -X PUT",
		"If-Match: ")
	for _, fixed := range []string{`name="metadata.name"`, `name="spec.bucketName"`, `name="spec.providerRef.name"`} {
		if strings.Contains(page, fixed) {
			t.Errorf("there is an input %s for what cannot be changed", fixed)
		}
	}
}

func TestAnEditThatChangesNothingSaysSo(t *testing.T) {
	f := busySite(t)
	page := visit(t, f, developer, editing1).Body.String()
	w := post(t, f, editing1, pressing(t, page, "review"))
	lacks(t, w.Body.String(), "Nothing would change.", "Change something")
	if w.Code != 200 || strings.Contains(w.Body.String(), "Apply the change") {
		t.Errorf("answers %d, and offers to apply nothing", w.Code)
	}
}

func TestAnEditIsReviewedAsWhatChanges(t *testing.T) {
	f := busySite(t)
	page := visit(t, f, developer, editing1).Body.String()
	w := post(t, f, editing1, pressing(t, page, "review", "spec.versioning", "Suspended", "spec.deletionPolicy", ""))
	review := w.Body.String()
	lacks(t, review, `<del class="minus">-   versioning: Enabled`, `<ins class="plus">+   versioning: Suspended`,
		"lines that stay",
		"Deletion policy becomes Delete: the platform fills that in.", "unencrypted uploads are refused",
		"Apply the change")
	w = post(t, f, editing1, pressing(t, review, "create"))
	if at := w.Header().Get("Location"); w.Code != 303 || at != atInvoices+"?applied=3" {
		t.Fatalf("answers %d to %q:\n%s", w.Code, at, w.Body)
	}
	if got := catalog.TextAt(f.objects[0], "spec", "versioning"); got != "Suspended" {
		t.Errorf("versioning is %q", got)
	}
	lacks(t, visit(t, f, developer, atInvoices+"?applied=3").Body.String(), "Your change is not applied yet.")
}

func TestThePageOfAnObjectKnowsOfAChangeBeforeTheCacheDoes(t *testing.T) {
	f := busySite(t)
	lacks(t, visit(t, f, developer, atInvoices+"?applied=3").Body.String(), "Your change is not applied yet.")
	for _, known := range []string{"", "?applied=2", "?applied=x", "?applied=99999999999999"} {
		if strings.Contains(visit(t, f, developer, atInvoices+known).Body.String(), "Your change is not applied yet.") {
			t.Errorf("%q makes a change of what was observed", known)
		}
	}
}

// TestAnEditKeepsWhatTheFormDoesNotShow: labels and annotations, and fields of later versions.
func TestAnEditKeepsWhatTheFormDoesNotShow(t *testing.T) {
	f := busySite(t)
	f.objects[0].SetLabels(map[string]string{"team": "ledger"})
	if err := unstructured.SetNestedField(f.objects[0].Object, "kept", "spec", "newer", "field"); err != nil {
		t.Fatal(err)
	}
	page := visit(t, f, developer, editing1).Body.String()
	page = post(t, f, editing1, pressing(t, page, "add spec.corsRules", "spec.versioning", "Suspended")).Body.String()
	page = post(t, f, editing1, pressing(t, page, "yaml")).Body.String()
	lacks(t, page, "team: ledger", "field: kept", "versioning: Suspended")
	page = post(t, f, editing1, pressing(t, page, "form")).Body.String()
	page = post(t, f, editing1, pressing(t, page, "remove spec.corsRules[0]")).Body.String()
	if w := post(t, f, editing1, pressing(t, page, "create")); w.Code != 303 {
		t.Fatalf("answers %d:\n%s", w.Code, w.Body)
	}
	got := f.objects[0]
	if got.GetLabels()["team"] != "ledger" || catalog.TextAt(got, "spec", "newer", "field") != "kept" ||
		catalog.TextAt(got, "spec", "versioning") != "Suspended" {
		t.Errorf("the edit left %v", got.Object)
	}
}

func TestWhatIsWrongWithAnEditStandsWhereItWasEntered(t *testing.T) {
	f := busySite(t)
	page := visit(t, f, developer, editing1).Body.String()
	yaml := post(t, f, editing1, pressing(t, page, "yaml")).Body.String()
	text := strings.ReplaceAll(formOn(t, yaml).Get("yaml"), "\r\n", "\n")
	for _, c := range []struct {
		name   string
		form   url.Values
		status int
		words  []string
	}{
		{"no number", pressing(t, page, "review", "spec.lifecycleRules[0]", "{}", "spec.lifecycleRules[0].expirationDays", "soon"), 422, []string{`value="soon"`, "Must be a whole number"}},
		{
			"refused by the cluster",
			pressing(t, yaml, "review", "yaml", strings.Replace(text, "spec:\n", "spec:\n  bucketName: Bad_Name\n", 1)),
			422,
			[]string{"spec.bucketName: use lower-case letters"},
		},
		{"another name", pressing(t, yaml, "review", "yaml", strings.Replace(text, "name: invoices", "name: bills", 1)), 422, []string{"metadata.name: must stay invoices"}},
		{"no YAML", pressing(t, yaml, "review", "yaml", "a: ["), 422, []string{"not valid YAML"}},
		{"what it began with is missing", url.Values{"do": {"review"}, "yaml": {text}}, 400, []string{"The form could not be read"}},
		{"what it began with is damaged", pressing(t, page, "review", "began", "a: ["), 400, []string{"The form could not be read"}},
		{"their version is damaged", pressing(t, yaml, "merge", "now", `"u-3"`, "theirs", "["), 400, []string{"The form could not be read"}},
		{"mine is damaged", pressing(t, yaml, "merge", "now", `"u-3"`, "theirs", text, "yaml", "["), 400, []string{"The form could not be read"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := post(t, f, editing1, c.form)
			if w.Code != c.status {
				t.Errorf("answers %d, want %d", w.Code, c.status)
			}
			lacks(t, w.Body.String(), c.words...)
		})
	}
}

func TestOnlyThoseWhoMayUpdateEdit(t *testing.T) {
	f := hostnameSite(t)
	f.objects = append(f.objects, busySite(t).objects...)
	f.Spaces.Names = append(f.Spaces.Names, "portico-gateways")
	for path, words := range map[string]string{
		editing1:                  "Edit invoices",
		atHostnames + "shop/edit": "A hostname cannot be changed",
		"/teams/portico-gateways/poolgateways/gw-00/edit": "Page not found",
		"/teams/payments/s3buckets/none/edit":             "It does not exist",
	} {
		lacks(t, visit(t, f, platformAdmin, path).Body.String(), words)
	}
	for path, want := range map[string]bool{
		atInvoices: true, atHostnames + "shop": false,
		"/teams/portico-gateways/poolgateways/gw-00": false,
	} {
		if got := strings.Contains(visit(t, f, platformAdmin, path).Body.String(), `href="`+path+
			`/edit"`); got != want {
			t.Errorf("%s leads to a form: %v, want %v", path, got, want)
		}
	}
	f.denied = []string{"update payments"}
	if w := visit(t, f, developer, editing1); w.Code != 403 {
		t.Errorf("without the right it answers %d", w.Code)
	}
	if strings.Contains(visit(t, f, developer, atInvoices).Body.String(), "/edit") {
		t.Error("without the right the page leads to the form")
	}
}

func TestAReviewTellsWhatTheChangeDoes(t *testing.T) {
	const path = "/teams/payments/webapps/storefront/edit"
	page := visit(t, hostnameSite(t), developer, path).Body.String()
	for _, c := range []struct{ field, value, words string }{
		{"spec.image", "registry.example.com/shop:2", "The Pods are replaced, a few at a time"},
		{"spec.replicas", "3", "Pods are added or taken away"},
	} {
		lacks(t, post(t, hostnameSite(t), path, pressing(t, page, "review", c.field, c.value)).Body.String(),
			"What it does", c.words)
	}
	if w := post(t, hostnameSite(t), path, pressing(t, page, "review")); strings.Contains(w.Body.String(), "Pods are") {
		t.Error("a change of nothing replaces Pods")
	}
}

func TestAnotherIsLikeTheOneButForItsNames(t *testing.T) {
	f := busySite(t)
	f.objects[0].SetLabels(map[string]string{"team": "ledger"})
	f.objects[0].SetAnnotations(map[string]string{"portico.dev/paused": "true", "example.com/cost": "42"})
	f.objects[1] = object(t, strings.Replace(stalledBucket, "deletionPolicy: Retain", "deletionPolicy: Retain, tags: "+
		"{cost: '7'}", 1))
	lacks(t, visit(t, f, developer, atInvoices).Body.String(), `href="/teams/payments/new/s3buckets?like=invoices"`)
	page := visit(t, f, developer, ask+"?like=invoices").Body.String()
	lacks(t, page, `name="spec.tags[0].value" value="42"`, `<option value="Enabled" selected>`, "team: ledger",
		"example.com/cost")
	for _, not := range []string{
		"portico.dev/paused", `value="invoices"`,
		`role="alert" aria-labelledby="problems-title"`,
	} {
		if strings.Contains(page, not) {
			t.Errorf("the form has %q", not)
		}
	}
	page = visit(t, f, developer, ask+"?like=ledger-archive").Body.String()
	lacks(t, page, `<option value="Retain" selected>`)
	if strings.Contains(page, `value="ledger-archive"`) {
		t.Error("the bucket's name is taken over, which nobody else can have")
	}
	if w := visit(t, f, developer, ask+"?like=none"); w.Code != 404 {
		t.Errorf("like one that is not there answers %d", w.Code)
	}
	f.denied = []string{"create payments"}
	if strings.Contains(visit(t, f, developer, atInvoices).Body.String(), "?like=") {
		t.Error("who may not request is led to the form")
	}
}
