package pages

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestCommentsAreNotLostWithoutAWord: switching from YAML to the form needs a confirmation by another button.
func TestCommentsAreNotLostWithoutAWord(t *testing.T) {
	const (
		plain     = "metadata: {name: x}\nspec: {image: r/x:1}\n"
		commented = "metadata: {name: x} # ours\nspec: {image: r/x:1}\n"
	)
	const question, field = "The form keeps no comments", `name="spec.image"`
	for name, c := range map[string]struct {
		do, yaml     string
		has, without string
	}{
		"no comments":          {"form", plain, field, question},
		"comments":             {"form", commented, question, field},
		"comments, and a word": {"form plain", commented, field, question},
		"to the review":        {"review", commented, "r/x:1", question},
		"YAML that is broken":  {"form", "a: [ # b", "this is not valid YAML", question},
	} {
		w := post(t, newFake(t), askApp, url.Values{"do": {c.do}, "yaml": {c.yaml}})
		body := w.Body.String()
		lacks(t, body, c.has)
		if c.has == question {
			lacks(t, body, "# ours", `value="form plain"`)
		}
		if strings.Contains(body, c.without) {
			t.Errorf("%s: the page says %q", name, c.without)
		}
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}
