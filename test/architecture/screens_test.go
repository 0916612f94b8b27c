package architecture

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryPictureIsShown compares docs/screens.md with the screenshots of make screenshots, in both themes.
func TestEveryPictureIsShown(t *testing.T) {
	shown := map[string]int{}
	for _, m := range regexp.MustCompile(`images/pages/([a-z0-9-]+)-(light|dark)\.webp`).FindAllStringSubmatch(
		read(t, "docs/screens.md"), -1) {
		shown[m[1]+"-"+m[2]]++
	}
	taken, err := filepath.Glob(filepath.Join(root, "docs/images/pages/*.webp"))
	if err != nil || len(taken) == 0 {
		t.Fatalf("%d pictures, %v", len(taken), err)
	}
	pictures := map[string]bool{}
	for _, file := range taken {
		name := strings.TrimSuffix(filepath.Base(file), ".webp")
		pictures[name] = true
		if shown[name] == 0 {
			t.Errorf("docs/screens.md does not show %s", name)
		}
		delete(shown, name)
	}
	for name := range shown {
		t.Errorf("docs/screens.md shows %s, which make screenshots does not take", name)
	}
	for _, name := range lookedAt(t) {
		if !pictures[name+"-light"] || !pictures[name+"-dark"] {
			t.Errorf("the browser tests look at %s, of which docs/images/pages has no picture: run make screenshots",
				name)
		}
	}
}

// lookedAt returns the pages that the browser tests check and name with a string literal.
func lookedAt(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "test/browser/*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		path, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\.every\("([a-z0-9-]+)"\)`).FindAllStringSubmatch(read(t, path), -1) {
			names = append(names, m[1])
		}
	}
	return names
}
