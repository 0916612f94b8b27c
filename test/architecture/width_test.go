package architecture

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const maxWidth = 120 // columns; a tab is four

// unbreakable matches what has to stay on one line: URLs, directives, markers and struct tags.
var unbreakable = regexp.MustCompile("://|^\\s*//(go:| \\+kubebuilder:)|//nolint|`[a-z]+:\"")

// TestLinesAreNarrow limits the width of lines. Long words such as URLs, markers, raw strings and rows of tables may be
// wider.
func TestLinesAreNarrow(t *testing.T) {
	for _, s := range sources(t) {
		text, err := os.ReadFile(filepath.Join(root, s.path))
		if err != nil {
			t.Fatal(err)
		}
		var exempt map[int]bool
		for i, line := range strings.Split(string(text), "\n") {
			width := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
			if width <= maxWidth || unbreakable.MatchString(line) {
				continue
			}
			if exempt == nil {
				exempt = s.wideLines()
			}
			if !exempt[i+1] {
				t.Errorf("%s:%d is wider than %d columns: %.60s", s.path, i+1, maxWidth, strings.TrimSpace(line))
			}
		}
	}
}

// wideLines returns the lines that may be wide: those of raw strings, and rows of tables, which are elements of a
// composite literal on a line of their own, and constants of a group with what they mean.
func (s source) wideLines() map[int]bool {
	lines := map[int]bool{}
	add := func(n ast.Node) {
		for line := s.line(n.Pos()); line <= s.line(n.End()); line++ {
			lines[line] = true
		}
	}
	ast.Inspect(s.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && (n.Value[0] == '`' || hasLongWord(n.Value)) {
				add(n)
			}
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok && n.Lparen.IsValid() && value.Comment != nil {
					add(spec)
				}
			}
		case *ast.CompositeLit:
			for _, element := range n.Elts {
				if s.isRow(n, element) {
					add(element)
				}
			}
		}
		return true
	})
	return lines
}

// hasLongWord reports whether the text has a word that fills half a line: a query, an ARN, XML.
func hasLongWord(text string) bool {
	return slices.ContainsFunc(strings.Fields(text), func(word string) bool { return len(word) > maxWidth/2 })
}

// isRow reports whether the element of a literal is an entry of a map or a literal, and has a line of its own.
func (s source) isRow(literal *ast.CompositeLit, element ast.Expr) bool {
	_, row := element.(*ast.CompositeLit)
	if pair, ok := element.(*ast.KeyValueExpr); ok {
		_, named := pair.Key.(*ast.BasicLit) // not a field
		_, nested := pair.Value.(*ast.CompositeLit)
		row = named || nested
	}
	return row && s.line(element.Pos()) == s.line(element.End()) && s.line(element.Pos()) > s.line(literal.Lbrace) &&
		s.line(element.End()) < s.line(literal.Rbrace)
}
