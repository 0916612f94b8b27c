package architecture

import (
	"bytes"
	"flag"
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
	"testing"
)

// shrink makes the test shorten the list of allowed words; it never adds to it.
var shrink = flag.Bool("shrink", false, "write the list of words that are still to be replaced, without what was "+
	"replaced")

// allowedPath is the list of words that are still to be replaced: file, word and number, separated by tabs.
const allowedPath = "testdata/words.txt"

// userText is the text for users in one file.
type userText struct{ path, text string }

// place is a word in a file.
type place struct{ path, word string }

// written returns everything that users read: the portal's templates and messages, the texts of CRDs, the command line,
// messages of conditions and events, and documentation. It omits the command line's help texts in testdata and the
// references in docs, which repeat other texts.
func written(t *testing.T) []userText {
	t.Helper()
	var all []userText
	for _, pattern := range []string{
		"docs/*.md", "docs/kinds/*.md", "docs/identity/*.md", "docs/runbooks/*.md",
		"config/crd/bases/*.yaml", "README.md",
	} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			rel, _ := filepath.Rel(root, path) // it is below root
			if rel = filepath.ToSlash(rel); !slices.Contains(
				[]string{"docs/glossary.md", "docs/cli-reference.md", "docs/rest-reference.md"}, rel) {
				all = append(all, userText{rel, read(t, rel)})
			}
		}
	}
	for _, s := range sources(t) {
		folder, _, _ := strings.Cut(s.path, "/")
		if !s.isTest() && (slices.Contains([]string{"portal", "web", "controllers"}, folder) ||
			strings.HasPrefix(s.path, "cmd/portico/")) {
			all = append(all, userText{s.path, literals(s.File)})
		}
	}
	return append(all, templates(t)...)
}

// templates returns the texts of the portal's templates, from the Go code that templ generates.
func templates(t *testing.T) []userText {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "web/views/*_templ.go"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d templates, %v", len(paths), err)
	}
	var all []userText
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		text := attributes.ReplaceAllString(literals(file), ">$1<")
		all = append(all, userText{
			"web/views/" + strings.TrimSuffix(filepath.Base(path), "_templ.go") + ".templ",
			tags.ReplaceAllString(text, " "),
		})
	}
	return all
}

var (
	attributes = regexp.MustCompile(`(?:title|aria-label|placeholder|content|alt|data-label)="([^"<>]* [^"<>]*)"`)
	tags       = regexp.MustCompile(`<[^<>]*>`)
)

// literals returns the strings of a Go file that have more than one word, separated by a line that no phrase matches.
func literals(file *ast.File) string {
	var b strings.Builder
	texts := stringsIn(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if ok && field.Tag != nil {
			b.WriteString(docs(field.Tag.Value) + "\n‖\n")
		}
		_, imports := n.(*ast.ImportSpec)
		return imports
	})
	for _, text := range texts {
		if strings.Contains(text, " ") && !strings.HasPrefix(text, "json:") {
			b.WriteString(text + "\n‖\n")
		}
	}
	return b.String()
}

var docTag = regexp.MustCompile(`doc:("(?:[^"\\]|\\.)*")`)

// docs returns the documentation in a field's tag.
func docs(tag string) string {
	if m := docTag.FindStringSubmatch(tag); m != nil {
		return m[1]
	}
	return ""
}

// TestPeopleReadPlainEnglish finds phrases that users do not understand at once. A list, which only gets shorter,
// allows those that are still to be replaced.
func TestPeopleReadPlainEnglish(t *testing.T) {
	found := map[place]int{}
	why := map[place]string{}
	for _, p := range written(t) {
		text := exempt.ReplaceAllString(strings.Join(strings.Fields(p.text), " "), "-")
		for _, r := range phrases {
			r.count(place{p.path, r.label}, text, found, why)
		}
		if !slices.ContainsFunc(surfaces, func(s string) bool { return strings.HasPrefix(p.path, s) }) {
			continue
		}
		for _, r := range terms(t) {
			r.count(place{p.path, r.label}, text, found, why)
		}
	}
	compareWithAllowed(t, found, why)
}

