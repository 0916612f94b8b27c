package page

import (
	"net/url"
	"strings"
	"testing"
)

// TestASearchIsCut: every list of a page is compared with it.
func TestASearchIsCut(t *testing.T) {
	for text, want := range map[string]string{" " + "shop": "shop", strings.Repeat("é", 5*maxSearch): strings.Repeat(
		"é", maxSearch)} {
		if got := Search(url.Values{"q": {text}}); got != want {
			t.Errorf("%d characters become %d", len([]rune(text)), len([]rune(got)))
		}
	}
}
