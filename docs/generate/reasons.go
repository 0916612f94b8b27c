package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const reasonsOpening = `# All reasons
Every reason of a condition or an Event, in alphabetical order. This page is generated from the source by ` + "`make generate`" + `. The message beside
a reason has the details. The pages of the kinds say what to do; [Troubleshooting](troubleshooting.md) starts from what you see. Scripts
and alerts can rely on reasons: they do not change.

| Reason | What it means | More |
|---|---|---|
`

// reason is one word that a condition or an event can have.
type reason struct {
	name, meaning string
	kinds         []string // whose pages speak of it
}

// reasons writes docs/reasons.md. What a reason means stands beside its constant; for one of a single kind, in the
// table of the kind's page.
func reasons(root string) ([]byte, error) {
	all, err := declared(filepath.Join(root, "api/v1alpha1"))
	if err != nil {
		return nil, err
	}
	if err := explain(all, filepath.Join(root, "docs/kinds")); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *reason) int { return strings.Compare(a.name, b.name) })
	out := bytes.NewBufferString(reasonsOpening)
	for _, r := range all {
		if r.meaning == "" {
			return nil, fmt.Errorf("nothing says what the reason %s means: write it beside the constant, or in the "+
				"table of the kind's page", r.name)
		}
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", r.name, r.meaning, strings.Join(r.kinds, ", "))
	}
	return out.Bytes(), nil
}

// declared reads the constants of a package.
func declared(folder string) (all []*reason, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%s: %d files: %w", folder, len(paths), err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("reading the reasons: %w", err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Reason") &&
				len(spec.Values) == 1 {
				all = append(all, &reason{name: value(spec), meaning: strings.TrimSpace(spec.Comment.Text())})
			}
			return true
		})
	}
	return slices.DeleteFunc(all, func(r *reason) bool { return r.name == "" }), nil
}

// value returns the text of a constant, "" if it is none.
func value(spec *ast.ValueSpec) string {
	literal, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		return ""
	}
	text, _ := strconv.Unquote(literal.Value) // the parser has read it
	return text
}

var (
	title = regexp.MustCompile(`(?m)^# (\w+)`)
	row   = regexp.MustCompile("(?m)^\\| (`\\w+`(?:, `\\w+`)*) \\| ([^|]+) \\|")
)

// explain adds which pages of kinds speak of each reason, and what their tables say.
func explain(all []*reason, folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		return fmt.Errorf("looking for the pages of kinds: %w", err)
	}
	for _, path := range paths {
		page, err := os.ReadFile(path) //nolint:gosec // a file of the tree
		if err != nil {
			return fmt.Errorf("reading the page of a kind: %w", err)
		}
		told := map[string]string{}
		for _, m := range row.FindAllStringSubmatch(string(page), -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				told[name] = m[2]
			}
		}
		link := fmt.Sprintf("[%s](kinds/%s)", title.FindStringSubmatch(string(page))[1], filepath.Base(path))
		for _, r := range all {
			if name := "`" + r.name + "`"; bytes.Contains(page, []byte(name)) {
				r.kinds = append(r.kinds, link)
				r.meaning = cmp.Or(r.meaning, told[name])
			}
		}
	}
	return nil
}
