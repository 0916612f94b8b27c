package iampolicy

import (
	"slices"
	"strings"
)

// Caller is the caller of a request on a resource that may have a policy.
type Caller struct {
	// Names are all principals that match the caller, the most specific first: a session, its role, and its account.
	Names []Principal
	// Root is true for the root user of an account, which no policy of the account limits.
	Root bool
	// Foreign is true if the resource is another account's.
	Foreign bool
	// ByPolicy is true if only the resource's policy gives access, to its own account too, as for a KMS key: "Key
	// policies in AWS KMS" of its guide.
	ByPolicy bool
}

// grant is the most specific principal of the caller that a policy allows. Any value above byAccount is sufficient in
// the caller's own account.
type grant int

const (
	none      grant = iota
	byAccount       // the account may delegate it to its principals
	byRole          // or for everybody
	bySession
)

// DecideOn judges a request on a resource with a policy, or without one if on is nil, by "Policy evaluation logic" of
// IAM's guide: an explicit deny wins. For a resource of another account, both the resource's policy and the caller's
// own policies must allow the request; for one of the caller's account either is sufficient. A boundary and a session
// policy still limit what the resource's policy allows a role, but not what it allows the session by its ARN. If the
// resource's policy allows only the account, the caller's own policies must allow the request as well.
//
// AWS does not document this for everybody (*); here it is treated as a role, which is stricter.
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

// limits judges a request that a resource's policy allows the caller's role: only policies that restrict count.
func (p Policies) limits(r Request) Decision {
	if p.Boundary != nil && !some([]*Policy{p.Boundary}, r, false) {
		return Decision{because: "because no permissions boundary allows the " + r.Action + " action"}
	}
	if len(p.Session) > 0 && !some(p.Session, r, false) {
		return Decision{because: "because no session policy allows the " + r.Action + " action"}
	}
	return Decision{Allowed: true}
}

// Admits reports whether the policy allows a principal that belongs to no account, such as a service: it must be
// allowed, and not denied. Without a policy, no such principal is allowed.
func (p *ResourcePolicy) Admits(r Request, who Principal) bool {
	return p.allows(r, []Principal{who}) != none && !p.Denies(r, false, who)
}

// Denies reports whether a statement denies the request to a caller with the names. A NotPrincipal exempts the caller
// only if it has all of the names, and never a caller with a boundary: "AWS JSON policy elements: NotPrincipal" of
// IAM's guide.
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

// allows returns the most that statements grant to a caller with the names.
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

// grants returns what the statement grants to the principal.
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

// everybody reports whether the principal means everybody, of every kind: in the policy of a resource {"AWS": "*"} is
// the same as "*", and both include services, as S3's page "Granting permissions to publish event notification
// messages" uses them.
func (p Principal) everybody() bool { return p.Kind == "*" || p.Kind == "AWS" && p.Name == "*" }

// named reports whether the list has the principal. An account may be given as its number.
func named(all []Principal, who Principal) bool {
	return slices.ContainsFunc(all, func(p Principal) bool {
		if p.everybody() {
			return true
		}
		account, root := strings.CutSuffix(who.Name, ":root")
		return p.Kind == who.Kind && (p.Name == who.Name || root && strings.HasSuffix(account, "::"+p.Name))
	})
}
