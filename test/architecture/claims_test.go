package architecture

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// testName matches the name of a test in a text.
var testName = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]+)`")

// TestTheClaimsOfTheThreatModelHaveTests checks that each claim and each lesson of docs/security.md names a test in the
// tree, and that all other tests that these pages name exist.
func TestTheClaimsOfTheThreatModelHaveTests(t *testing.T) {
	tests := map[string]bool{}
	for _, s := range sources(t) {
		for _, decl := range s.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && strings.HasSuffix(s.path, "_test.go") {
				tests[f.Name.Name] = true
			}
		}
	}
	for _, page := range []string{"docs/security.md", "docs/authorization.md", "docs/bounds.md", "SECURITY.md"} {
		for _, m := range testName.FindAllStringSubmatch(read(t, page), -1) {
			if !tests[m[1]] {
				t.Errorf("%s names %s, which there is not", page, m[1])
			}
		}
	}
	bounds := 0
	for line := range strings.Lines(read(t, "docs/bounds.md")) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| What is read |") ||
			strings.HasPrefix(line, "| Place |") {
			continue
		}
		if bounds++; !testName.MatchString(line) {
			t.Errorf("no test is named for the bound of %s", line)
		}
	}
	if bounds < 20 {
		t.Errorf("%d bounds were found", bounds)
	}
	claims := 0
	_, rest, _ := strings.Cut(read(t, "docs/security.md"), "\n## Claims\n")
	rest, _, _ = strings.Cut(rest, "\n## What is not claimed\n")
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Claim |") ||
			strings.HasPrefix(line, "| What happened elsewhere |") {
			continue
		}
		if claims++; !testName.MatchString(line) {
			t.Errorf("no test is named for %s", line)
		}
	}
	if claims < 40 {
		t.Errorf("%d claims were found", claims)
	}
}
