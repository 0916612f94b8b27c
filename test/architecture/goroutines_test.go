package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheRaceDetectorLooksWhereGoroutinesStart checks that make test-race runs the product's packages that start
// goroutines.
func TestTheRaceDetectorLooksWhereGoroutinesStart(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^goroutines := ((?:.*\\\n)*.*)$`).FindSubmatch(text)
	if list == nil {
		t.Fatal("the Makefile has no list goroutines")
	}
	got := strings.Fields(strings.ReplaceAll(string(list[1]), "\\\n", " "))
	want := starting(t, "api", "cmd", "config", "controllers", "portal", "web")
	for _, folder := range want {
		if !slices.Contains(got, folder) {
			t.Errorf("%s starts goroutines: add it to goroutines in the Makefile", folder)
		}
	}
	for _, folder := range got {
		if !slices.Contains(want, folder) {
			t.Errorf("%s starts no goroutines: take it out of goroutines in the Makefile", folder)
		}
	}
}

// starting returns the folders whose code, without tests, starts goroutines with a go statement, with the method Go of
// a group or DoChan of singleflight, or with cloud.ShareCall.
func starting(t *testing.T, top ...string) (folders []string) {
	t.Helper()
	for _, folder := range top {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			product := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
			if err != nil || d.IsDir() || !product {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err == nil && starts(file) {
				folders = append(folders, strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), root+"/"))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders)
}

func starts(file *ast.File) (yes bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			yes = true
		case *ast.CallExpr:
			if method, ok := n.Fun.(*ast.SelectorExpr); ok &&
				slices.Contains([]string{"Go", "DoChan", "ShareCall"}, method.Sel.Name) {
				yes = true
			}
		}
		return !yes
	})
	return yes
}
