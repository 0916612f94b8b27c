package pages

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