// phrase is a phrase to avoid, and its replacement.
type phrase struct {
	label, instead string
	*regexp.Regexp
}

func (r phrase) count(at place, text string, found map[place]int, why map[place]string) {
	all := r.FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return
	}
	found[at] += len(all)
	var where []string
	for _, m := range all {
		where = append(where, "…"+strings.ToValidUTF8(text[max(0, m[0]-40):min(len(text), m[1]+40)], "")+"…")
	}
	why[at] = fmt.Sprintf("write %s:\n\t%s", r.instead, strings.Join(where, "\n\t"))
}

// compareWithAllowed fails for words that the list does not allow, and for words on the list that are no longer used.
func compareWithAllowed(t *testing.T, found map[place]int, why map[place]string) {
	t.Helper()
	allowed := readAllowed(t)
	for at, n := range found {
		if n > allowed[at] {
			t.Errorf("%d\t%s\t%s\nis %d more than %s allows; %s", n, at.path, at.word, n-allowed[at], allowedPath,
				why[at])
		}
	}
	var left []string
	gone := 0
	for at, n := range allowed {
		if found[at] < n {
			gone++
		}
		if n = min(n, found[at]); n > 0 {
			left = append(left, fmt.Sprintf("%s\t%s\t%d", at.path, at.word, n))
		}
	}
	slices.Sort(left)
	switch {
	case gone > 0 && *shrink:
		if err := os.WriteFile(allowedPath, []byte(strings.Join(left, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	case gone > 0:
		t.Errorf("%d lines of %s allow words that are gone: run go test ./test/architecture -run TestPeopleRead "+
			"-shrink", gone, allowedPath)
	}
}

func readAllowed(t *testing.T) map[place]int {
	t.Helper()
	text, err := os.ReadFile(allowedPath)
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[place]int{}
	for line := range bytes.Lines(text) {
		cells := strings.Split(strings.TrimSpace(string(line)), "\t")
		if len(cells) != 3 {
			t.Fatalf("%s: %q is not a file, a word and a number", allowedPath, line)
		}
		if allowed[place{cells[0], cells[1]}], err = strconv.Atoi(cells[2]); err != nil {
			t.Fatal(err)
		}
	}
	return allowed
}

// terms returns the words that the glossary says never to use, with the term to use instead.
func terms(t *testing.T) []phrase {
	t.Helper()
	if len(glossary) > 0 {
		return glossary
	}
	aside := regexp.MustCompile(`\([^)]*\)`)
	for line := range strings.Lines(read(t, "docs/glossary.md")) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "Term" {
			continue
		}
		for never := range strings.SplitSeq(aside.ReplaceAllString(cells[4], ""), ",") {
			if never = strings.TrimSpace(never); never != "" && never != "–" {
				glossary = append(glossary, phrase{
					never, strings.ToLower(strings.TrimSpace(cells[1])),
					regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(never) + `s?\b`),
				})
			}
		}
	}
	return glossary
}

var glossary []phrase // cached by terms

// TestOneWordForEachThing checks that the glossary has each term once, and no term that another line forbids.
func TestOneWordForEachThing(t *testing.T) {
	if n := len(terms(t)); n < 20 {
		t.Fatalf("%d words were found in docs/glossary.md", n)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(read(t, "docs/glossary.md")) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "Term" {
			continue
		}
		for i, cell := range cells[1:5] {
			if strings.TrimSpace(cell) == "" {
				t.Errorf("column %d is empty: %s", i+1, line)
			}
		}
		term := strings.ToLower(strings.TrimSpace(cells[1]))
		if seen[term] {
			t.Errorf("%s has two lines", term)
		}
		seen[term] = true
	}
	for _, r := range terms(t) {
		if seen[strings.ToLower(r.label)] {
			t.Errorf("%s is a term, and %s forbids it", r.label, r.instead)
		}
	}
	if len(seen) < 40 {
		t.Errorf("%d terms were found", len(seen))
	}
}
