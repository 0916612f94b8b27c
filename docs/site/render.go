package site

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markup reads Markdown as GitHub does, and writes what the portal's Content-Security-Policy takes: no styles in
// attributes.
var markup = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(elements{}, 100))),
)

// document is a Markdown file as it was read.
type document struct {
	root     ast.Node
	text     []byte
	title    string
	headings []Heading
	anchors  map[string]bool
}

func parse(source []byte) document {
	d := document{text: source, anchors: map[string]bool{}}
	d.root = markup.Parser().Parse(text.NewReader(source),
		parser.WithContext(parser.NewContext(parser.WithIDs(&slugs{}))))
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		h, ok := n.(*ast.Heading)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		value, _ := h.AttributeString("id")
		id, _ := value.([]byte)
		d.anchors[string(id)] = true
		switch {
		case h.Level == 1 && d.title == "":
			d.title = plain(h, source)
		case h.Level == 2:
			d.headings = append(d.headings, Heading{string(id), plain(h, source)})
		}
		return ast.WalkSkipChildren, nil
	})
	return d
}

// plain returns the text of a node without its markup.
func plain(n ast.Node, source []byte) string {
	var out strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			out.Write(c.Segment.Value(source))
		case *ast.String:
			out.Write(c.Value)
		default:
			out.WriteString(plain(c, source))
		}
	}
	return out.String()
}

// links calls visit with where each link and image of d leads; what it returns is where it leads then.
func (d document) links(visit func(to string) string) {
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Link:
			if entering {
				n.Destination = []byte(visit(string(n.Destination)))
			}
		case *ast.Image:
			if entering {
				n.Destination = []byte(visit(string(n.Destination)))
			}
		}
		return ast.WalkContinue, nil
	})
}

func render(file string, source []byte, href func(from, to string) string) (*Page, error) {
	d := parse(source)
	page := &Page{Key: keyOf(file), Title: d.title, Headings: d.headings, file: file}
	if page.Title == "" {
		return nil, fmt.Errorf("docs/%s has no heading of the first level", file)
	}
	d.links(func(to string) string {
		l := leads(path.Join("docs", file), to)
		switch {
		case l.elsewhere || l.file == "":
			return to
		case l.page():
			return href(page.Key, keyOf(strings.TrimPrefix(l.file, "docs/"))) + l.fragment()
		}
		return Source + l.file + l.fragment()
	})
	var out bytes.Buffer
	if err := markup.Renderer().Render(&out, d.text, d.root); err != nil {
		return nil, fmt.Errorf("rendering docs/%s: %w", file, err)
	}
	page.HTML = out.String()
	return page, nil
}

// link is where a link leads.
type link struct {
	elsewhere bool   // to another site
	file      string // from the root of the tree; "" for the same page
	anchor    string
}

func (l link) fragment() string {
	if l.anchor == "" {
		return ""
	}
	return "#" + l.anchor
}

// page reports whether the site has the file as a page.
func (l link) page() bool {
	return strings.HasPrefix(l.file, "docs/") && path.Ext(l.file) == ".md" && l.file != "docs/"+leftOut
}

// leads returns where a link in a file leads, both from the root of the tree.
func leads(file, to string) link {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" {
		return link{elsewhere: err == nil, file: to}
	}
	l := link{anchor: u.Fragment}
	if u.Path != "" {
		l.file = path.Join(path.Dir(file), u.Path)
	}
	return l
}

// slugs gives headings the anchors that GitHub gives them.
type slugs struct{ seen map[string]int }

// Generate returns the anchor of a heading.
func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	n := s.seen[slug]
	if s.seen[slug]++; n > 0 {
		slug = fmt.Sprintf("%s-%d", slug, n)
	}
	return []byte(slug)
}

// Put takes an anchor that stands in the text; there are none.
func (s *slugs) Put([]byte) {}
