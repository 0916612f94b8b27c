package commands

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/portico-platform/portico/portal/catalog/catalogtest"
	"github.com/portico-platform/portico/web/views"
)

// TestPorticoComesFirst checks that the portico command is shown before those of kubectl and curl.
func TestPorticoComesFirst(t *testing.T) {
	kinds := catalogtest.Kinds(t)
	bucket, _ := kinds.ByName("S3Bucket")
	app, _ := kinds.ByName("WebApp")
	provider, _ := kinds.ByName("AWSProvider")
	at := Target{Kind: bucket, Namespace: "payments", Name: "reports"}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"versioning": "Enabled"}}}
	create, err := Create(bucket, "payments", "spec: {}\n", "https://portal.example.com")
	if err != nil {
		t.Fatal(err)
	}
	edit, err := Edit(at, `"u-1"`, obj, obj, "spec: {}\n", "https://portal.example.com")
	if err != nil {
		t.Fatal(err)
	}
	change, err := Change(at, `"u-1"`, obj, "https://portal.example.com")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		all  []views.Command
		want string
	}{
		"asking for one":               {create, "portico apply -f - <<'END'\nspec: {}\nEND\n"},
		"editing one":                  {edit, "portico apply -f - <<'END'\nspec: {}\nEND\n"},
		"looking at one":               {Show(at, "https://portal.example.com"), "portico get bucket reports -n payments -o yaml"},
		"changing one":                 {change, "portico edit bucket reports -n payments"},
		"a kind of two words":          {Show(Target{Kind: app, Namespace: "payments", Name: "shop"}, ""), "portico wait web-app shop -n payments"},
		"what belongs to no namespace": {Show(Target{Kind: provider, Name: "aws"}, ""), "portico wait aws-account aws"},
	} {
		first, others, found := "", false, false
		for _, c := range c.all {
			words := strings.Fields(c.Text)[0]
			known := slices.Contains([]string{"portico", "kubectl", "curl"}, words)
			if first == "" && known {
				first = words
			}
			others = others || words != "portico"
		}
		for _, one := range c.all {
			found = found || one.Text == c.want
		}
		if first != "portico" || !others || !found {
			t.Errorf("%s: %q comes first, want %q among %+v", name, first, c.want, c.all)
		}
	}
}
