package catalog

import (
	"strings"
	"testing"
)

func TestSpacesThatAreNoneToYAMLAreNamed(t *testing.T) {
	kind, ok := load(t).ByName("S3Bucket")
	if !ok {
		t.Fatal("no kind")
	}
	for text, want := range map[string]string{
		"metadata:\n  name: x\nspec:\n\tbucketName: x": "line 4 begins with a tab: YAML indents with spaces",
		"metadata:\n  name: x\nspec:\n  \tbucketName: x\n": "line 4 has a tab in its indentation: YAML indents " +
			"with spaces",
		"metadata:\r\n  name: x\r\nspec:\r\n\tbucketName: x": "line 4 begins with a tab",
		"metadata:\n  name: x\nspec:\n\u00a0\u00a0bucketName: x": "line 4 is indented with a no-break space " +
			"(U+00A0), which only looks like a space: type spaces in its place",
		"metadata:\n  name: x\nspec:\n  \u00a0bucketName: x": "line 4 is indented with a no-break space (U+00A0)",
		"metadata:\n  name: x\nspec:\n  bucketName:\u00a0x":  `line 4 has a no-break space (U+00A0) after "bucketName:"`,
		"metadata:\n  name:\u00a0x":                          `line 2 has a no-break space (U+00A0) after "name:"`,
		"\u3000metadata: {name: x}":                          "line 1 is indented with the character U+3000",
		"metadata: {name: x":                                 "did not find expected ',' or '}'",
		"just words":                                         "begin with apiVersion",
	} {
		_, err := kind.ParseYAML([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{
		"metadata: {name: x}\nspec:\n  policy: |\n    a\n    \u00a0b\tc\n",
		"metadata: {name: x}\nspec: {tags: {\"a\u00a0b\": \"\u00a0\"}}\n",
		"metadata: {name: x}\nspec:\n  bucketName: \"a\u00a0b\"\n",
	} {
		if _, err := kind.ParseYAML([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCommentsAreFound(t *testing.T) {
	for text, want := range map[string]bool{
		"a: b":                 false,
		"a: 'b # c'":           false,
		"a: |\n  # text\n":     false,
		"# head\na: b":         true,
		"a: b # line":          true,
		"a:\n- b\n# foot\n":    true,
		"a:\n  b:\n  - c # it": true,
		"a: [":                 false,
		"":                     false,
	} {
		if got := HasComments([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
