package architecture

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// step matches a row of a walk in docs/architecture.md: a file, and a function or method in it.
var step = regexp.MustCompile("(?m)^\\| \\d+ \\| `([^`]+\\.go)` \\| `([^`]+)` \\|")

// TestTheWalksOfTheDocsExist checks that each step of docs/architecture.md is a file and a function of the tree.
func TestTheWalksOfTheDocsExist(t *testing.T) {
	functions := map[string]bool{}
	for _, s := range sources(t) {
		for _, decl := range s.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				functions[s.path+" "+receiver(f)+f.Name.Name] = true
			}
		}
	}
	page := read(t, "docs/architecture.md")
	steps := step.FindAllStringSubmatch(page, -1)
	if walks := strings.Count(page, "\n| 1 | "); walks < 4 || len(steps) < 5*walks {
		t.Fatalf("%d steps of %d walks were found", len(steps), walks)
	}
	for _, s := range steps {
		if !functions[s[1]+" "+s[2]] {
			t.Errorf("there is no %s in %s", s[2], s[1])
		}
	}
}

// receiver returns the receiver type of a method followed by a dot, as in Cluster.Patch, or "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name + "."
		default:
			return ""
		}
	}
}
