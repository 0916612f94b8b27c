package iampolicy

import (
	"errors"
	"fmt"
	"strings"
)

// condition compares the values of one key.
type condition struct {
	operator operator
	ifExists bool
	set      quantifier
	key      string // in lower case
	values   []pattern
}

// quantifier is how many of a key's values must meet the condition.
type quantifier int

const (
	single quantifier = iota
	forAll
	forAny
)

// operatorOf parses an operator's name, with its prefix and suffix.
func operatorOf(name string) (condition, error) {
	var c condition
	base := name
	if rest, found := strings.CutPrefix(name, "ForAllValues:"); found {
		c.set, base = forAll, rest
	} else if rest, found := strings.CutPrefix(name, "ForAnyValue:"); found {
		c.set, base = forAny, rest
	}
	base, c.ifExists = strings.CutSuffix(base, "IfExists")
	var known bool
	if c.operator, known = operators[base]; !known || base == "Null" && base != name {
		return c, fmt.Errorf("%w: unknown operator %q", ErrCondition, name)
	}
	return c, nil
}

// check refuses values that the operator cannot compare with.
func (c *condition) check() error {
	if len(c.values) == 0 {
		return errors.New("no value")
	}
	for _, v := range c.values {
		if c.operator.valid != nil && v.fixed() && !c.operator.valid(v.text()) {
			return fmt.Errorf("%q is no such value", v.text())
		}
	}
	return nil
}

// holds reports whether the condition is met. A key without values meets negated operators, ForAllValues and
// …IfExists, and nothing else.
func (c *condition) holds(in Context) bool {
	have := in.values(c.key)
	if c.operator.null {
		return c.is(fmt.Sprint(len(have) == 0), in)
	}
	if len(have) == 0 {
		return c.ifExists || c.set == forAll || c.set == single && c.operator.negated
	}
	met := 0
	for _, value := range have {
		if c.is(value, in) != c.operator.negated {
			met++
		}
	}
	if c.set == forAll || c.set == single && c.operator.negated {
		return met == len(have)
	}
	return met > 0
}

// is reports whether the value equals one of the condition's. One with a variable without a value equals nothing.
func (c *condition) is(value string, in Context) bool {
	for _, p := range c.values {
		if want, ok := p.expand(in); ok && c.operator.compare(value, want) {
			return true
		}
	}
	return false
}
