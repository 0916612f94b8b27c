package iampolicy

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Principal identifies a caller, by one kind of name.
type Principal struct {
	Kind string // AWS, Service, Federated, or "*" for all
	Name string // an ARN, an account, a service, or "*"
}

// Trust is a role's trust policy, parsed: who may assume the role.
type Trust struct{ statements []trustStatement }

type trustStatement struct {
	statement

	principals []Principal
}

// trustDocument is the JSON of a trust policy.
type trustDocument struct {
	Version   string
	ID        string `json:"Id"`
	Statement trustStatementList
}

// trustStatementJSON has no Resource: that is the role itself.
type trustStatementJSON struct {
	Sid, Effect string
	Principal   principalMap
	Action      textList
	Condition   map[string]map[string]textList
}

// principalMap has names by kind; "*" alone is everybody, of every kind.
type principalMap map[string]textList

// UnmarshalJSON implements [json.Unmarshaler].
func (m *principalMap) UnmarshalJSON(text []byte) error {
	if string(text) == `"*"` {
		*m = principalMap{"*": {"*"}}
		return nil
	}
	var all map[string]textList
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*m = all
	return nil
}

// trustStatementList is one statement, or several.
type trustStatementList []trustStatementJSON

// UnmarshalJSON implements [json.Unmarshaler].
func (l *trustStatementList) UnmarshalJSON(text []byte) error {
	if !strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
		text = append(append([]byte("["), text...), ']')
	}
	var all []trustStatementJSON
	if err := strictly(text, &all); err != nil {
		return err
	}
	*l = all
	return nil
}

// ParseTrust parses a trust policy. The keys are those that conditions may use, in addition to the keys of the OpenID
// Connect providers that it trusts.
func ParseTrust(text []byte, known Keys) (*Trust, error) {
	var doc trustDocument
	if err := strictly(text, &doc); err != nil {
		return nil, fmt.Errorf("trust policy: %w", err)
	}
	if doc.Version != "2012-10-17" && doc.Version != "2008-10-17" {
		return nil, fmt.Errorf("trust policy: unknown version %q", doc.Version)
	}
	if len(doc.Statement) == 0 {
		return nil, errors.New("trust policy: it has no statement")
	}
	t := &Trust{}
	for i := range doc.Statement {
		s, err := readTrust(&doc.Statement[i], known, doc.Version != "2008-10-17")
		if err != nil {
			return nil, fmt.Errorf("trust policy, statement %d %q: %w", i+1, doc.Statement[i].Sid, err)
		}
		t.statements = append(t.statements, s)
	}
	return t, nil
}

func readTrust(in *trustStatementJSON, known Keys, variables bool) (trustStatement, error) {
	out := trustStatement{statement: statement{sid: in.Sid, deny: in.Effect == "Deny"}}
	if in.Effect != "Allow" && in.Effect != "Deny" {
		return out, fmt.Errorf("the effect is %q", in.Effect)
	}
	known = slices.Clone(known)
	for _, kind := range slices.Sorted(maps.Keys(in.Principal)) {
		if kind != "AWS" && kind != "Service" && kind != "Federated" && kind != "*" {
			return out, fmt.Errorf("%q is no kind of principal", kind)
		}
		for _, name := range in.Principal[kind] {
			out.principals = append(out.principals, Principal{Kind: kind, Name: name})
			if _, provider, found := strings.Cut(name, ":oidc-provider/"); found {
				known = append(known, provider+":sub", provider+":aud", provider+":amr")
			}
		}
	}
	if len(out.principals) == 0 {
		return out, errors.New("it names no principal")
	}
	var err error
	if out.actions, err = each(in.Action, trustAction); err != nil {
		return out, err
	}
	if len(out.actions) == 0 {
		return out, errors.New("it names no action")
	}
	out.conditions, err = (&reader{known: known, variables: variables}).conditions(in.Condition)
	return out, err
}

// trustActions are the actions that a trust policy may name.
var trustActions = []string{
	"sts:AssumeRole", "sts:AssumeRoleWithSAML", "sts:AssumeRoleWithWebIdentity", "sts:TagSession",
	"sts:SetSourceIdentity", "sts:SetContext", "sts:*",
}

func trustAction(text string) (pattern, error) {
	if !slices.ContainsFunc(trustActions, func(known string) bool { return strings.EqualFold(known, text) }) {
		return nil, fmt.Errorf("%q is no action by which a role is assumed", text)
	}
	return action(text)
}

// Principals returns all principals that the policy names, in its order.
func (t *Trust) Principals() []Principal {
	var all []Principal
	for _, s := range t.statements {
		all = append(all, s.principals...)
	}
	return all
}

// Allows reports whether a statement allows the action to the principal.
func (t *Trust) Allows(action string, who Principal, c Context) bool {
	return t.some(false, action, who, c)
}

// Denies reports whether a statement denies the action to the principal.
func (t *Trust) Denies(action string, who Principal, c Context) bool {
	return t.some(true, action, who, c)
}

func (t *Trust) some(deny bool, action string, who Principal, c Context) bool {
	for i := range t.statements {
		s := &t.statements[i]
		if s.deny == deny && s.names(who) && s.isAbout(Request{Action: action, Context: c}) {
			return true
		}
	}
	return false
}

// names reports whether the statement names the principal. An account may be given as its number.
func (s *trustStatement) names(who Principal) bool {
	return slices.ContainsFunc(s.principals, func(p Principal) bool {
		if p.Kind != who.Kind {
			return p.Kind == "*"
		}
		account, root := strings.CutSuffix(who.Name, ":root")
		return p.Name == who.Name || p.Name == "*" || root && strings.HasSuffix(account, "::"+p.Name)
	})
}

// Mentions reports whether a statement allows the action to the principal, even if only under conditions.
func (t *Trust) Mentions(action string, who Principal) bool {
	for i := range t.statements {
		s := t.statements[i]
		s.conditions = nil
		if !s.deny && s.names(who) && s.isAbout(Request{Action: action}) {
			return true
		}
	}
	return false
}
