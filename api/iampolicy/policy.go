// Package iampolicy reads the policies of AWS resources, which say who may do what with a queue, a topic or a bucket.
// Source: IAM User Guide, "Grammar of the IAM JSON policy language" and "Policy evaluation logic".
package iampolicy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Policy is a policy as it is written.
type Policy struct {
	Statements list[Statement] `json:"Statement"`
}

// Statement is one of a policy's statements.
type Statement struct {
	ID           string                          `json:"Sid"`
	Effect       string                          `json:"Effect"`
	Principal    Principals                      `json:"Principal"`
	NotPrincipal Principals                      `json:"NotPrincipal"`
	Action       list[string]                    `json:"Action"`
	NotAction    list[string]                    `json:"NotAction"`
	Resource     list[string]                    `json:"Resource"`
	NotResource  list[string]                    `json:"NotResource"`
	Conditions   map[string]map[string]list[any] `json:"Condition"`
}

// Principals are whom a statement is about, by the type of principal: AWS, Service, Federated or CanonicalUser.
// Everybody, who is written as "*", is of the type AWS.
type Principals map[string]list[string]

const (
	typeAWS  = "AWS"
	everyone = "*"
)

// UnmarshalJSON reads principals.
func (p *Principals) UnmarshalJSON(text []byte) error {
	var all string
	if json.Unmarshal(text, &all) == nil {
		if all != everyone {
			return fmt.Errorf("%q is no principal: write %q, or an object such as {\"AWS\": \"111122223333\"}", all,
				everyone)
		}
		*p = Principals{typeAWS: {everyone}}
		return nil
	}
	return json.Unmarshal(text, (*map[string]list[string])(p))
}

// list is what JSON has as a list, or as its only element.
type list[T any] []T

// UnmarshalJSON reads a list.
func (l *list[T]) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
		return json.Unmarshal(text, (*[]T)(l))
	}
	var only T
	if err := json.Unmarshal(text, &only); err != nil {
		return err
	}
	*l = list[T]{only}
	return nil
}

// Parse reads a policy. It returns an error for what is no policy.
func Parse(text string) (Policy, error) {
	var p Policy
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return Policy{}, fmt.Errorf("it is no policy in JSON: %w", err)
	}
	return p, nil
}

// LockOut is a statement of a policy that keeps the operator from a resource of its own.
type LockOut struct {
	Statement string // its Sid, or which one it is
	Action    string // one of those that are denied
}

// LocksOut returns the first statement that denies the operator, which is the caller, one of the actions, which are
// written as sqs:SendMessage, nil if none does. A condition does not save a statement: whether the operator meets it is
// not known. Only that calls are encrypted is, for those of the operator are.
func (p Policy) LocksOut(actions []string, caller Caller) *LockOut {
	for i, s := range p.Statements {
		if s.Effect != "Deny" || s.onlyUnencrypted() || !s.reaches(caller) {
			continue
		}
		for _, action := range actions {
			if s.covers(action) {
				return &LockOut{Statement: s.name(i), Action: action}
			}
		}
	}
	return nil
}

func (s Statement) name(i int) string {
	if s.ID != "" {
		return s.ID
	}
	return fmt.Sprintf("number %d", i+1)
}

// onlyUnencrypted reports whether the statement holds for calls without TLS alone.
func (s Statement) onlyUnencrypted() bool {
	for operator, keys := range s.Conditions {
		for key, values := range keys {
			if operator == "Bool" && strings.EqualFold(key, "aws:SecureTransport") && len(values) == 1 &&
				fmt.Sprint(values[0]) == "false" {
				return true // all conditions must hold, so this one alone decides
			}
		}
	}
	return false
}

// reaches reports whether the statement may be about the caller.
func (s Statement) reaches(caller Caller) bool {
	if s.NotPrincipal != nil {
		return !caller.exempt(s.NotPrincipal[typeAWS])
	}
	return slices.ContainsFunc(s.Principal[typeAWS], func(p string) bool { return p == everyone || caller.mayBe(p) })
}

// covers reports whether the statement is about the action.
func (s Statement) covers(action string) bool {
	matches := func(pattern string) bool { return Matches(strings.ToLower(pattern), strings.ToLower(action)) }
	if s.NotAction != nil {
		return !slices.ContainsFunc(s.NotAction, matches)
	}
	return slices.ContainsFunc(s.Action, matches)
}

// Matches reports whether the text matches the pattern, in which * matches any characters and ? one.
func Matches(pattern, text string) bool {
	star, mark, p := -1, 0, 0
	for t := 0; t < len(text); {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark, p = p, t, p+1
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p, t = p+1, t+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
