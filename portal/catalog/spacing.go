package catalog

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	yamltree "go.yaml.in/yaml/v3"
)

// HasComments reports whether YAML has comments, which objects do not keep; false for invalid YAML.
func HasComments(b []byte) bool {
	var tree yamltree.Node
	return yamltree.Unmarshal(b, &tree) == nil && commented(&tree, 0)
}

func commented(n *yamltree.Node, depth int) bool {
	if n.HeadComment != "" || n.LineComment != "" || n.FootComment != "" {
		return true
	}
	if depth > maxDepth {
		return false
	}
	for _, c := range n.Content {
		if commented(c, depth+1) {
			return true
		}
	}
	return false
}

// afterMark matches a character where YAML requires a space: after the colon of a key or the hyphen of an entry.
var afterMark = regexp.MustCompile(`^\s*(?:- )*(?:-|[\w./"'-]+:)(\S)`)

// misspaced returns an error, as a sentence, about the first line that is indented or separated with a character that
// looks like a space and is none to YAML, or nil. Most of these come from editors and copied pages. It is for invalid
// texts only: within a multi-line string such characters are fine.
func misspaced(b []byte) error {
	n := 0
	for line := range bytes.Lines(b) {
		n++
		text := strings.TrimRight(string(line), "\r\n")
		indent := text[:len(text)-len(strings.TrimLeftFunc(text, unicode.IsSpace))]
		if indent == text { // it is empty
			continue
		}
		if strings.Contains(indent, "\t") {
			if indent[0] == '\t' {
				return fmt.Errorf("line %d begins with a tab: YAML indents with spaces", n)
			}
			return fmt.Errorf("line %d has a tab in its indentation: YAML indents with spaces", n)
		}
		if i := strings.IndexFunc(indent, foreign); i >= 0 {
			return fmt.Errorf("line %d is indented with %s, which only looks like a space: type spaces in its place",
				n, character(indent[i:]))
		}
		if m := afterMark.FindStringSubmatchIndex(text); m != nil && foreign(first(text[m[2]:])) {
			return fmt.Errorf("line %d has %s after %q, which only looks like a space: type a space in its place",
				n, character(text[m[2]:]), strings.TrimSpace(text[:m[2]]))
		}
	}
	return nil
}

// foreign reports whether a character looks like a space and is none to YAML.
func foreign(r rune) bool {
	return r != ' ' && r != '\t' && unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff'
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func character(s string) string {
	if r := first(s); r != '\u00a0' {
		return fmt.Sprintf("the character U+%04X", r)
	}
	return "a no-break space (U+00A0)"
}

// foreignKey reports whether a key at any depth begins with a character that looks like a space: YAML parses a line
// that is indented with it so.
func foreignKey(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if foreign(first(key)) || foreignKey(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, foreignKey)
	}
	return false
}
