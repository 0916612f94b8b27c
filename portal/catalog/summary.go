package catalog

import (
	"regexp"

	"github.com/portico-platform/portico/api/v1alpha1"
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

// sentence returns the clauses of an entry.
func sentence(clauses []v1alpha1.CatalogClause) []Clause {
	var all []Clause
	for _, c := range clauses {
		var clause Clause
		for _, p := range c.Phrases {
			phrase := Phrase{Text: p.Text}
			for _, t := range p.When {
				phrase.When = append(phrase.When, Test{Field: string(t.Field), Value: t.Value, Not: t.Not})
			}
			clause = append(clause, phrase)
		}
		all = append(all, clause)
	}
	return all
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
