package site

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/portico-platform/portico/docs"
)

func absolute(_, to string) string { return path.Join("/docs", to) }

func load(t *testing.T) *Site {
	t.Helper()
	s, err := New(docs.Files, absolute)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNoLinkIsBroken(t *testing.T) {
	tree := os.DirFS("../..")
	broken, err := Broken(tree, mine(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range broken {
		t.Error(b)
	}
}

func mine(t *testing.T) []string {
	t.Helper()
	files, err := Files(os.DirFS("../.."))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

func TestBrokenLinksAreFound(t *testing.T) {
	tree := fstest.MapFS{
		"docs/a.md":   {Data: []byte("# A\n[b](b.md#the-b--and-the-c) [up](../x.json) [self](#a) [site](https://example.com/x)\n")},
		"docs/b.md":   {Data: []byte("# B\n## The B: `and` the C\n[gone](c.md) [a](a.md#b) [picture](a.md) ![no](p.png) [self](#nowhere)\n")},
		"x.json":      {Data: []byte("{}")},
		"docs/sub/.x": {},
	}
	broken, err := Broken(tree, []string{"docs/a.md", "docs/b.md"})
	want := []string{
		"docs/a.md: b.md#the-b--and-the-c: there is no such heading",
		"docs/b.md: c.md: there is no such file", "docs/b.md: a.md#b: there is no such heading",
		"docs/b.md: p.png: there is no such file",
		"docs/b.md: #nowhere: there is no such heading",
	}
	if err != nil || !slices.Equal(broken, want) {
		t.Errorf("%q, %v, want %q", broken, err, want)
	}
	if _, err := Broken(tree, []string{"docs/z.md"}); err == nil {
		t.Error("a page that there is not is checked")
	}
}

// own is a link to Markdown that is no link to the source.
var own = regexp.MustCompile(`(?:href|src)="(?:[^h"][^"]*)?\.md["#]`)

func TestEveryPageIsRendered(t *testing.T) {
	s := load(t)
	if n := len(s.Pages()); n < 100 {
		t.Fatalf("%d pages, want at least 100", n)
	}
	for path, want := range map[string]bool{"kinds/s3bucket": true, "": true, "screens": false} {
		if got := s.Page(path) != nil; got != want {
			t.Fatalf("the page %q exists: %v, want %v", path, got, want)
		}
	}
	for _, page := range s.Pages() {
		for _, wrong := range []string{"style=", "<script", "<img", "&lt;!--", "<!--"} {
			if strings.Contains(page.HTML, wrong) {
				t.Errorf("docs/%s has %s", page.file, wrong)
			}
		}
		if at := own.FindString(page.HTML); at != "" {
			t.Errorf("docs/%s has %s, which is a file and no page", page.file, at)
		}
		if strings.Count(page.HTML, "<h1") != 1 {
			t.Errorf("docs/%s has not one heading of the first level", page.file)
		}
	}
	if page := s.Page("adr/0047-safe"); page == nil || page.Parent == nil || page.Parent.Key != "adr" {
		t.Errorf("a decision is found at %+v", page)
	}
}
