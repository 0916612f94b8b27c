package iampolicy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The elements of a policy, and of a statement. AWS reads no others, nor these in another case.
var (
	elements          = []string{"Version", "Id", "Statement"}
	statementElements = []string{
		"Sid", "Effect", "Principal", "NotPrincipal", "Action", "NotAction", "Resource", "NotResource", "Condition",
	}
)

// ParseStrictly reads a policy that is to be written. Other elements than those of a policy, and elements twice, are
// errors: what Portico and AWS read in them may differ.
func ParseStrictly(text string) (Policy, error) {
	p, err := Parse(text)
	if err != nil {
		return p, err
	}
	var statements list[json.RawMessage]
	err = each(json.RawMessage(text), "a policy", elements, func(key string, value json.RawMessage) error {
		if key == "Statement" {
			return json.Unmarshal(value, &statements)
		}
		var s string
		return json.Unmarshal(value, &s)
	})
	for _, s := range statements {
		if err == nil {
			err = each(s, "a statement", statementElements, func(string, json.RawMessage) error { return nil })
		}
	}
	return p, err
}

// each calls do for each member of an object.
func each(object json.RawMessage, what string, known []string, do func(key string, value json.RawMessage) error) error {
	decoder := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("it is no policy in JSON: %w", err)
	}
	var seen []string
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("it is no policy in JSON: %w", err)
		}
		key, _ := token.(string)
		switch {
		case !slices.Contains(known, key):
			return fmt.Errorf("%q is no element of %s: those are %s", key, what, strings.Join(known, ", "))
		case slices.Contains(seen, key):
			return fmt.Errorf("%s has %s twice", what, key)
		}
		seen = append(seen, key)
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return fmt.Errorf("it is no policy in JSON: %w", err)
		}
		if err := do(key, value); err != nil {
			return fmt.Errorf("%s of %s: %w", key, what, err)
		}
	}
	return nil
}
