// Command write checks the links of the documentation and writes it as pages of HTML into a folder: make docs.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	documents "github.com/portico-platform/portico/docs"
	"github.com/portico-platform/portico/docs/site"
	"github.com/portico-platform/portico/portal/docs"
	"github.com/portico-platform/portico/web"
	"github.com/portico-platform/portico/web/views"
)

const style = "portico.css"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: write FOLDER, from the root of the repository")
		os.Exit(2)
	}
	n, err := write(".", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintf(os.Stdout, "%d pages in %s: open %s\n", n, os.Args[1], filepath.Join(os.Args[1], "index.html"))
}

// write writes the pages of the tree at root into a folder, and returns how many.
func write(root, folder string) (int, error) {
	if err := check(root); err != nil {
		return 0, err
	}
	s, err := site.New(documents.Files, relative)
	if err != nil {
		return 0, fmt.Errorf("rendering documentation: %w", err)
	}
	files := map[string][]byte{style: web.File(style)}
	for _, p := range s.Pages() {
		var out bytes.Buffer
		if err := views.DocsFile(docs.View(s, p, relative), up(p.Key)+style).Render(
			context.Background(), &out); err != nil {
			return 0, fmt.Errorf("writing %s: %w", p.Key, err)
		}
		files[file(p.Key)] = out.Bytes()
	}
	for name, content := range files {
		at := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o750), os.WriteFile(at, content, 0o600)); err != nil { //nolint:gosec // below the folder that was asked for, by the names of our own pages
			return 0, fmt.Errorf("writing documentation: %w", err)
		}
	}
	return len(s.Pages()), nil
}

// check fails for a link that leads nowhere.
func check(root string) error {
	tree := os.DirFS(root)
	files, err := site.Files(tree)
	if err != nil {
		return fmt.Errorf("looking for documentation: %w", err)
	}
	broken, err := site.Broken(tree, files)
	if err == nil && len(broken) > 0 {
		err = fmt.Errorf("%d links lead nowhere:\n%s", len(broken), strings.Join(broken, "\n"))
	}
	return err
}

// file returns the name of a page's file.
func file(key string) string {
	if key == "" {
		return "index.html"
	}
	return key + ".html"
}

// up returns the way from a page's folder to the first page's.
func up(key string) string { return strings.Repeat("../", strings.Count(key, "/")) }

// relative returns where a page is as seen from another one, so that the folder can be anywhere.
func relative(from, to string) string { return up(from) + file(to) }
