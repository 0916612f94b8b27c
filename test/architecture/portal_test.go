package architecture

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// imports returns the direct imports of each package below a folder, without those of tests.
func imports(t *testing.T, folder string) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}",
		module+folder).CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		all[strings.TrimPrefix(words[0], module)] = words[1:]
	}
	return all
}

// TestNothingInThePortalImportsUpwards checks that no package imports one of its parent folders: a package combines the
// packages in its folder, which do not know it.
func TestNothingInThePortalImportsUpwards(t *testing.T) {
	all := imports(t, "portal/...")
	if len(all) < 10 {
		t.Fatalf("%d packages", len(all))
	}
	for pkg, imported := range all {
		if strings.HasSuffix(pkg, "test") { // it supports tests of the parent package
			continue
		}
		for _, i := range imported {
			if strings.HasPrefix(module+pkg, i+"/") {
				t.Errorf("%s imports %s, which is above it", pkg, strings.TrimPrefix(i, module))
			}
		}
	}
}

// TestFormsAnswerNoRequests checks that the packages which describe resources work on plain data: the package that
// serves the request passes it to them.
func TestFormsAnswerNoRequests(t *testing.T) {
	for _, pkg := range []string{
		"portal/form", "portal/deletion", "portal/commands", "portal/status",
		"portal/humanize",
	} {
		if slices.Contains(imports(t, pkg)[pkg], "net/http") {
			t.Errorf("%s imports net/http", pkg)
		}
	}
}
