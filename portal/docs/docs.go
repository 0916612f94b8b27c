// Package docs serves the documentation to everybody, signed in or not. It contains nothing about this installation.
package docs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/portico-platform/portico/docs"
	"github.com/portico-platform/portico/docs/site"
	"github.com/portico-platform/portico/web/views"
)

// answer is a page, ready to send.
type answer struct {
	html []byte
	etag string // a weak one, because the page is also sent compressed
}

// pages are all pages by path, rendered once, at the first request.
var pages = sync.OnceValue(func() map[string]answer {
	all, err := render()
	if err != nil {
		panic(fmt.Sprintf("documentation: %v", err)) // cannot happen: it is part of the binary, and a test renders it
	}
	return all
})

func render() (map[string]answer, error) {
	s, err := site.New(docs.Files, Path)
	if err != nil {
		return nil, err
	}
	all := map[string]answer{}
	for _, p := range s.Pages() {
		var b bytes.Buffer
		if err := views.DocsPage(View(s, p, Path)).Render(context.Background(), &b); err != nil {
			return nil, fmt.Errorf("writing docs/%s: %w", p.Key, err)
		}
		sum := sha256.Sum256(b.Bytes())
		all[Path("", p.Key)] = answer{b.Bytes(), `W/"` + hex.EncodeToString(sum[:8]) + `"`}
	}
	return all, nil
}

// Path returns the path of a page in the portal. It does not depend on the page with the link.
func Path(_, to string) string { return path.Join(views.DocsPath, to) }

// View returns the view of a page. href returns the link to a page from another.
func View(s *site.Site, p *site.Page, href func(from, to string) string) views.Docs {
	shown := p
	out := views.Docs{Title: p.Title, Body: p.HTML, Crumbs: []views.Crumb{
		{Name: "Documentation", Href: href(p.Key, "")},
	}}
	if p.Parent != nil {
		shown = p.Parent
		out.Crumbs = append(out.Crumbs, views.Crumb{Name: shown.Title, Href: href(p.Key, shown.Key)})
	}
	if p.Key != "" {
		out.Crumbs = append(out.Crumbs, views.Crumb{Name: p.Title})
	}
	for _, g := range s.Groups {
		group := views.DocsGroup{Title: g.Title}
		for _, e := range g.Entries {
			group.Pages = append(group.Pages,
				views.DocsEntry{Title: e.Title, Href: href(p.Key, e.Key), Current: e.Key == shown.Key})
		}
		out.Groups = append(out.Groups, group)
	}
	if p.Parent == nil && p.Key != "" {
		for _, h := range p.Headings {
			out.Headings = append(out.Headings, views.Choice{Value: "#" + h.ID, Label: h.Text})
		}
	}
	return out
}

// Handler serves the pages at views.DocsPath and below.
func Handler(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	page, ok := pages()[strings.TrimSuffix(r.URL.Path, "/")]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		_ = missing.Render(r.Context(), w) // the reader has gone
		return
	}
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", page.etag)
	if r.Header.Get("If-None-Match") == page.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(page.html) // the reader has gone
}

// missing is the page for an address without a page.
var missing = views.FaultPage(views.Fault{
	Frame: views.Frame{Title: "No such page · Documentation", Slim: true}, Status: "404 Not Found",
	Title: "The documentation has no such page", Text: "Perhaps it was renamed in a newer version of Portico.",
	Advice: "Look for it in the contents, beside the first page of the documentation.",
	Links:  []views.Choice{{Value: views.DocsPath, Label: "Documentation"}},
})
