package iampolicy

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Errors in the policy of a resource, for services that distinguish them.
var (
	ErrPrincipal = errors.New("invalid principal")
	ErrResource  = errors.New("invalid resource")
	ErrAction    = errors.New("invalid action")
	ErrCondition = errors.New("invalid condition")
)

// ResourcePolicy is the parsed policy of a resource: which principals may do what with it. Several goroutines can use
// it at once.
type ResourcePolicy struct {
	statements []resourceStatement
	given      []ResourceStatement
}

// ResourceStatement is a statement as the document states it.
type ResourceStatement struct {
	Sid                       string
	Deny                      bool
	Principals, NotPrincipals []Principal
	Actions, NotActions       []string
	Resources, NotResources   []string
	Conditions                map[string]map[string][]string // values by operator and key
}

type resourceStatement struct {
	statement

	principals, except []Principal // one of the two is empty
}

// resourceDocument is the JSON of a resource's policy.
type resourceDocument struct {
	Version   string
	ID        string `json:"Id"`
	Statement resourceStatementList
}

type resourceStatementJSON struct {
	Sid, Effect             string
	Principal, NotPrincipal principalMap
	Action, NotAction       textList
	Resource, NotResource   textList
	Condition               map[string]map[string]textList
}

// resourceStatementList is one statement, or several.
type resourceStatementList []resourceStatementJSON

// UnmarshalJSON implements [json.Unmarshaler].
func (l *resourceStatementList) UnmarshalJSON(text []byte) error {
	if !strings.HasPrefix(strings.TrimSpace(string(text)), "[") {
		text = append(append([]byte("["), text...), ']')
	}
	var all []resourceStatementJSON
	if err := strictly(text, &all); err != nil {
		return err
	}
	*l = all
	return nil
}

// ParseResource parses the policy of a resource. The keys are those that conditions and variables may use. Each
// statement needs a principal, by "AWS JSON policy elements: Principal" of IAM's guide, and a unique Sid if it has
// one, by "Sid".
func ParseResource(text []byte, known Keys) (*ResourcePolicy, error) {
	var doc resourceDocument
	if err := strictly(text, &doc); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if doc.Version != "" && doc.Version != "2012-10-17" && doc.Version != "2008-10-17" {
		return nil, fmt.Errorf("policy: unknown version %q", doc.Version)
	}
	if len(doc.Statement) == 0 {
		return nil, errors.New("policy: it has no statement")
	}
	p := &ResourcePolicy{}
	seen := map[string]bool{}
	for i := range doc.Statement {
		in := &doc.Statement[i]
		if in.Sid != "" && seen[in.Sid] {
			return nil, fmt.Errorf("policy: two statements have the Sid %q", in.Sid)
		}
		seen[in.Sid] = true
		s, err := (&reader{known: known, variables: doc.Version == "2012-10-17"}).ofResource(in)
		if err != nil {
			return nil, fmt.Errorf("policy, statement %d %q: %w", i+1, in.Sid, err)
		}
		p.statements = append(p.statements, s)
		p.given = append(p.given, in.given(&s))
	}
	return p, nil
}

// ofResource reads a statement of a resource's policy.
func (r *reader) ofResource(in *resourceStatementJSON) (resourceStatement, error) {
	var out resourceStatement
	if (in.Principal == nil) == (in.NotPrincipal == nil) {
		return out, fmt.Errorf("%w: it needs either Principal or NotPrincipal", ErrPrincipal)
	}
	if in.NotPrincipal != nil && in.Effect != "Deny" {
		return out, fmt.Errorf("%w: NotPrincipal is for statements that deny", ErrPrincipal)
	}
	var err error
	if out.principals, err = principalsOf(in.Principal); err != nil {
		return out, err
	}
	if out.except, err = principalsOf(in.NotPrincipal); err != nil {
		return out, err
	}
	plain := statementJSON{
		Sid: in.Sid, Effect: in.Effect, Action: in.Action, NotAction: in.NotAction,
		Resource: in.Resource, NotResource: in.NotResource, Condition: in.Condition,
	}
	out.statement, err = r.statement(&plain)
	return out, err
}

// given returns the statement as the document states it.
func (in *resourceStatementJSON) given(s *resourceStatement) ResourceStatement {
	conditions := map[string]map[string][]string{}
	for operator, keys := range in.Condition {
		conditions[operator] = map[string][]string{}
		for key, values := range keys {
			conditions[operator][key] = values
		}
	}
	return ResourceStatement{
		Sid: s.sid, Deny: s.deny, Principals: s.principals, NotPrincipals: s.except, Actions: in.Action,
		NotActions: in.NotAction,
		Resources:  in.Resource, NotResources: in.NotResource, Conditions: conditions,
	}
}

var (
	// principalARN matches the ARN of an account's root, a user, a role, a session of a role, or a federated user; no
	// part may be a wildcard.
	principalARN = regexp.MustCompile(
		`^arn:aws[a-z-]*:(iam::[0-9]{12}:(root|(user|role)/[\w+=,.@/-]+)|sts::[0-9]{12}:(assumed-role|federated-user)/[\w+=,.@/-]+)$`)
	accountID   = regexp.MustCompile(`^[0-9]{12}$`)
	serviceName = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*\.amazonaws\.com(\.cn)?$`)
)

// principalsOf reads a principal element, sorted by kind; nil for nil.
func principalsOf(m principalMap) ([]Principal, error) {
	var all []Principal
	for _, kind := range slices.Sorted(maps.Keys(m)) {
		for _, name := range m[kind] {
			p := Principal{Kind: kind, Name: name}
			if !p.valid() {
				return nil, fmt.Errorf("%w %s %q", ErrPrincipal, kind, name)
			}
			all = append(all, p)
		}
	}
	if m != nil && all == nil {
		return nil, fmt.Errorf("%w: it names nobody", ErrPrincipal)
	}
	return all, nil
}

func (p Principal) valid() bool {
	switch p.Kind {
	case "*":
		return true
	case "AWS":
		return p.Name == "*" || accountID.MatchString(p.Name) || principalARN.MatchString(p.Name)
	case "Service":
		return serviceName.MatchString(p.Name)
	case "Federated", "CanonicalUser":
		return p.Name != ""
	default:
		return false
	}
}

// Statements returns the statements of the document.
func (p *ResourcePolicy) Statements() []ResourceStatement { return p.given }
