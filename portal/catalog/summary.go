package catalog

import (
	"regexp"
	"strings"
)

// Clause is a part of the sentence that describes an object: the first of its phrases that holds.
type Clause []Phrase

// Phrase is a text with {field} for the values of fields of spec. It holds if its conditions do, and its fields are
// set.
type Phrase struct {
	When []Test
	Text string
}

// Test is a condition on a field of spec: it is set, it is not set, or it has a value.
type Test struct {
	Field, Value string
	Not          bool
}

// says parses clauses separated by bars, of phrases separated by slashes between spaces: conditions?words. Conditions
// are field, !field or field=value, joined by &.
func says(annotation string) []Clause {
	var all []Clause
	for clause := range strings.SplitSeq(annotation, "|") {
		var c Clause
		for phrase := range strings.SplitSeq(clause, " / ") {
			if phrase = strings.TrimSpace(phrase); phrase != "" {
				c = append(c, phraseOf(phrase))
			}
		}
		if len(c) > 0 {
			all = append(all, c)
		}
	}
	return all
}

func phraseOf(text string) Phrase {
	var p Phrase
	when, words, conditional := strings.Cut(text, "?")
	if !conditional {
		when, words = "", text
	}
	for one := range strings.SplitSeq(when, "&") {
		field, value, _ := strings.Cut(strings.TrimSpace(one), "=")
		if field, not := strings.CutPrefix(field, "!"); field != "" {
			p.When = append(p.When, Test{Field: field, Value: value, Not: not})
		}
	}
	p.Text = strings.TrimSpace(words)
	return p
}

var inserted = regexp.MustCompile(`\{([^}]*)\}`)

// Fields returns the names of the fields that the phrase uses.
func (p Phrase) Fields() []string {
	var all []string
	for _, m := range inserted.FindAllStringSubmatch(p.Text, -1) {
		all = append(all, m[1])
	}
	for _, t := range p.When {
		all = append(all, t.Field)
	}
	return all
}

// Tells returns the names of the fields whose values are evident from the phrase: not those of which it only tests
// whether they are set.
func (p Phrase) Tells() []string {
	var all []string
	for _, m := range inserted.FindAllStringSubmatch(p.Text, -1) {
		all = append(all, m[1])
	}
	for _, t := range p.When {
		if t.Value != "" && !t.Not {
			all = append(all, t.Field)
		}
	}
	return all
}

// Words returns the phrase with the fields' values inserted.
func (p Phrase) Words(value func(field string) string) string {
	return inserted.ReplaceAllStringFunc(p.Text, func(m string) string { return value(m[1 : len(m)-1]) })
}
