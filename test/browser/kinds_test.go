//go:build browser

package browser

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/portico-platform/portico/config/catalog/kinds"
	"github.com/portico-platform/portico/config/crd"
	"github.com/portico-platform/portico/config/samples"
)

// elsewhere are the kinds that need more than their sample to become Ready, with the test that requests one in the
// browser.
var elsewhere = map[string]string{
	"GatewayHostnameRequest": "TestHostnameIsAskedForAndLookedAfter",
	"DatabaseUser":           "TestADatabaseUserIsRequestedInTheBrowser",
	"AccessBinding":          "TestAPermissionIsRequestedInTheBrowser",
}

// requested returns the CRDs of the kinds that teams request.
func requested(t *testing.T) (all []apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	crds, err := crd.All()
	if err != nil {
		t.Fatal(err)
	}
	for i := range crds {
		if kinds.Requested(&crds[i]) && elsewhere[crds[i].Spec.Names.Kind] == "" {
			all = append(all, crds[i])
		}
	}
	return all
}

// sampleOf returns the spec of the kind's sample.
func sampleOf(t *testing.T, kind string) map[string]any {
	t.Helper()
	text, err := samples.Files.ReadFile(strings.ToLower(kind) + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n---\n")
	var object struct{ Spec map[string]any }
	if err := yaml.Unmarshal([]byte(first), &object); err != nil {
		t.Fatal(err)
	}
	return object.Spec
}

// prefix matches the AWS service in a kind's name and one more letter, such as S3B of S3Bucket.
var prefix = regexp.MustCompile(`^[A-Z0-9]+[A-Z]`)

// shown returns a text that the page of a Ready resource contains.
func shown(kind, name string, spec map[string]any) string {
	if spec["providerRef"] == nil {
		return name
	}
	capitals := prefix.FindString(kind)
	return "arn:aws:" + strings.ToLower(capitals[:len(capitals)-1])
}

// TestEveryKindIsRequestedInTheBrowser requests each kind with the fields of its sample, except lists and groups of
// fields, and watches it become Ready.
func TestEveryKindIsRequestedInTheBrowser(t *testing.T) {
	for _, kind := range requested(t) {
		plural := kind.Spec.Names.Plural
		t.Run(plural, func(t *testing.T) {
			spec, name := sampleOf(t, kind.Spec.Names.Kind), "every-"+plural
			x := open(t)
			x.signIn("payments-dev", "payments")
			x.goTo("/teams/payments/catalog")
			x.click(`a[href="/teams/payments/new/` + plural + `"]`)
			x.awaitPath("/teams/payments/new/" + plural)
			x.every("form-" + plural)
			x.fill(`[name="metadata.name"]`, name)
			for _, field := range slices.Sorted(maps.Keys(spec)) {
				switch value := spec[field].(type) {
				case map[string]any, []any:
				default:
					x.do(chromedp.SetValue(chromedp.CSS(`[name="spec.`+field+`"]`), fmt.Sprint(value)))
				}
			}
			x.click(`.go button[value="review"]`)
			x.await(`main`, "Looks good.")
			x.click(`button[value="create"]`)
			x.awaitPath("/teams/payments/" + plural + "/" + name)
			x.mark()
			x.await(`#status`, "Ready")
			x.still()
			x.await(`#body`, shown(kind.Spec.Names.Kind, name, spec))
			x.every("detail-" + plural)
			x.discards(plural, name)
		})
	}
}

// discards deletes a resource on its page.
func (x *tab) discards(plural, name string) {
	x.t.Helper()
	x.goTo("/teams/payments/" + plural + "/" + name + "/delete")
	x.fill(`#typed`, name)
	x.click(`.go button`)
	x.awaitPath(list)
	x.awaitGone(`[id="r-` + plural + `-` + name + `"]`) // a plural of others has dots
}
