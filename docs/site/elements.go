package site

import (
	"fmt"
	"html"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// elements renders what pages need otherwise than goldmark does: tables and code that a keyboard can scroll, and no
// HTML of the text but line breaks.
type elements struct{}

// RegisterFuncs names the renderers.
func (elements) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, code)
	r.Register(ast.KindCodeBlock, code)
	r.Register(ast.KindRawHTML, inline)
	r.Register(ast.KindHTMLBlock, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkSkipChildren, nil
	})
	r.Register(extast.KindTable, table)
	r.Register(extast.KindTableCell, cell)
}

func code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString(`<pre tabindex="0"><code>`)
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		_, _ = w.WriteString(html.EscapeString(string(line.Value(source))))
	}
	_, _ = w.WriteString("</code></pre>\n") // w keeps its first error
	return ast.WalkSkipChildren, nil
}

// inline writes line breaks; what else looks like HTML is text, such as a placeholder.
func inline(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	raw, ok := n.(*ast.RawHTML)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	text := string(raw.Segments.Value(source))
	switch {
	case text == "<br>":
		_, _ = w.WriteString(text)
	case comment(text):
	default:
		_, _ = w.WriteString(html.EscapeString(text))
	}
	return ast.WalkSkipChildren, nil
}

func comment(text string) bool { return len(text) > 4 && text[:4] == "<!--" }

func table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>` + "\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

// cell renders a cell; a heading without words is none.
func cell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag, align := "td", ""
	if _, heads := n.Parent().(*extast.TableHeader); heads && n.HasChildren() {
		tag = "th"
	}
	if c, ok := n.(*extast.TableCell); ok && c.Alignment != extast.AlignNone {
		align = fmt.Sprintf(" align=%q", c.Alignment)
	}
	if entering {
		_, _ = fmt.Fprintf(w, "<%s%s>", tag, align)
	} else {
		_, _ = fmt.Fprintf(w, "</%s>\n", tag)
	}
	return ast.WalkContinue, nil
}
