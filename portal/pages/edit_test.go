package pages

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	atInvoices = "/teams/payments/s3buckets/invoices"
	editing1   = atInvoices + "/edit"
)

var (
	inputTag   = regexp.MustCompile(`<input[^>]* name="([^"]*)"[^>]*>`)
	valueOf    = regexp.MustCompile(` value="([^"]*)"`)
	textareas  = regexp.MustCompile(`(?s)<textarea[^>]* name="([^"]*)"[^>]*>(.*?)</textarea>`)
	selectTags = regexp.MustCompile(`(?s)<select[^>]* name="(spec[^"]*)"[^>]*>(.*?)</select>`)
	chosen     = regexp.MustCompile(`<option value="([^"]*)" selected`)
)

// formOn is what a browser would post of the page, without the button.
func formOn(t *testing.T, page string) url.Values {
	t.Helper()
	form := url.Values{}
	for _, in := range inputTag.FindAllStringSubmatch(page, -1) {
		value := ""
		if v := valueOf.FindStringSubmatch(in[0]); v != nil {
			value = html.UnescapeString(v[1])
		}
		if strings.Contains(in[0], `type="radio"`) && !strings.Contains(in[0], " checked") {
			continue
		}
		form.Add(html.UnescapeString(in[1]), value)
	}
	for _, in := range textareas.FindAllStringSubmatch(page, -1) {
		form.Add(in[1], strings.TrimPrefix(html.UnescapeString(in[2]), "\n"))
	}
	for _, in := range selectTags.FindAllStringSubmatch(page, -1) {
		value := ""
		if v := chosen.FindStringSubmatch(in[2]); v != nil {
			value = html.UnescapeString(v[1])
		}
		form.Set(in[1], value)
	}
	return form
}

// pressing is the page's form with a button pressed, and some inputs filled in.
func pressing(t *testing.T, page, do string, more ...string) url.Values {
	t.Helper()
	form := formOn(t, page)
	form.Set("do", do)
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

// theirs is what somebody else writes in the meantime.
func theirs(f *fakeCluster, value any, path ...string) {
	obj := f.objects[0].DeepCopy()
	if err := unstructured.SetNestedField(obj.Object, value, path...); err != nil {
		panic(err)
	}
	obj.SetGeneration(obj.GetGeneration() + 1)
	f.objects[0] = obj
}

func lacks(t *testing.T, page string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(page, w) {
			t.Errorf("the page lacks %q:\n%s", w, page)
		}
	}
}

func TestTheFormOfAnEditIsFilledInFromTheObject(t *testing.T) {
	page := visit(t, busySite(t), developer, editing1).Body.String()
	lacks(t, page, "Edit invoices", `<option value="Enabled" selected>`, `name="spec.tags[0].value" value="42"`,
		"Cannot be changed: S3 cannot rename a bucket.", "Cannot be changed: the resource would stay behind in the old account.",
		`name="etag"`, `name="began"`, "kubectl patch s3buckets/invoices -n payments --type=merge", "curl -X PUT", "If-Match: ")
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
	lacks(t, review, `<del class="minus">-   versioning: Enabled`, `<ins class="plus">+   versioning: Suspended`, "lines that stay",
		"Deletion policy becomes Delete: the platform fills that in.", "unencrypted uploads are refused", "Apply the change")
	w = post(t, f, editing1, pressing(t, review, "create"))
	if at := w.Header().Get("Location"); w.Code != 303 || at != atInvoices+"?applied=3" {
		t.Fatalf("answers %d to %q:\n%s", w.Code, at, w.Body)
	}
	if got := nested(f.objects[0], "spec", "versioning"); got != "Suspended" {
		t.Errorf("versioning is %q", got)
	}
	lacks(t, visit(t, f, developer, atInvoices+"?applied=3").Body.String(), "Change not applied yet.")
}

func TestThePageOfAnObjectKnowsOfAChangeBeforeTheCacheDoes(t *testing.T) {
	f := busySite(t)
	lacks(t, visit(t, f, developer, atInvoices+"?applied=3").Body.String(), "Change not applied yet.")
	for _, known := range []string{"", "?applied=2", "?applied=x", "?applied=99999999999999"} {
		if strings.Contains(visit(t, f, developer, atInvoices+known).Body.String(), "Change not applied yet.") {
			t.Errorf("%q makes a change of what was observed", known)
		}
	}
}

