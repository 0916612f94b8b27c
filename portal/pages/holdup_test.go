package pages

import (
	"strings"
	"testing"
)

// TestAReviewSaysWhatHoldsItUp: a draft that cannot become ready at present is not said to look good.
func TestAReviewSaysWhatHoldsItUp(t *testing.T) {
	const good, bad = "Looks good.", "It cannot become ready as things are."
	bound := func(name string) []string {
		return []string{"spec.bindings[0].kind", "S3Bucket", "spec.bindings[0].name", name}
	}
	for name, row := range map[string]struct {
		site   *fakeCluster
		inputs []string
		verdict,
		says string
	}{
		"all is there":      {busySite(t), bound("invoices"), good, ""},
		"it is not there":   {busySite(t), bound("nowhere"), bad, "It names the bucket nowhere, which is not there yet: it waits until somebody requests it."},
		"it is going":       {busySite(t), bound("import-tmp"), bad, "It names the bucket import-tmp, which is being deleted."},
		"nothing is named":  {busySite(t), nil, good, ""},
		"a hostile name":    {busySite(t), bound("a.b-c"), bad, "the bucket a.b-c"},
		"a hostname, twice": {busySite(t), []string{"spec.expose.hostname", "none", "spec.expose", "true"}, bad, "It names the hostname none"},
	} {
		page := post(t, row.site, askApp, app("review", row.inputs...)).Body.String()
		if !strings.Contains(page, row.verdict) || !strings.Contains(page, row.says) {
			t.Errorf("%s: the review lacks %q or %q:\n%s", name, row.verdict, row.says, page)
		}
		if strings.Contains(page, good) && strings.Contains(page, bad) {
			t.Errorf("%s: the review says %q and %q:\n%s", name, good, bad, page)
		}
	}
	bucket := filled("review", "spec.providerRef.name", "aws-other")
	page := post(t, busySite(t), ask, bucket).Body.String()
	if !strings.Contains(page, bad) ||
		!strings.Contains(page, "cannot use an AWS account aws-other: choose another one") {
		t.Errorf("an account that the team does not have: %s", page)
	}
	page = post(t, busySite(t), ask, filled("review", "spec.region", "ap-south-1")).Body.String()
	if !strings.Contains(page, bad) || !strings.Contains(page, "allows eu-west-1, and not ap-south-1.") {
		t.Errorf("a region that the account does not allow: %s", page)
	}
}

// TestANewBindingBeginsWithAUserOfItsOwn if the database supports it; YAML, and values that a user chose, stay.
func TestANewBindingBeginsWithAUserOfItsOwn(t *testing.T) {
	site := func() *fakeCluster {
		f := busySite(t)
		f.ownUsers = []string{"orders"}
		for _, name := range []string{"orders", "legacy"} {
			f.objects = append(f.objects,
				object(t, "apiVersion: portico.dev/v1alpha1\nkind: RDSInstance\nmetadata: {name: "+name+
					", namespace: payments}\nspec: {}"))
		}
		return f
	}
	bound := func(name string, more ...string) []string {
		return append([]string{"spec.bindings[0].kind", "RDSInstance", "spec.bindings[0].name", name}, more...)
	}
	for name, row := range map[string]struct {
		inputs []string
		says   string
	}{
		"where one can be made":    {bound("orders"), "signs in to the database orders as a user of its own"},
		"where none can":           {bound("legacy"), "signs in to the database legacy as its master user"},
		"who chose the master":     {bound("orders", "spec.bindings[0].user", "Master"), "signs in to the database orders as its master user"},
		"of more than one binding": {bound("legacy", "spec.bindings[1].kind", "RDSInstance", "spec.bindings[1].name", "orders"), "signs in to the database orders as a user of its own"},
	} {
		page := post(t, site(), askApp, app("review", row.inputs...)).Body.String()
		if !strings.Contains(page, row.says) {
			t.Errorf("%s: the review does not say %q: %s", name, row.says, page)
		}
	}
}
