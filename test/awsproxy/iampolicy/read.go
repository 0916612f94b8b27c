package iampolicy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// reader converts parsed JSON to statements.
type reader struct {
	known     Keys
	variables bool // whether ${…} is a variable
}

func (r *reader) statement(in *statementJSON) (statement, error) {
	out := statement{sid: in.Sid, deny: in.Effect == "Deny"}
	if in.Effect != "Allow" && in.Effect != "Deny" {
		return out, fmt.Errorf("the effect is %q", in.Effect)
	}
	if (in.Action == nil) == (in.NotAction == nil) || (in.Resource == nil) == (in.NotResource == nil) {
		return out, errors.New("it needs either Action or NotAction, and either Resource or NotResource")
	}
	var err error
	for _, part := range []struct {
		from textList
		to   *[]pattern
		read func(string) (pattern, error)
	}{
		{in.Action, &out.actions, action},
		{in.NotAction, &out.notActions, action},
		{in.Resource, &out.resources, r.resource},
		{in.NotResource, &out.notResources, r.resource},
	} {
		if *part.to, err = each(part.from, part.read); err != nil {
			return out, err
		}
	}
	out.conditions, err = r.conditions(in.Condition)
	return out, err
}

// each reads all values; nil for nil.
func each(from textList, read func(string) (pattern, error)) ([]pattern, error) {
	var all []pattern
	for _, text := range from {
		p, err := read(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	if from != nil && all == nil {
		return nil, errors.New("a list is empty")
	}
	return all, nil
}

// action parses the name of an action, which has no variables and ignores case.
func action(text string) (pattern, error) {
	service, name, found := strings.Cut(text, ":")
	if text != "*" && (!found || service == "" || name == "") {
		return nil, fmt.Errorf("%w: %q does not have the form service:name", ErrAction, text)
	}
	return plain(strings.ToLower(text)), nil
}

func (r *reader) resource(text string) (pattern, error) {
	if text != "*" && !strings.HasPrefix(text, "arn:") {
		return nil, fmt.Errorf("%w: %q is no ARN", ErrResource, text)
	}
	return r.pattern(text)
}

// conditions reads a condition block, sorted by name.
func (r *reader) conditions(block map[string]map[string]textList) ([]condition, error) {
	var all []condition
	for _, name := range slices.Sorted(maps.Keys(block)) {
		base, err := operatorOf(name)
		if err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(block[name])) {
			c := base
			c.key = strings.ToLower(key)
			if !r.known.has(key) {
				return nil,
					fmt.Errorf("%w: the key %s has no value here: it is misspelled, or the evaluation must learn it",
						ErrCondition, key)
			}
			if c.values, err = each(block[name][key], r.pattern); err != nil {
				return nil, fmt.Errorf("%w: %s of %s: %w", ErrCondition, name, key, err)
			}
			if err := c.check(); err != nil {
				return nil, fmt.Errorf("%w: %s of %s: %w", ErrCondition, name, key, err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// pattern parses a text with wildcards and variables.
func (r *reader) pattern(text string) (pattern, error) {
	if !r.variables {
		return plain(text), nil
	}
	var p pattern
	for {
		before, rest, found := strings.Cut(text, "${")
		p = append(p, plain(before)...)
		if !found {
			return p, nil
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, fmt.Errorf("%q has a variable without an end", text)
		}
		one, err := r.variable(inside)
		if err != nil {
			return nil, err
		}
		p, text = append(p, one...), after
	}
}

// variable parses the text between ${ and }: a key, with a default value after a comma, or a literal character.
func (r *reader) variable(text string) (pattern, error) {
	if text == "*" || text == "?" || text == "$" {
		return pattern{{char: rune(text[0])}}, nil
	}
	key, rest, found := strings.Cut(text, ",")
	v := &variable{key: strings.ToLower(strings.TrimSpace(key))}
	if found {
		rest = strings.TrimSpace(rest)
		if len(rest) < 2 || rest[0] != '\'' || rest[len(rest)-1] != '\'' {
			return nil, fmt.Errorf("the default of ${%s} is not in single quotes", text)
		}
		v.otherwise, v.hasDefault = rest[1:len(rest)-1], true
	}
	if !r.known.has(v.key) {
		return nil, fmt.Errorf("the variable ${%s} has no value here: it is misspelled, or the evaluation must "+
			"learn it", text)
	}
	return pattern{{variable: v}}, nil
}
