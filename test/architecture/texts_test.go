package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// stringsIn returns the texts of string literals below a node, in their order, except below nodes for which skip
// returns true. Literals that a sum joins are one text: long ones are divided between lines.
func stringsIn(n ast.Node, skip func(ast.Node) bool) (texts []string) {
	done := map[ast.Node]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil || skip != nil && skip(n) {
			return false
		}
		if e, ok := n.(ast.Expr); ok && !done[n] {
			texts = append(texts, joined(e, done)...)
		}
		return true
	})
	return texts
}

// joined returns the texts of a string literal, or of a sum that adds string literals. It adds to done what it has
// read.
func joined(e ast.Expr, done map[ast.Node]bool) (texts []string) {
	next := false // whether the operand before was a literal
	for _, operand := range operands(e, done) {
		literal, ok := operand.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			next = false
			continue
		}
		done[literal] = true
		text, _ := strconv.Unquote(literal.Value) // the parser has read it
		if next {
			texts[len(texts)-1] += text
		} else {
			texts = append(texts, text)
		}
		next = true
	}
	return texts
}

// operands returns what a sum adds, or e itself. It adds the sum, and sums within it, to done.
func operands(e ast.Expr, done map[ast.Node]bool) []ast.Expr {
	sum, ok := e.(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD {
		return []ast.Expr{e}
	}
	done[sum] = true
	return append(operands(sum.X, done), operands(sum.Y, done)...)
}

func TestDividedTextsAreJoined(t *testing.T) {
	const code = "package a; var b = c(d(`x `+`y`), e+`1 `+\n`2`+f(`z`)+`3`)"
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", code, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := stringsIn(file, nil)
	if want := []string{"x y", "1 2", "3", "z"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
