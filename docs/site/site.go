// Package site turns the Markdown of docs into pages, for the portal and for files. What is linked is checked on the
// way.
package site

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Source is where files are that the site does not have: policies, charts, tests.
const Source = "https://github.com/portico-platform/portico/blob/main/"

// leftOut is a page that the site does not have: it is all pictures.
const leftOut = "screens.md"

// Site holds all pages.
type Site struct {
	Groups []Group
	pages  map[string]*Page
}

// Page is one page.
type Page struct {
	Key      string // as in its address; "" is the first page
	Title    string
	HTML     string // from its heading on
	Headings []Heading
	Parent   *Page // whose folder it is in; nil for pages that the navigation has
	file     string
}

// Heading is a heading of the second level.
type Heading struct{ ID, Text string }

// New renders the pages of files, which is the folder docs. href returns the address of the page to in a link on the
// page from.
func New(files fs.FS, href func(from, to string) string) (*Site, error) {
	names, err := markdown(files)
	if err != nil {
		return nil, err
	}
	s := &Site{pages: map[string]*Page{}}
	for _, name := range names {
		if name == leftOut {
			continue
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("reading documentation: %w", err)
		}
		page, err := render(name, text, href)
		if err != nil {
			return nil, err
		}
		s.pages[page.Key] = page
	}
	return s, s.arrange()
}

// markdown lists the Markdown files of a tree.
func markdown(files fs.FS) (names []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing documentation: %w", err)
	}
	return names, nil
}

// arrange fills the navigation in, and fails for a page that nobody would find.
func (s *Site) arrange() error {
	found := map[string]bool{}
	for _, g := range contents {
		group := Group{Title: g.Title}
		for _, e := range g.Entries {
			if s.pages[e.Key] == nil {
				return fmt.Errorf("the navigation of the documentation names %q, which is no page", e.Key)
			}
			found[e.Key] = true
			group.Entries = append(group.Entries, e)
		}
		s.Groups = append(s.Groups, group)
	}
	for key, page := range s.pages {
		if found[key] {
			continue
		}
		if parent := path.Dir(key); !found[parent] {
			return fmt.Errorf("docs/%s is not in the navigation: add it to docs/site/contents.go", page.file)
		}
		page.Parent = s.pages[path.Dir(key)]
	}
	return nil
}

// Page returns a page, or nil if there is none.
func (s *Site) Page(key string) *Page { return s.pages[key] }

// Pages returns all pages, by their keys.
func (s *Site) Pages() []*Page {
	all := make([]*Page, 0, len(s.pages))
	for _, page := range s.pages {
		all = append(all, page)
	}
	slices.SortFunc(all, func(a, b *Page) int { return strings.Compare(a.Key, b.Key) })
	return all
}
