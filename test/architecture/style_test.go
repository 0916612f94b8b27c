package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	maxFile, maxTestFile = 320, 480 // lines
	maxFunction          = 44       // lines of a body; test functions can be longer because of their tables
)

// source is a Go file that is not generated.
type source struct {
	path string // relative to the root
	set  *token.FileSet
	*ast.File
}

func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) line(pos token.Pos) int { return s.set.Position(pos).Line }

// sources returns every Go file of the tree except generated ones.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil || len(all) < 500 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	return all
}

// parsed parses them, once for all tests.
var parsed = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		hidden := path != root && strings.HasPrefix(name, ".")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (hidden || slices.Contains([]string{"node_modules", "bin"}, name)):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(file) {
			rel, _ := filepath.Rel(root, path) // both are paths in this tree
			all = append(all, source{filepath.ToSlash(rel), set, file})
		}
		return nil
	})
	return all, err
})

// TestFilesAndFunctionsAreShort limits the length of files and functions.
func TestFilesAndFunctionsAreShort(t *testing.T) {
	for _, s := range sources(t) {
		limit := maxFile
		if s.isTest() {
			limit = maxTestFile
		}
		if lines := s.line(s.FileEnd) - 1; lines > limit {
			t.Errorf("%s has %d lines, more than %d: what does it hold that is a thing of its own?", s.path, lines,
				limit)
		}
		for _, decl := range s.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil || s.isTest() {
				continue
			}
			if lines := s.line(f.Body.Rbrace) - s.line(f.Body.Lbrace) - 1; lines > maxFunction {
				t.Errorf("%s: %s has %d lines, more than %d", s.path, f.Name.Name, lines, maxFunction)
			}
		}
	}
}

// TestCommentsSayWhatFunctionsDo checks that comments say "Get returns a copy", not "Get is a copy".
func TestCommentsSayWhatFunctionsDo(t *testing.T) {
	for _, s := range sources(t) {
		for _, decl := range s.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Doc == nil {
				continue
			}
			words := strings.Fields(f.Doc.Text())
			if len(words) > 1 && words[0] == f.Name.Name &&
				slices.Contains([]string{"is", "are", "was", "were"}, words[1]) {
				t.Errorf("%s:%d: %q: begin with what %s does", s.path, s.line(f.Pos()),
					strings.Join(words[:min(8, len(words))], " "), f.Name.Name)
			}
		}
	}
}

// dialect are unclear words that were once used in names, with the term to use instead.
var dialect = map[string]string{
	"anew": "again", "prose": "humanize", "looking": "objectRequest", "requesting": "formRequest",
	"overseeing": "tabRequest",
	"onpod":      "podRequest", "onlog": "logRequest", "viewing": "viewer", "poolturned": "poolStatusChanged",
	"cameorwent": "createdOrDeleted",
}

// TestNamesAreOfTheField checks the names of packages, files and declarations.
func TestNamesAreOfTheField(t *testing.T) {
	for _, s := range sources(t) {
		names := []string{s.Name.Name, strings.TrimSuffix(filepath.Base(s.path), ".go")}
		ast.Inspect(s.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names = append(names, n.Name.Name)
			case *ast.TypeSpec:
				names = append(names, n.Name.Name)
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names = append(names, name.Name)
				}
			}
			return true
		})
		for _, name := range names {
			if better, ok := dialect[strings.ToLower(name)]; ok {
				t.Errorf("%s: %q: say %s", s.path, name, better)
			}
		}
		if slices.Contains([]string{"util", "utils", "common", "helpers", "helper", "misc", "errors"}, s.Name.Name) {
			t.Errorf("%s: package %s is no room with a purpose", s.path, s.Name.Name)
		}
	}
}
