package iampolicy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Policy is a parsed document. Several goroutines can use it at once.
type Policy struct{ statements []statement }

// statement allows or denies; the zero value of a list means that the document
// does not have the element.
type statement struct {
	sid                     string
	deny                    bool
	actions, notActions     []pattern
	resources, notResources []pattern
	conditions              []condition
}

// Keys are the condition keys that have values when a call is judged. One that ends in "/" matches all keys that
// begin with it, as aws:RequestTag/ does.
type Keys []string

// has reports whether the keys include the key, regardless of case.
func (k Keys) has(key string) bool {
	key = strings.ToLower(key)
	for _, known := range k {
		known = strings.ToLower(known)
		if family := strings.HasSuffix(known, "/"); family && strings.HasPrefix(key, known) && key != known ||
			!family && key == known {
			return true
		}
	}
	return false
}

// document is the JSON of a policy.
type document struct {
	Version   string
	ID        string `json:"Id"`
	Statement statementList
}

// statementJSON has no Principal: that is the principal that the policy is attached to.
type statementJSON struct {
	Sid, Effect           string
	Action, NotAction     textList
	Resource, NotResource textList
	Condition             map[string]map[string]textList
}

// statementList is one statement, or several.
type statementList []statementJSON

// UnmarshalJSON implements [json.Unmarshaler].
func (l *statementList) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		text = append(append([]byte("["), text...), ']')
	}
	var all []statementJSON
	if err := strictly(text, &all); err != nil {
		return err
	}
	*l = all
	return nil
}

// textList is one value, or several: a text, a number, true or false.
type textList []string

// UnmarshalJSON implements [json.Unmarshaler].
func (l *textList) UnmarshalJSON(text []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		text = append(append([]byte("["), text...), ']')
	}
	var all []json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*l = textList{}
	for _, raw := range all {
		var s string
		if raw[0] != '"' {
			s = string(raw)
			if strings.ContainsAny(s[:1], "[{n") {
				return fmt.Errorf("%s is no text, number or boolean", s)
			}
		} else if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		*l = append(*l, s)
	}
	return nil
}

// strictly parses JSON that has only known fields, each once.
func strictly(text []byte, into any) error {
	if err := once(text); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// once refuses an object that has a field twice: otherwise the last would count, and AWS refuses it too.
func once(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	var open []map[string]bool // the fields of each enclosing object; nil for a list
	name := true               // whether the next string is the name of a field
	for {
		token, err := d.Token()
		if err != nil {
			return nil //nolint:nilerr // the end; what is no JSON is told by whoever decodes it
		}
		inside := len(open) > 0 && open[len(open)-1] != nil
		switch t := token.(type) {
		case json.Delim:
			open, name = nest(open, t), true
			continue
		case string:
			if inside && name {
				if open[len(open)-1][t] {
					return fmt.Errorf("%q is there twice", t)
				}
				open[len(open)-1][t] = true
				name = false
				continue
			}
		}
		name = true
	}
}

// nest returns the enclosing objects after a delimiter.
func nest(open []map[string]bool, t json.Delim) []map[string]bool {
	switch t {
	case '{':
		return append(open, map[string]bool{})
	case '[':
		return append(open, nil)
	default:
		return open[:max(len(open)-1, 0)]
	}
}

// Parse parses a document. The keys are those that conditions and variables may use.
func Parse(text []byte, known Keys) (*Policy, error) {
	var doc document
	if err := strictly(text, &doc); err != nil {
		return nil, fmt.Errorf("policy document: %w", err)
	}
	variables := false
	switch doc.Version {
	case "2012-10-17":
		variables = true
	case "", "2008-10-17": // variables are plain text in these versions
	default:
		return nil, fmt.Errorf("policy document: unknown version %q", doc.Version)
	}
	if len(doc.Statement) == 0 {
		return nil, errors.New("policy document: it has no statement")
	}
	p := &Policy{}
	for i := range doc.Statement {
		s, err := (&reader{known: known, variables: variables}).statement(&doc.Statement[i])
		if err != nil {
			return nil, fmt.Errorf("policy document, statement %d %q: %w", i+1, doc.Statement[i].Sid, err)
		}
		p.statements = append(p.statements, s)
	}
	return p, nil
}
