package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/portico-platform/portico/config/crd"
)

// TestEveryPlaceOfAKindIsNamed checks that CONTRIBUTING.md names every file, written by hand, that lists the kinds of
// AWS: one that has all of them but at most one. What reads the list from the cluster or from controllers.Kinds has
// none.
func TestEveryPlaceOfAKindIsNamed(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := crds(t)
	var kinds []string
	for i := range all {
		if crd.OfAWS(&all[i]) {
			kinds = append(kinds, all[i].Spec.Names.Kind)
		}
	}
	found := 0
	for _, path := range writtenByHand(t) {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		lacks := 0
		for _, kind := range kinds {
			if !strings.Contains(string(text), kind) {
				lacks++
			}
		}
		if lacks > 1 {
			continue
		}
		found++
		if !strings.Contains(string(guide), "`"+path+"`") {
			t.Errorf("%s lists the kinds, and CONTRIBUTING.md does not say what a new kind adds there", path)
		}
	}
	if len(kinds) < 5 || found < 10 {
		t.Errorf("found %d files for the kinds %v", found, kinds)
	}
}

// notByHand are folders of output, and of documents, by name or path.
var notByHand = []string{"node_modules", "testdata", "bin", "dist", "docs", "config/crd", "config/default"}

// writtenByHand returns the files of code and configuration that are neither generated nor expected output.
func writtenByHand(t *testing.T) (all []string) {
	t.Helper()
	for _, s := range sources(t) {
		all = append(all, s.path)
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path) // both are paths in this tree
		rel = filepath.ToSlash(rel)
		name := entry.Name()
		hidden := path != root && strings.HasPrefix(name, ".")
		left := hidden || slices.Contains(notByHand, rel) || slices.Contains(notByHand, name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && left:
			return filepath.SkipDir
		case !entry.IsDir() && (strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".templ")):
			all = append(all, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
