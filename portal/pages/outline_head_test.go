package pages

import (
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

var spaces = regexp.MustCompile(`\s+`)

// Elements that an outline writes without their names.
var unnamed = []atom.Atom{
	atom.Html, atom.Head, atom.Body, atom.Div, atom.P, atom.Ul, atom.Ol, atom.Dl, atom.Dd, atom.Thead, atom.Tbody,
	atom.Th, atom.Td, atom.Label, atom.Legend, atom.Span, atom.B, atom.Small, atom.Code, atom.Time, atom.Em,
	atom.Strong,
}

// Elements that a browser shows side by side.
var inlines = []atom.Atom{
	atom.A, atom.B, atom.Span, atom.Small, atom.Code, atom.Time, atom.Em, atom.Strong, atom.Button, atom.Svg,
	atom.Progress, atom.Label, atom.Kbd, atom.Mark, atom.Abbr,
}

// Classes that carry a meaning: a state, or for whom the element is.
var meaning = []string{"bad", "good", "busy", "idle", "warn", "danger", "err", "hush", "onlyjs", "nojs", "masked"}

// Attributes that are the same on all elements of a sort, or whose meaning an outline shows in another way.
var omitted = []string{
	"class", "role=table", "role=row", "role=rowgroup", "role=cell", "role=columnheader", "scope=col", "scope=row",
	"data-label", "datetime", "autocomplete=off", "autocapitalize=off", "spellcheck=false", "placeholder=",
	"type=submit", "type=text",
}

// redraws is what buttons of a form have that change its fields.
const redraws = "hx-post= hx-target=#ask hx-select=#ask hx-swap=outerMorph hx-select-oob=#preview:outerMorph " +
	"hx-validate=false"

// head returns an element without what it contains: its name, id, classes with a meaning and attributes.
func (o outliner) head(n *html.Node) string {
	if n.Type != html.ElementNode {
		return ""
	}
	var words []string
	if !slices.Contains(unnamed, n.DataAtom) {
		words = append(words, n.Data)
	}
	for class := range strings.FieldsSeq(attribute(n, "class")) {
		if slices.Contains(meaning, class) {
			words = append(words, "."+class)
		}
	}
	for _, a := range n.Attr {
		if word := o.word(n, a); word != "" {
			words = append(words, word)
		}
	}
	return strings.Replace(strings.Join(words, " "), redraws, "(redraws)", 1)
}

// word returns what an outline writes of an attribute.
func (o outliner) word(n *html.Node, a html.Attribute) string {
	value := a.Val
	if value == "" || strings.ContainsAny(value, " \n\"[]") {
		value = strconv.Quote(value)
	}
	switch {
	case o.omits(n, a):
		return ""
	case a.Key == "id":
		return "#" + a.Val
	case a.Key == "data-age":
		return "@" + a.Val
	case a.Key == "aria-hidden" && a.Val == "true":
		return "~"
	case a.Key == "aria-label":
		return strconv.Quote(a.Val)
	case slices.Contains([]string{"href", "action", "method", "name"}, a.Key):
		return value
	case a.Key == "value":
		return "= " + value
	case a.Val == "" && !strings.HasPrefix(a.Key, "hx-"):
		return a.Key
	case a.Val == "":
		return a.Key + "="
	}
	return strings.TrimPrefix(a.Key, "aria-") + "=" + value
}

// omits reports whether an outline leaves an attribute out, because each element has it or its label says the same.
func (o outliner) omits(n *html.Node, a html.Attribute) bool {
	switch a.Key {
	case "title":
		if n.DataAtom == atom.Time {
			return true
		}
	case "value":
		if a.Val == "" {
			return true
		}
	case "aria-describedby":
		if a.Val == attribute(n, "id")+"-hint" {
			return true
		}
	case "id":
		if o.labels[a.Val] != nil && isControl(n) {
			return true
		}
	}
	if slices.ContainsFunc(n.Attr, isSecret) {
		return a.Key == "class" // what a browser may keep of a secret, or send somewhere, is shown
	}
	return slices.Contains(omitted, a.Key) || slices.Contains(omitted, a.Key+"="+a.Val)
}

func isSecret(a html.Attribute) bool { return a.Key == "data-secret" }

// isInline reports whether a browser shows the node beside its neighbours.
func isInline(n *html.Node) bool {
	return n.Type == html.TextNode || slices.Contains(inlines, n.DataAtom) && !hasBlocks(n)
}

// hasBlocks reports whether an element contains one that has lines of its own.
func hasBlocks(n *html.Node) bool {
	for c := range n.Descendants() {
		if c.Type == html.ElementNode && c.Namespace == "" && !slices.Contains(inlines, c.DataAtom) {
			return true
		}
	}
	return false
}

// hasText reports whether one of the nodes is a text.
func hasText(nodes iter.Seq[*html.Node]) bool {
	for n := range nodes {
		if n.Type == html.TextNode && strings.TrimSpace(n.Data) != "" {
			return true
		}
	}
	return false
}

// hasBreaks reports whether an element contains what is never on one line: two pairs of a term and its description, or
// a preformatted text.
func hasBreaks(n *html.Node) bool {
	terms := 0
	for c := range n.Descendants() {
		switch c.Data {
		case "dt":
			terms++
		case "pre":
			return true
		}
	}
	return terms > 1
}

// quoted returns the lines of a preformatted text.
func quoted(text, indent string) (all []string) {
	for line := range strings.Lines(text) {
		all = append(all, indent+"| "+strings.TrimSuffix(line, "\n"))
	}
	return all
}
