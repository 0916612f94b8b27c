package iampolicy

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Own begins the Sid of every statement that Portico writes. IAM takes letters and digits in a Sid.
const Own = "Portico"

// version of the policy language, for a policy that begins with statements of Portico's.
const version = "2012-10-17"

// document is a policy with its statements as they are written.
type document struct {
	Version   any                   `json:"Version,omitempty"`
	ID        any                   `json:"Id,omitempty"`
	Statement list[json.RawMessage] `json:"Statement"`
}

// Split returns the statements of a policy that Portico writes and the others, each as a policy; empty without
// statements. Invalid JSON is returned as others.
func Split(policy string) (own, rest string) {
	var d document
	if json.Unmarshal([]byte(policy), &d) != nil {
		return "", policy
	}
	var ours, theirs document
	theirs.Version, theirs.ID = d.Version, d.ID
	for _, s := range d.Statement {
		if IsOwn(s) {
			ours.Statement = append(ours.Statement, s)
		} else {
			theirs.Statement = append(theirs.Statement, s)
		}
	}
	if ours.Statement == nil {
		return "", policy // as it is written
	}
	return ours.text(), theirs.text()
}

// IsOwn reports whether Portico writes the statement.
func IsOwn(statement json.RawMessage) bool {
	var s struct {
		Sid string `json:"Sid"`
	}
	return json.Unmarshal(statement, &s) == nil && ownSid.MatchString(s.Sid)
}

// ownSid are the Sids that Portico gives: one for each service that sends, with the account of buckets, and one that
// requires TLS.
var ownSid = regexp.MustCompile(`^` + Own + `(Topics|Rules|Buckets[0-9]*|RequireTLS)$`)

// HasOwnSid reports whether a statement has a Sid that is kept for Portico.
func (p Policy) HasOwnSid() bool {
	return slices.ContainsFunc(p.Statements, func(s Statement) bool { return strings.HasPrefix(s.ID, Own) })
}

// Join returns one policy of both parts, which Split divides again; empty if nothing is in either. A rest that is no
// policy is returned as it is: the service says so.
func Join(own, rest string) string {
	if own == "" {
		return rest
	}
	var ours, all document
	if json.Unmarshal([]byte(own), &ours) != nil {
		return rest
	}
	if rest != "" && json.Unmarshal([]byte(rest), &all) != nil {
		return rest
	}
	if rest == "" {
		all.Version = version // of others' statements it changes what they mean
	}
	all.Statement = append(slices.Clip(all.Statement), ours.Statement...)
	return all.text()
}

// Of returns a policy of these statements; empty without any.
func Of(statements ...any) string {
	var d document
	for _, s := range statements {
		text, err := json.Marshal(s)
		if err != nil {
			panic("a statement of ours is no JSON: " + err.Error()) // they are plain strings
		}
		d.Statement = append(d.Statement, text)
	}
	return d.text()
}

func (d document) text() string {
	if len(d.Statement) == 0 {
		return ""
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(d); err != nil {
		panic("a policy that was read cannot be written: " + err.Error())
	}
	return strings.TrimSpace(out.String())
}
