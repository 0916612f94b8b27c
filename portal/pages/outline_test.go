package pages

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// outlineWidth is the width of a line up to which an element is on one line with the elements that it contains.
const outlineWidth = 120

// outline returns what people, screen readers and scripts find in a page, as text. What an element contains follows it
// on its line or, if that is long, below it. An element on the line of another is in square brackets. A control has its
// label in quotes, and its hint behind a dash. ~ marks what screen readers leave out, @ an age that a script keeps
// current, · two elements without a space between them. Only golden files of HTML show the rest: icons, classes without
// a meaning, and attributes that are the same on all elements of a sort.
func outline(t *testing.T, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(strings.ReplaceAll(page, "<wbr>", "")))
	if err != nil {
		t.Fatal(err)
	}
	o := outliner{
		byID: map[string]*html.Node{}, labels: map[string]*html.Node{}, texts: map[*html.Node]string{},
	}
	var texts []*html.Node
	for n := range root.Descendants() {
		if id := attribute(n, "id"); id != "" {
			o.byID[id] = n
		}
		switch n.Data {
		case "label":
			o.labels[attribute(n, "for")] = n
		case "pre":
			o.texts[n] = without(textIn(n), texts)
			texts = append(texts, n)
		}
	}
	return strings.Join(o.lines(root, ""), "\n") + "\n"
}

type outliner struct {
	byID   map[string]*html.Node
	labels map[string]*html.Node // by the id of their control
	texts  map[*html.Node]string // of preformatted elements
}

// without returns a preformatted text with {id} in place of the text of an earlier element.
func without(text string, earlier []*html.Node) string {
	for _, n := range earlier {
		text = strings.Replace(text, "\n"+textIn(n), "\n{"+attribute(n, "id")+"}\n", 1)
	}
	return text
}

// lines returns the lines for a node.
func (o outliner) lines(n *html.Node, indent string) []string {
	line := strings.TrimSpace(o.line(n))
	if line == "" {
		return nil
	}
	if n.DataAtom == atom.Pre {
		return append([]string{indent + o.head(n) + ":"}, quoted(o.texts[n], indent)...)
	}
	fits := len(indent)+len(line) <= outlineWidth && !hasBreaks(n)
	flows := n.Type == html.TextNode || !hasBlocks(n) && hasText(n.ChildNodes())
	if fits || isControl(n) || flows {
		return []string{indent + line}
	}
	head := o.head(n)
	if head == "" {
		return o.inside(n, indent)
	}
	inside := o.inside(n, indent+"  ")
	switch first := n.FirstChild; {
	case len(inside) == 1:
		return []string{indent + head + ": " + strings.TrimSpace(inside[0])}
	case first != nil && (first.DataAtom == atom.Legend || first.DataAtom == atom.Summary):
		inside[0] = indent + head + ": " + strings.TrimSpace(inside[0])
		return inside
	}
	return append([]string{indent + head}, inside...)
}

// inside returns the lines for what an element contains.
func (o outliner) inside(n *html.Node, indent string) (all []string) {
	var run []*html.Node
	flush := func() {
		all = append(all, o.run(run, indent)...)
		run = nil
	}
	for c := range n.ChildNodes() {
		if isInline(c) {
			run = append(run, c)
			continue
		}
		flush()
		more := o.lines(c, indent)
		if last := len(all) - 1; c.DataAtom == atom.Dd && len(more) == 1 && last >= 0 {
			all[last] += " " + strings.TrimSpace(more[0])
			continue
		}
		all = append(all, more...)
	}
	flush()
	return all
}

// run returns the lines for neighbours that a browser shows side by side: one, or one for each if there is no text
// between them.
func (o outliner) run(nodes []*html.Node, indent string) (all []string) {
	line := strings.TrimSpace(o.side(slices.Values(nodes)))
	switch {
	case line == "":
		return nil
	case hasText(slices.Values(nodes)) || len(indent)+len(line) <= outlineWidth:
		return []string{indent + line}
	}
	for _, n := range nodes {
		all = append(all, o.lines(n, indent)...)
	}
	return all
}

// line returns an element and what it contains as one line, with the spaces around it that a browser shows.
func (o outliner) line(n *html.Node) string {
	switch {
	case n.Type == html.TextNode:
		return spaces.ReplaceAllString(n.Data, " ")
	case n.Type != html.ElementNode && n.Type != html.DocumentNode:
		return ""
	case n.DataAtom == atom.Svg, o.belongsToControl(n):
		return ""
	case isControl(n):
		return o.control(n)
	}
	head, body := o.head(n), o.side(n.ChildNodes())
	switch {
	case n.DataAtom == atom.Dt:
		return strings.TrimSpace(body) + ":"
	case head == "":
		return body
	case strings.TrimSpace(body) == "":
		return head
	}
	return head + ": " + strings.TrimSpace(body)
}

