package cloud

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// codeReaders are the functions that read an error's code.
var codeReaders = map[string]bool{"Code": true, "HasCode": true, "ErrorCode": true, "isKept": true}

// handledCodes returns the codes that the code of the kinds handles, with the file: literals in an expression or in the
// cases of a switch that also reads an error code. Names are resolved within the same package.
func handledCodes(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		files, err := parseDir(path)
		if err != nil {
			return err
		}
		maps.Copy(all, codesOf(files))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Fatalf("the code handles %d codes", len(all))
	}
	return all
}

func parseDir(dir string) (map[string]*ast.File, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	files := map[string]*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if files[path], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// codesOf returns the codes that the files of one package handle.
func codesOf(files map[string]*ast.File) map[string]string {
	named, all := map[string][]string{}, map[string]string{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool { nameLiterals(n, named); return true })
	}
	for path, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			for _, code := range codesAt(n, named) {
				all[code] = path
			}
			return true
		})
	}
	return all
}

// nameLiterals records the literals behind a constant, a variable, or the loop variable of a loop over a literal.
func nameLiterals(n ast.Node, named map[string][]string) {
	switch n := n.(type) {
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if i < len(n.Values) {
				named[name.Name] = literals(n.Values[i], nil)
			}
		}
	case *ast.RangeStmt:
		table, ok := n.X.(*ast.CompositeLit)
		name, is := n.Value.(*ast.Ident)
		if !ok || !is {
			return
		}
		for _, row := range table.Elts {
			if row, ok := row.(*ast.CompositeLit); ok && len(row.Elts) > 0 {
				named[name.Name] = append(named[name.Name], literals(row.Elts[0], nil)...)
			}
		}
	}
}

// codesAt returns the literals that a node compares an error's code with.
func codesAt(n ast.Node, named map[string][]string) []string {
	switch n := n.(type) {
	case *ast.CallExpr:
		if readsCode(n) {
			return literals(n, named)
		}
	case *ast.BinaryExpr:
		compares := n.Op == token.EQL || n.Op == token.NEQ
		if compares && (readsCode(n.X) || readsCode(n.Y)) {
			return append(literals(n.X, named), literals(n.Y, named)...)
		}
	case *ast.SwitchStmt:
		var all []string
		for _, c := range n.Body.List {
			if n.Tag != nil && readsCode(n.Tag) {
				for _, expr := range c.(*ast.CaseClause).List {
					all = append(all, literals(expr, named)...)
				}
			}
		}
		return all
	}
	return nil
}

// readsCode reports whether the expression is, or has as an argument, a read of an error's code.
func readsCode(expr ast.Expr) bool {
	call, ok := expr.(*ast.CallExpr)
	if !ok {
		return false
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if codeReaders[name] {
		return true
	}
	if name != "Contains" && name != "HasPrefix" {
		return false
	}
	return slices.ContainsFunc(call.Args, readsCode)
}

// literals returns the strings in an expression, including those behind names.
func literals(expr ast.Node, named map[string][]string) []string {
	var all []string
	ast.Inspect(expr, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				all = append(all, text)
			}
		case *ast.Ident:
			all = append(all, named[n.Name]...)
		}
		return true
	})
	return all
}

// A literal unrelated to errors does not count as a handled code.
func TestOnlyComparisonsHandleCodes(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
const spelled = "Spelled"
var some = []string{"InSome"}
var other = "NotACode"
func f(err error) {
	log("NotThis", err.Error() == "NorThis")
	if cloud.HasCode(err, "Direct") && strings.Contains(err.Error(), "NotTheMessage") { log("Not" + Code(err)) }
	if cloud.HasCode(err, "Direct") || cloud.HasCode(err, spelled) || slices.Contains(some, cloud.Code(err)) || cloud.Code(err) == "Compared" {}
	switch Code(err) { case "InCase": log("NotInBody") }
	for _, known := range []struct{ code, text string }{{"InTable.", "text"}} {
		if strings.HasPrefix(cloud.Code(err), known.code) {}
	}
}`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	got := codesOf(map[string]*ast.File{"x.go": f})
	for _, want := range []string{"Direct", "Spelled", "InSome", "Compared", "InCase", "InTable."} {
		if got[want] == "" {
			t.Errorf("%s is not seen", want)
		}
		delete(got, want)
	}
	if len(got) != 0 {
		t.Errorf("taken for codes: %v", got)
	}
}
