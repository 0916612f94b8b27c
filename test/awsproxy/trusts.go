package awsproxy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// trustKeys are the condition keys that have values when a role is assumed, in addition to those of a web identity's
// provider.
var trustKeys = iampolicy.Keys{
	"sts:ExternalId", "sts:RoleSessionName", "sts:TransitiveTagKeys", "aws:SourceArn", "aws:SourceAccount",
	"aws:RequestTag/", "aws:TagKeys",
	"aws:PrincipalArn", "aws:PrincipalAccount", "aws:PrincipalTag/", "aws:PrincipalType", "aws:CurrentTime",
}

func parseTrust(document string) (*iampolicy.Trust, error) {
	return iampolicy.ParseTrust([]byte(document), trustKeys)
}

// assumption is a request to assume a role.
type assumption struct {
	action string
	who    []iampolicy.Principal // the principals that match the caller
	facts  facts
	tags   map[string]string // of the session
}

// trusted reports whether the role's trust policy allows the session, and for which of the caller's principals.
// Session tags require sts:TagSession.
func (r *storedRole) trusted(a assumption) (by iampolicy.Principal, ok bool, err error) {
	trust, err := parseTrust(r.trust)
	if err != nil {
		return by, false, fmt.Errorf("role %s: %w", r.arn, err)
	}
	actions := []string{a.action}
	if len(a.tags) > 0 {
		actions = append(actions, "sts:TagSession")
	}
	known := facts{}
	maps.Copy(known, a.facts)
	known.tagged(a.tags)
	in := func(key string) []string { return known[key] }
	for _, who := range a.who {
		if slices.ContainsFunc(actions, func(action string) bool { return trust.Denies(action, who, in) }) {
			return by, false, nil
		}
	}
	for _, who := range a.who {
		if !slices.ContainsFunc(actions, func(action string) bool { return !trust.Allows(action, who, in) }) {
			return who, true, nil
		}
	}
	return by, false, nil
}

// identities returns the principals that match a caller, the most specific first: its session, its role, and its
// account.
func identities(caller *principal, partition, account string) []iampolicy.Principal {
	var all []iampolicy.Principal
	if caller != nil {
		all = append(all, iampolicy.Principal{Kind: "AWS", Name: caller.arn}, iampolicy.Principal{Kind: "AWS", Name: caller.role})
	}
	return append(all, iampolicy.Principal{Kind: "AWS", Name: "arn:" + partition + ":iam::" + account + ":root"})
}