// side returns nodes side by side, those with a head in brackets.
func (o outliner) side(nodes iter.Seq[*html.Node]) string {
	var out strings.Builder
	afterElement := false
	for n := range nodes {
		line := o.line(n)
		switch {
		case strings.TrimSpace(line) == "":
		case n.DataAtom != atom.Dt && (isControl(n) || o.head(n) != ""):
			line = "[" + line + "]"
		case n.DataAtom == atom.Td || n.DataAtom == atom.Th:
			line += " |"
		}
		if !isInline(n) && line != "" {
			line = " " + strings.TrimSpace(line) + " "
		}
		element, before := n.Type == html.ElementNode, out.String()
		switch {
		case before == "" || strings.HasSuffix(before, " "):
			line = strings.TrimLeft(line, " ")
		case line == "" || strings.HasSuffix(before, "]") || strings.ContainsAny(line[:1], " ["): // they are apart
		case element && afterElement:
			line = "·" + line
		}
		afterElement = element
		out.WriteString(line)
	}
	return strings.TrimSuffix(out.String(), " | ")
}

func isControl(n *html.Node) bool {
	return n.DataAtom == atom.Input || n.DataAtom == atom.Select || n.DataAtom == atom.Textarea
}

// control returns a field of a form: its label, what it accepts, its value and its hint.
func (o outliner) control(n *html.Node) string {
	var out strings.Builder
	id := attribute(n, "id")
	out.WriteString(o.head(n))
	if label := o.labels[id]; id != "" && label != nil {
		_, _ = fmt.Fprintf(&out, " %q", strings.Join(strings.Fields(textIn(label)), " "))
	}
	switch n.Data {
	case "select":
		var options []string
		for c := range n.Descendants() {
			if c.DataAtom == atom.Option {
				options = append(options, option(c))
			}
		}
		out.WriteString(": " + strings.Join(options, " | "))
	case "textarea":
		_, _ = fmt.Fprintf(&out, " = %q", textIn(n))
	}
	if hint := o.byID[id+"-hint"]; hint != nil && o.belongsToControl(hint) {
		out.WriteString(" - " + strings.TrimSpace(o.side(hint.ChildNodes())))
	}
	return out.String()
}

func option(n *html.Node) string {
	name, value := strings.Join(strings.Fields(textIn(n)), " "), attribute(n, "value")
	if has(n, "value") && value != name {
		name += "=" + value
	}
	for _, key := range []string{"selected", "disabled"} {
		if has(n, key) {
			name += " (" + key + ")"
		}
	}
	return name
}

// belongsToControl reports whether a control is shown with this element: its label or its own hint.
func (o outliner) belongsToControl(n *html.Node) bool {
	if n.DataAtom == atom.Label {
		of := o.byID[attribute(n, "for")]
		return of != nil && isControl(of)
	}
	id, isHint := strings.CutSuffix(attribute(n, "id"), "-hint")
	of := o.byID[id]
	return isHint && of != nil && isControl(of) && attribute(of, "aria-describedby") == id+"-hint"
}

func TestOutline(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{`<p><span class="state bad">Late</span> by <i data-age="ago">2 min</i></p>`, "[.bad: Late] by [i @ago: 2 min]"},
		{`<a href="/x">A</a><a href="/y?a=1&amp;b">B</a>`, "[a /x: A][a /y?a=1&b: B]"},
		{`<b>A</b><code>B</code><p>C</p>`, "A·B C"},
		{`<a href="/x" aria-label="See A" hidden><svg><path/></svg></a>`, `[a "See A" hidden /x]`},
		{`<nav aria-label="N"><span aria-hidden="true">/</span></nav>`, `[nav "N": [~: /]]`},
		{
			`<label for="i">Name</label> <input id="i" name="n" value="v" required aria-describedby="i-hint"> ` +
				`<p id="i-hint">What it is.</p>`,
			`[input n = v required "Name" - What it is.]`,
		},
		{
			`<label for="j">Name</label> <input id="i" name="n"> <p id="i-hint">Of nothing.</p>`,
			"[for=j: Name] [input #i n] [#i-hint: Of nothing.]",
		},
		{`<label>Yes <input type="checkbox" name="n" checked></label>`, "Yes [input type=checkbox n checked]"},
		{
			`<select name="s"><option value="">None</option><option selected>a</option></select>`,
			"[select s: None= | a (selected)]",
		},
		{`<table><tr><td>a</td><td>b</td></tr></table>`, "[table: [tr: a | b]]"},
		{`<dl><dt>A</dt><dd>1</dd><dt>B</dt><dd>2</dd></dl>`, "A: 1\nB: 2"},
		{
			"<pre id=\"a\">x: 1\n  y</pre><pre id=\"b\">cat\nx: 1\n  y</pre>",
			"pre #a:\n| x: 1\n|   y\npre #b:\n| cat\n| {a}",
		},
	} {
		if got := strings.TrimSpace(outline(t, c.page)); got != c.want {
			t.Errorf("%s is outlined as\n%s\nwant\n%s", c.page, got, c.want)
		}
	}
}
