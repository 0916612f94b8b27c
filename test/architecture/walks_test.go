package architecture

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step matches a row of a walk in docs/architecture.md: a file, and a function or method in it.
var step = regexp.MustCompile("(?m)^\\| \\d+ \\| `([^`]+\\.go)` \\| `([^`]+)` \\|")

// indexRow matches a row of the index in docs/where.md: a file, and a declaration of a Go file or a name in another
// file.
var indexRow = regexp.MustCompile("(?m)^\\| [^|]+ \\| `([^`]+)` \\| (?:`([^`]+)`|\\(([^)]+)\\)) \\|$")

// TestTheWalksOfTheDocsExist checks that each step of docs/architecture.md is a file and a function of the tree.
func TestTheWalksOfTheDocsExist(t *testing.T) {
	functions := map[string]bool{}
	for _, s := range sources(t) {
		for _, name := range s.functions() {
			functions[s.path+" "+name] = true
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

// TestWhatTheIndexNamesExists checks that each row of docs/where.md has the form of one, and is a declaration of a Go
// file of the tree, or a name in another file. It refuses two rows for one declaration.
func TestWhatTheIndexNamesExists(t *testing.T) {
	declared := map[string]bool{}
	for _, s := range sources(t) {
		for _, name := range append(s.functions(), s.typesAndValues()...) {
			declared[s.path+" "+name] = true
		}
	}
	page := read(t, "docs/where.md")
	rows, inGo, seen := indexRow.FindAllStringSubmatch(page, -1), 0, map[string]bool{}
	if lines := strings.Count(page, "\n| ") - strings.Count(page, "\n| Topic |"); lines != len(rows) {
		t.Errorf("%d of %d rows are in the form of a topic, a file and a name", len(rows), lines)
	}
	for _, r := range rows {
		path, name := r[1], r[2]+r[3]
		if seen[path+" "+name] {
			t.Errorf("%s in %s has two rows: join their topics", name, path)
		}
		seen[path+" "+name] = true
		if strings.HasSuffix(path, ".go") {
			inGo++
			if r[2] == "" || !declared[path+" "+name] {
				t.Errorf("there is no `%s` in %s", name, path)
			}
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil || r[3] == "" || !strings.Contains(string(text), name) {
			t.Errorf("there is no (%s) in %s", name, path)
		}
	}
	if inGo < 100 {
		t.Fatalf("%d rows with a Go file were found", inGo)
	}
}

// functions returns the functions and methods of a file, methods with their receiver type, as in Cluster.Patch.
func (s source) functions() (names []string) {
	for _, decl := range s.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			names = append(names, receiver(f)+f.Name.Name)
		}
	}
	return names
}

// typesAndValues returns the types, constants and variables that a file declares outside of functions.
func (s source) typesAndValues() (names []string) {
	for _, decl := range s.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
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
