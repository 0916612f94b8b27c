package auth

import (
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestThePortalTakesThePublicURLsOfTheChart reads the table of TestTheHostIsInLowerCase, which tests that the chart
// renders those.
func TestThePortalTakesThePublicURLsOfTheChart(t *testing.T) {
	text, err := os.ReadFile("../../test/chart/testdata/public-urls.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var urls map[string]string
	if err := yaml.UnmarshalStrict(text, &urls); err != nil || len(urls) == 0 {
		t.Fatal(err)
	}
	refused := 0
	for given, rendered := range urls {
		if err := checkPublicURL(rendered); err != nil {
			t.Errorf("%s becomes what the portal does not take: %v", given, err)
		}
		if checkPublicURL(given) != nil {
			refused++
		}
	}
	if refused == 0 {
		t.Error("the portal takes all of them as they are")
	}
}
