package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

var focused = regexp.MustCompile(`<[^>]* autofocus[^>]*>`)

// TestTheFocusIsWhereOneGoesOn: in the added row, or in the list of the removed one.
func TestTheFocusIsWhereOneGoesOn(t *testing.T) {
	for do, want := range map[string]string{
		"add spec.env": ` id="f-spec-env-1-name"`, "remove spec.env[0]": ` id="f-spec-env"`,
		"remove spec.env[7]":              ` id="f-spec-env"`,
		"add spec.bindings":               ` id="f-spec-bindings-0-kind"`,
		"add spec.envFrom":                ` id="f-spec-envFrom-0-secretRef-name"`,
		"remove spec.imagePullSecrets[0]": ` id="f-spec-imagePullSecrets"`,
		"preview":                         "", "add spec.nonsense": "", "remove spec.nonsense[0]": "", "remove ": "",
	} {
		html := post(t, newFake(t), askApp, app(do, "spec.env[0].name", "A")).Body.String()
		got := focused.FindAllString(html, -1)
		rows := 1
		if want == "" {
			rows = 0
		}
		if len(got) != rows || !strings.Contains(strings.Join(got, ""), want) {
			t.Errorf("%s puts the focus on %q, want %q", do, got, want)
		}
		if advanced := strings.Contains(do, "envFrom") ||
			strings.Contains(do, "imagePull"); advanced != strings.Contains(html, `<details class="more" open>`) {
			t.Errorf("%s: the settings with the list are unfolded: %v", do, !advanced)
		}
	}
	if got := focused.FindString(post(t, busySite(t), ask, filled("add spec.tags")).Body.String()); !strings.Contains(
		got, `id="f-spec-tags-0-key"`) {
		t.Errorf("a pair that is added does not have the focus, but %q", got)
	}
}

// TestFewInputsMakeSmallPages: the size of a response depends on the number of inputs, not on the indices in their
// names.
func TestFewInputsMakeSmallPages(t *testing.T) {
	const small = 1 << 20
	f := busySite(t)
	gaps := filled("", "spec.lifecycleRules[199].transitions[199].days", "1",
		"spec.lifecycleRules[7].transitions[3].days", "2")
	w := post(t, f, ask, gaps)
	for _, want := range []string{
		`name="spec.lifecycleRules[0].transitions[0].days"`,
		`name="spec.lifecycleRules[1].transitions[0].days"`,
	} {
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("answers %d, without %s", w.Code, want)
		}
	}
	if strings.Contains(w.Body.String(), "lifecycleRules[2]") || strings.Contains(w.Body.String(), "transitions[1]") ||
		w.Body.Len() > small {
		t.Errorf("two rows make a page of %d bytes with more of them", w.Body.Len())
	}

	square := filled("")
	for i := range 199 {
		square.Set(fmt.Sprintf("spec.lifecycleRules[%d].prefix", i), "x")
		square.Set(fmt.Sprintf("spec.lifecycleRules[%d].transitions[198].days", i), "1")
	}
	inner := filled("")
	for i := range 99 {
		for j := range 6 {
			inner.Set(fmt.Sprintf("spec.lifecycleRules[%d].transitions[%d].days", i, 100+j), "1")
		}
	}
	tags := filled("")
	for i := range 35 {
		tags.Set(fmt.Sprintf("spec.tags[%d].key", 900+i), fmt.Sprint(i))
	}
	for name, c := range map[string]struct {
		form url.Values
		want string
	}{
		"199 rows, each with a row 198":    {square, "Lifecycle rules takes 100 rows at most"},
		"many rows in allowed lists":       {inner, "A form takes 500 rows over all lists"},
		"a row more than the schema takes": {tags, "Tags takes 34 rows at most"},
	} {
		w := post(t, f, ask, c.form)
		if w.Code != 422 || !strings.Contains(w.Body.String(), c.want) || w.Body.Len() > small {
			t.Errorf("%s: answers %d with %d bytes, want %q", name, w.Code, w.Body.Len(), c.want)
		}
	}
}

func TestFullListsStayAsTheyAre(t *testing.T) {
	tags := filled("add spec.tags")
	for i := range 34 {
		tags.Set(fmt.Sprintf("spec.tags[%d].key", i), fmt.Sprint(i))
	}
	w := post(t, busySite(t), ask, tags)
	answers(t, w, http.StatusUnprocessableEntity, `href="#f-spec-tags"`, "spec.tags[34]")
	lacks(t, w.Body.String(), "Tags takes 34 rows at most", `name="spec.tags[33].key" value="33"`)
	long := "metadata: {name: x}\nspec:\n  tags:\n"
	for i := range 35 {
		long += fmt.Sprintf("    k%d: v\n", i)
	}
	w = post(t, busySite(t), ask, url.Values{"do": {"form"}, "yaml": {long}})
	if body := w.Body.String(); !strings.Contains(body, "k34: v") || !strings.Contains(body, `<textarea id="yaml"`) ||
		!strings.Contains(body, "Tags takes 34 rows at most") {
		t.Errorf("YAML with more rows than a form shows is lost:\n%s", body)
	}
}
