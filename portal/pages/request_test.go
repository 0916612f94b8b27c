package pages

import (
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/portal/cluster/teams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ask = "/teams/payments/new/s3buckets"

func filled(do string, more ...string) url.Values {
	v := url.Values{"do": {do}, "metadata.name": {"reports"}, "spec.providerRef.name": {"aws-prod"}}
	for i := 0; i < len(more); i += 2 {
		v.Set(more[i], more[i+1])
	}
	return v
}

func TestRequest(t *testing.T) {
	for _, c := range []struct {
		name   string
		form   url.Values
		status int
		words  []string
	}{
		{
			"review shows what is filled in", filled("review"), 200,
			[]string{"Looks good.", "deletionPolicy: Delete", "unencrypted uploads are refused", "Request it"},
		},
		{
			"a refused value stands beside its input, and is kept", filled("review", "spec.bucketName", "Bad_Name"),
			422,
			[]string{
				`id="f-spec-bucketName-error"`, `value="Bad_Name"`, `aria-invalid="true"`,
				`href="#f-spec-bucketName"`, "1 problem",
			},
		},
		{
			"what is no number is kept as it was typed", filled("review", "spec.lifecycleRules[0]", "{}",
				"spec.lifecycleRules[0].expirationDays", "soon"), 422,
			[]string{`value="soon"`, "Must be a whole number", "Lifecycle rule 1, Expiration days"},
		},
		{"a name is needed", url.Values{"do": {"review"}}, 422, []string{`href="#f-metadata-name"`}},
		{"a name that is taken", filled("review", "metadata.name", "invoices"), 409, []string{"Is taken", `id="f-metadata-name-error"`}},
		{"a row more", filled("add spec.tags"), 200, []string{`name="spec.tags[0].key"`, `value="reports"`}},
		{
			"a row less", filled("remove spec.tags[0]", "spec.tags[0].key", "a", "spec.tags[1].key", "b"), 200,
			[]string{`name="spec.tags[0].key" value="b"`},
		},
		{"to YAML", filled("yaml", "spec.bucketName", "my-bucket"), 200, []string{`<textarea id="yaml"`, "bucketName: my-bucket"}},
		{
			"YAML keeps nothing from a form that cannot be read",
			filled("yaml", "spec.corsRules[0].maxAgeSeconds", "x"), 200,
			[]string{`value="x"`, "Must be a whole number"},
		},
		{
			"back to the form, with what it has no input for",
			url.Values{"do": {"form"}, "yaml": {"metadata: {name: r, labels: {a: b}}\nspec: {bucketName: my-bucket}"}},
			200,
			[]string{`value="my-bucket"`, `name="base"`},
		},
		{"what it has no input for is damaged", filled("review", "base", "a: ["), 422, []string{"What the form does not show could not be read"}},
		{"YAML that is none", url.Values{"do": {"review"}, "yaml": {"a: [\n"}}, 422, []string{"not valid YAML", "a: ["}},
		{
			"YAML for another team",
			url.Values{"do": {"review"}, "yaml": {"metadata: {name: x, namespace: search}"}},
			422,
			[]string{"metadata.namespace: must be payments"},
		},
		{"reviewed YAML is compared line by line, whatever ends its lines", url.Values{
			"do":   {"review"},
			"yaml": {"metadata:\r\n  name: x\r\nspec:\r\n  providerRef: {name: aws-prod}\r\n"},
		}, 200, []string{"<span>  apiVersion: portico.dev/v1alpha1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := post(t, busySite(t), ask, c.form)
			if w.Code != c.status {
				t.Errorf("answers %d, want %d", w.Code, c.status)
			}
			for _, words := range c.words {
				if !strings.Contains(w.Body.String(), words) {
					t.Errorf("the page lacks %q:\n%s", words, w.Body)
				}
			}
		})
	}
}

// TestWhatIsNotTakenIsSaid by the review, for YAML from any source.
func TestWhatIsNotTakenIsSaid(t *testing.T) {
	const text = `
metadata: {name: x, uid: u, finalizers: [mine/hold], ownerReferences: [{name: o}], annotations: {portico.dev/requested-by: me, mine: "1"}, labels: {a: b}, managedFields: []}
spec: {providerRef: {name: aws-prod}}
status: {phase: Ready}
`
	const said = "Not taken from your YAML: metadata.annotations[portico.dev/requested-by], metadata.finalizers, " +
		"metadata.ownerReferences, metadata.uid, status."
	f := busySite(t)
	typed := url.Values{"do": {"form"}, "yaml": {text}}
	form := post(t, f, ask, typed).Body.String()
	lacks(t, post(t, f, ask, pressing(t, form, "review")).Body.String(), said)
	typed.Set("do", "review")
	lacks(t, post(t, f, ask, typed).Body.String(), said)
}

func TestCreateLeadsToTheResource(t *testing.T) {
	f := busySite(t)
	w := post(t, f, ask, url.Values{
		"do": {"create"}, "yaml": {"metadata: {name: reports}\nspec: {providerRef: {name: aws-prod}}"},
	})
	if at := w.Header().Get("Location"); w.Code != 303 || at != "/teams/payments/s3buckets/reports" {
		t.Fatalf("answers %d to %q:\n%s", w.Code, at, w.Body)
	}
	if got := f.objects[len(f.objects)-1]; got.GetNamespace() != "payments" || got.GetName() != "reports" {
		t.Errorf("made %s/%s", got.GetNamespace(), got.GetName())
	}
	if w := post(t, f, ask, filled("review", "metadata.name", "other")); f.dryRuns != 1 || w.Code != 200 {
		t.Errorf("a review must be one dry run, was %d", f.dryRuns)
	}
}

func TestOnlyAllowedProvidersAreOffered(t *testing.T) {
	f := busySite(t)
	f.open = nil
	if html := visit(t, f, developer, ask).Body.String(); !strings.Contains(
		html, "No AWS account is open to payments yet") {
		t.Error("a team without an account is not told")
	}
	f.open = []teams.Provider{{Name: "one", Ready: true}, {Name: "two"}}
	html := visit(t, f, developer, ask).Body.String()
	if !strings.Contains(html, `<option value="two">two (not ready)`) ||
		strings.Contains(html, `value="one" selected`) {
		t.Error("two accounts must both be offered, neither chosen")
	}
	f.defaults = v1alpha1.TeamDefaults{Provider: "two", DeletionPolicy: v1alpha1.DeletionRetain}
	html = visit(t, f, developer, ask).Body.String()
	for _, words := range []string{`<option value="two" selected>two (not ready)`, `<option value="Retain" selected>`} {
		if !strings.Contains(html, words) {
			t.Errorf("the form of a team with defaults lacks %q", words)
		}
	}
}

func TestDelete(t *testing.T) {
	path := "/teams/payments/s3buckets/invoices/delete"
	for _, c := range []struct {
		name   string
		form   url.Values
		status int
		words  string
		left   bool
	}{
		{"the wrong name", url.Values{"uid": {"uid-invoices"}, "name": {"invoice"}}, 422, "Type the name exactly", true},
		{"no name", url.Values{"uid": {"uid-invoices"}}, 422, "Type the name exactly", true},
		{"another resource with the same name", url.Values{"uid": {"older"}, "name": {"invoices"}}, 409, "another resource with the same name", true},
		{"the right name", url.Values{"uid": {"uid-invoices"}, "name": {"invoices"}}, 303, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := busySite(t)
			before := len(f.objects)
			w := post(t, f, path, c.form)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.words) {
				t.Errorf("answers %d, want %d with %q:\n%s", w.Code, c.status, c.words, w.Body)
			}
			if left := len(f.objects) == before; left != c.left {
				t.Errorf("left alone: %v, want %v", left, c.left)
			}
		})
	}
}

func TestActionsSetAnnotations(t *testing.T) {
	f := busySite(t)
	at := "/teams/payments/s3buckets/invoices/"
	for action, want := range map[string]string{
		"pause": "portico.dev/paused", "reconcile": "portico.dev/reconcile-requested-at",
	} {
		if w := post(t, f, at+action, nil); w.Code != 303 || f.objects[0].GetAnnotations()[want] == "" {
			t.Errorf("%s answers %d and leaves %v", action, w.Code, f.objects[0].GetAnnotations())
		}
	}
	if post(t, f, at+"resume", nil); f.objects[0].GetAnnotations()["portico.dev/paused"] != "" {
		t.Error("resume leaves it paused")
	}
	if w := post(t, f, at+"nonsense", nil); w.Code != 404 {
		t.Errorf("an unknown action answers %d", w.Code)
	}
	f.denied = []string{"patch payments"}
	if w := post(t, f, at+"pause", nil); w.Code != 403 {
		t.Errorf("without the right to patch it answers %d", w.Code)
	}
	if html := visit(t, f, developer, at[:len(at)-1]).Body.String(); strings.Contains(html, "/pause") {
		t.Error("the button is there without the right")
	}
}
