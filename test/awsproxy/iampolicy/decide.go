package iampolicy

import "strings"

// Context returns the values of a condition key, whose name is in lower case; none if the call has no such key.
type Context func(key string) []string

func (c Context) values(key string) []string {
	if c == nil {
		return nil
	}
	return c(key)
}

// Request is one action on one resource. A call may need several.
type Request struct {
	Action   string // service:Name
	Resource string // an ARN, or * for an action without a resource
	Context  Context
}

// Policies are all policies that decide what a principal may do.
type Policies struct {
	// Identity are the policies attached to the principal.
	Identity []*Policy
	// Boundary limits what Identity can allow; nil is no limit.
	Boundary *Policy
	// Session are the policies that the session was opened with; an empty list is no limit.
	Session []*Policy
}

// Decision is the outcome of a request. The zero value is a denial.
type Decision struct {
	Allowed bool
	because string
}

// Because returns in AWS's words why the request is denied.
func (d Decision) Because() string { return d.because }

// Decide judges a request.
func (p Policies) Decide(r Request) Decision {
	kinds := []struct {
		name     string // with its article
		short    string
		policies []*Policy
		limits   bool
	}{
		{"an identity-based policy", "identity-based policy", p.Identity, true},
		{"a permissions boundary", "permissions boundary", []*Policy{p.Boundary}, p.Boundary != nil},
		{"a session policy", "session policy", p.Session, len(p.Session) > 0},
	}
	for _, k := range kinds {
		if k.limits && some(k.policies, r, true) {
			return Decision{because: "with an explicit deny in " + k.name}
		}
	}
	for _, k := range kinds {
		if k.limits && !some(k.policies, r, false) {
			return Decision{because: "because no " + k.short + " allows the " + r.Action + " action"}
		}
	}
	return Decision{Allowed: true}
}

// some reports whether a statement with the effect matches the request.
func some(policies []*Policy, r Request, deny bool) bool {
	for _, p := range policies {
		for i := range p.statements {
			if s := &p.statements[i]; s.deny == deny && s.isAbout(r) {
				return true
			}
		}
	}
	return false
}

func (s *statement) isAbout(r Request) bool {
	if !oneOf(s.actions, s.notActions, strings.ToLower(r.Action), r.Context) ||
		!oneOf(s.resources, s.notResources, r.Resource, r.Context) {
		return false
	}
	for i := range s.conditions {
		if !s.conditions[i].holds(r.Context) {
			return false
		}
	}
	return true
}

// oneOf reports whether the text matches one of the patterns, or none of the excepted patterns. A pattern with a
// variable without a value matches nothing.
func oneOf(patterns, except []pattern, text string, c Context) bool {
	list := patterns
	if list == nil {
		list = except
	}
	for _, p := range list {
		if full, ok := p.expand(c); ok && full.matches(text) {
			return patterns != nil
		}
	}
	return patterns == nil
}