// TestAnEditKeepsWhatTheFormDoesNotShow: labels and annotations, and fields of versions to come.
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
	if got.GetLabels()["team"] != "ledger" || nested(got, "spec", "newer", "field") != "kept" || nested(got, "spec", "versioning") != "Suspended" {
		t.Errorf("the edit left %v", got.Object)
	}
}

func TestWhatIsWrongWithAnEditStandsWhereItWasEntered(t *testing.T) {
	f := busySite(t)
	page := visit(t, f, developer, editing1).Body.String()
	yaml := post(t, f, editing1, pressing(t, page, "yaml")).Body.String()
	text := formOn(t, yaml).Get("yaml")
	for _, c := range []struct {
		name   string
		form   url.Values
		status int
		words  []string
	}{
		{"no number", pressing(t, page, "review", "spec.lifecycleRules[0]", "{}", "spec.lifecycleRules[0].expirationDays", "soon"), 422, []string{`value="soon"`, "Must be a whole number"}},
		{"refused by the cluster", pressing(t, yaml, "review", "yaml", strings.Replace(text, "spec:\n", "spec:\n  bucketName: Bad_Name\n", 1)), 422, []string{"spec.bucketName: use lower-case letters"}},
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
		lacks(t, conflict, "Somebody else changed invoices while you edited it.", "both will hold", "Changed by them", "Tags, cost", "Changed by you", "Versioning")
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
	if nested(f.objects[0], "spec", "versioning") != "Suspended" || nested(f.objects[0], "spec", "tags", "cost") != "7" {
		t.Errorf("both changes made %v", f.objects[0].Object["spec"])
	}
}

func TestWhereBothChangedTheSameTheUserChooses(t *testing.T) {
	const input = "take /spec/versioning"
	for _, c := range []struct{ take, want string }{{"mine", "Suspended"}, {"theirs", "Disabled"}} {
		f := busySite(t)
		page := visit(t, f, developer, editing1).Body.String()
		theirs(f, "Disabled", "spec", "versioning")
		conflict := post(t, f, editing1, pressing(t, page, "review", "spec.versioning", "Suspended", "spec.tags[0].value", "9")).Body.String()
		lacks(t, conflict, "Changed by both", "When you began: <code>Enabled</code>", "<code>Disabled</code>", "<code>Suspended</code>", "Tags, cost")
		undecided := post(t, f, editing1, pressing(t, conflict, "merge"))
		if undecided.Code != 422 {
			t.Errorf("without a choice it answers %d", undecided.Code)
		}
		lacks(t, undecided.Body.String(), "Choose one of the two.")
		w := post(t, f, editing1, pressing(t, undecided.Body.String(), "merge", input, c.take))
		w = post(t, f, editing1, pressing(t, w.Body.String(), "create"))
		if w.Code != 303 || nested(f.objects[0], "spec", "versioning") != c.want || nested(f.objects[0], "spec", "tags", "cost") != "9" {
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
	lacks(t, gone, "invoices was deleted while you edited it.", "Request it anew", `action="/teams/payments/new/s3buckets"`)
	lacks(t, post(t, f, ask, pressing(t, gone, "form")).Body.String(), ` value="invoices"`, `<option value="Suspended" selected>`)
	f.denied = []string{"create payments"}
	if again := post(t, f, editing1, pressing(t, page, "review")).Body.String(); strings.Contains(again, "Request it anew") {
		t.Error("who may not request it is told to")
	}
	f.objects = append(f.objects, object(t, strings.Replace(readyBucket, "{name: invoices,", "{name: invoices, uid: other,", 1)))
	lacks(t, post(t, f, editing1, pressing(t, page, "review")).Body.String(), "It was deleted and made anew under the same name.")
}

func TestOnlyThoseWhoMayUpdateEdit(t *testing.T) {
	f := hostnameSite(t)
	f.objects = append(f.objects, busySite(t).objects...)
	f.spaces = append(f.spaces, "portico-gateways")
	for path, words := range map[string]string{
		editing1:                  "Edit invoices",
		atHostnames + "shop/edit": "A hostname request does not change",
		"/teams/portico-gateways/poolgateways/gw-00/edit": "There is no such page",
		"/teams/payments/s3buckets/none/edit":             "It does not exist",
	} {
		lacks(t, visit(t, f, admin, path).Body.String(), words)
	}
	for path, want := range map[string]bool{atInvoices: true, atHostnames + "shop": false, "/teams/portico-gateways/poolgateways/gw-00": false} {
		if got := strings.Contains(visit(t, f, admin, path).Body.String(), `href="`+path+`/edit"`); got != want {
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
