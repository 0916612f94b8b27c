package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`(?:href|src)="([^"#]+)`)

func TestEveryLinkBetweenFilesLeadsToOne(t *testing.T) {
	folder := t.TempDir()
	n, err := write("../../..", folder)
	if err != nil || n < 100 {
		t.Fatalf("%d pages, %v", n, err)
	}
	found := 0
	err = filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.HasPrefix(m[1], "https://") || strings.HasPrefix(m[1], "http://") {
				continue
			}
			if found++; strings.HasPrefix(m[1], "/") {
				t.Errorf("%s leads to %s, which holds at the root of a host only", path, m[1])
			} else if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s leads to %s: %v", path, m[1], err)
			}
		}
		return err
	})
	if err != nil || found < 5000 {
		t.Errorf("%d links, %v", found, err)
	}
}

func TestABrokenLinkStopsIt(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "docs", "a.md"), []byte("# A\n[gone](b.md)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := write(root, folder); err == nil ||
		!strings.Contains(err.Error(), "docs/a.md: b.md: there is no such file") {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v was written, %v", left, err)
	}
}
