package iam

import (
	"slices"
	"strings"
)

// Caller is who makes a request on a resource that may have a policy.
type Caller struct {
	// Names are all that the caller goes by, the closest first: a session, its role, and its account.
	Names []Principal
	// Root is true for the root user of an account, whom no policy of its own limits.
	Root bool
	// Foreign is true if the resource is another account's.
	Foreign bool
	// ByPolicy is true if the resource's policy alone lets anybody in, its own account too, as that of a KMS key does:
	// "Key policies in AWS KMS" of its guide.
	ByPolicy bool
}

// grant says by which of a caller's names a policy lets it in. What is more than byAccount is enough in the caller's
// own account.
type grant int

const (
	none      grant = iota
	byAccount       // the account may give it on to those in it
	byRole          // or everybody
	bySession
)

// DecideOn judges a request on a resource with a policy, or without one if on is nil, by "Policy evaluation logic" of
// IAM's guide: an explicit deny wins. Of a resource of another account both the resource's policy and the caller's own
// must allow; of one of the caller's account either. What the resource's policy allows a role, a boundary and a session
// policy still limit (it does not what it allows the session by its ARN); what it allows the account, the caller's own
// policies must allow as well.
//
// For everybody (*) AWS does not say that; here it is as for a role, which is the stricter.
func (p Policies) DecideOn(r Request, on *ResourcePolicy, who Caller) Decision {
	own := p.Decide(r)
	if who.Root {
		own = Decision{Allowed: true}
	}
	if strings.HasPrefix(own.because, "with an explicit deny") {
		return own
	}
	if on.Denies(r, p.Boundary != nil, who.Names...) {
		return Decision{because: "with an explicit deny in a resource-based policy"}
	}
	got := on.allows(r, who.Names)
	switch {
	case who.Foreign || who.ByPolicy:
		if got == none {
			return Decision{because: "because no resource-based policy allows the " + r.Action + " action"}
		}
		if who.Foreign || got == byAccount {
			return own
		}
	case own.Allowed || got <= byAccount:
		return own
	}
	if got == bySession || who.Root {
		return Decision{Allowed: true}
	}
	return p.limits(r)
}

// limits judges a request that a resource's policy allows the caller's role: only what takes away counts.
func (p Policies) limits(r Request) Decision {
	if p.Boundary != nil && !some([]*Policy{p.Boundary}, r, false) {
		return Decision{because: "because no permissions boundary allows the " + r.Action + " action"}
	}
	if len(p.Session) > 0 && !some(p.Session, r, false) {
		return Decision{because: "because no session policy allows the " + r.Action + " action"}
	}
	return Decision{Allowed: true}
}

// Admits reports whether the policy lets in who is no principal of an account, as a service: it must be allowed, and
// not denied. No policy lets nobody in.
func (p *ResourcePolicy) Admits(r Request, who Principal) bool {
	return p.allows(r, []Principal{who}) != none && !p.Denies(r, false, who)
}

// Denies reports whether a statement denies the request to who goes by the names. NotPrincipal has to name all of them,
// and always denies who has a boundary: "AWS JSON policy elements: NotPrincipal" of IAM's guide.
func (p *ResourcePolicy) Denies(r Request, bounded bool, names ...Principal) bool {
	if p == nil {
		return false
	}
	for i := range p.statements {
		s := &p.statements[i]
		if !s.deny || !s.isAbout(r) {
			continue
		}
		if s.principals == nil {
			if bounded || slices.ContainsFunc(names, func(n Principal) bool { return !named(s.except, n) }) {
				return true
			}
		} else if slices.ContainsFunc(names, func(n Principal) bool { return named(s.principals, n) }) {
			return true
		}
	}
	return false
}

// allows returns the best that statements grant to who goes by the names.
func (p *ResourcePolicy) allows(r Request, names []Principal) grant {
	best := none
	if p == nil {
		return best
	}
	for i := range p.statements {
		s := &p.statements[i]
		if s.deny || !s.isAbout(r) {
			continue
		}
		for _, n := range names {
			if named(s.principals, n) {
				best = max(best, s.grants(n))
			}
		}
	}
	return best
}

// grants returns what the statement is worth to who goes by a name that it has.
func (s *resourceStatement) grants(n Principal) grant {
	everybody := slices.ContainsFunc(s.principals, Principal.everybody)
	switch {
	case n.Kind != "AWS" || strings.Contains(n.Name, ":assumed-role/") && !everybody:
		return bySession
	case everybody || !strings.HasSuffix(n.Name, ":root"):
		return byRole
	default:
		return byAccount
	}
}

// everybody reports whether the principal stands for all, of every kind: in the policy of a resource {"AWS": "*"} is
// the same as "*", and both include services, as S3's page "Granting permissions to publish event notification
// messages" uses them.
func (p Principal) everybody() bool { return p.Kind == "*" || p.Kind == "AWS" && p.Name == "*" }

// named reports whether one of the principals is who goes by the name. An account may be given as its number.
func named(all []Principal, who Principal) bool {
	return slices.ContainsFunc(all, func(p Principal) bool {
		if p.everybody() {
			return true
		}
		account, root := strings.CutSuffix(who.Name, ":root")
		return p.Kind == who.Kind && (p.Name == who.Name || root && strings.HasSuffix(account, "::"+p.Name))
	})
}
