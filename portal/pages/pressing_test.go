package pages

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// formOn returns what a browser would post from the page's form, without the button.
func formOn(t *testing.T, page string) url.Values {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	form, main := url.Values{}, false
	for n := range root.Descendants() {
		main = main || n.Data == "main"
		if name := attribute(n, "name"); main && name != "" {
			for _, v := range posted(n) {
				form.Add(name, v)
			}
		}
	}
	return form
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
}

// posted returns the values that a browser posts for a text input or textarea, with the line breaks that it keeps.
func posted(n *html.Node) []string {
	switch n.Data {
	case "input":
		switch kind := attribute(n, "type"); {
		case (kind == "radio" || kind == "checkbox") && !has(n, "checked"):
			return nil
		case kind == "" || kind == "text":
			return []string{strings.NewReplacer("\r", "", "\n", "").Replace(attribute(n, "value"))}
		default:
			return []string{strings.ReplaceAll(attribute(n, "value"), "\n", "\r\n")}
		}
	case "textarea":
		return []string{strings.ReplaceAll(textIn(n), "\n", "\r\n")}
	case "select":
		return []string{choiceOf(n)}
	}
	return nil
}

func textIn(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// choiceOf returns the last selected option, or else the first one.
func choiceOf(n *html.Node) string {
	first, chosen := "", ""
	found, begun := false, false
	for c := range n.Descendants() {
		if c.Data != "option" {
			continue
		}
		if !begun {
			first, begun = attribute(c, "value"), true
		}
		if has(c, "selected") {
			chosen, found = attribute(c, "value"), true
		}
	}
	if found {
		return chosen
	}
	return first
}

// pressing returns the posted form after pressing a button, with some inputs filled in.
func pressing(t *testing.T, page, do string, more ...string) url.Values {
	t.Helper()
	form := formOn(t, page)
	form.Set("do", do)
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

// theirs makes another user's change.
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
