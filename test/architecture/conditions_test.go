package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// maxJoins is the number of operators && and || in a condition of a test.
const maxJoins = 2

// TestConditionsOfTestsAreShort limits what an if and a case of a test decide on at once, so that a failure says which
// fact broke, and requires that one which joins more than two facts reports values.
func TestConditionsOfTestsAreShort(t *testing.T) {
	for _, s := range sources(t) {
		if !s.isTest() {
			continue
		}
		for _, fault := range s.longConditions() {
			t.Error(fault)
		}
	}
}

// longConditions returns the faults of the conditions of a file.
func (s source) longConditions() (faults []string) {
	check := func(body []ast.Stmt, conditions ...ast.Expr) {
		var fault string
		n := len(conditions) - 1 // a comma of a case is an ||
		for _, c := range conditions {
			n += joins(c)
		}
		switch {
		case n > maxJoins:
			fault = "the condition joins four facts or more: divide it, or compare one value with go-cmp"
		case n == maxJoins && saysNoValue(body):
			fault = "the message of three facts has no value: say what was got, and what was wanted"
		default:
			return
		}
		faults = append(faults, fmt.Sprintf("%s:%d: %s", s.path, s.line(conditions[0].Pos()), fault))
	}
	ast.Inspect(s.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			check(n.Body.List, n.Cond)
		case *ast.SwitchStmt:
			for _, clause := range n.Body.List {
				if c := clause.(*ast.CaseClause); n.Tag == nil && c.List != nil {
					check(c.Body, c.List...)
				}
			}
		}
		return true
	})
	return faults
}

// joins counts the operators && and || of a condition, without those in arguments of calls.
func joins(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return joins(e.X)
	case *ast.UnaryExpr:
		return joins(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.LAND || e.Op == token.LOR {
			return 1 + joins(e.X) + joins(e.Y)
		}
	}
	return 0
}

// saysNoValue reports whether all that the statements do is to fail a test with a constant text, as in
// t.Error("text").
func saysNoValue(body []ast.Stmt) bool {
	if len(body) != 1 {
		return false
	}
	statement, ok := body[0].(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := statement.X.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Error", "Errorf", "Fatal", "Fatalf"}, method.Sel.Name) {
		return false
	}
	_, constant := call.Args[0].(*ast.BasicLit)
	return constant
}

// TestLongConditionsAreFound checks the rule itself.
func TestLongConditionsAreFound(t *testing.T) {
	for text, want := range map[string]int{
		`if a != 1 || b != 2 || err != nil { t.Errorf("%d", a) }`:      0,
		`if a != 1 || b != 2 || err != nil || c { t.Errorf("%d", a) }`: 1,
		`if a && !(b || c && d) { t.Errorf("%d", a) }`:                 1,
		`switch { case a && b && c && d: }`:                            1,
		`switch { case a, b, c && d: default: }`:                       1,
		`switch a { case 1, 2, 3, 4: }`:                                0,
		`if a || b || c { t.Fatal("wrong") }`:                          1,
		`if a || b { t.Fatal("wrong") }`:                               0,
		`if a || f(b && c || d) { t.Fatal("wrong") }`:                  0,
		`for a && b && c && d { }`:                                     0,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "", "package p; func f() { "+text+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := (source{"", set, file}).longConditions(); len(got) != want {
			t.Errorf("%s: faults %q, want %d", text, got, want)
		}
	}
}
