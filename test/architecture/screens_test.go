package architecture

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryPictureIsShown compares docs/screens.md with the pictures that make screenshots takes, in both themes.
func TestEveryPictureIsShown(t *testing.T) {
	shown := map[string]int{}
	for _, m := range regexp.MustCompile(`images/pages/([a-z0-9-]+)-(light|dark)\.webp`).FindAllStringSubmatch(read(t, "docs/screens.md"), -1) {
		shown[m[1]+"-"+m[2]]++
	}
	taken, err := filepath.Glob(filepath.Join(root, "docs/images/pages/*.webp"))
	if err != nil || len(taken) == 0 {
		t.Fatalf("%d pictures, %v", len(taken), err)
	}
	for _, file := range taken {
		name := strings.TrimSuffix(filepath.Base(file), ".webp")
		if shown[name] == 0 {
			t.Errorf("docs/screens.md does not show %s", name)
		}
		delete(shown, name)
	}
	for name := range shown {
		t.Errorf("docs/screens.md shows %s, which make screenshots does not take", name)
	}
}
