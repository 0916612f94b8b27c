package iam

import (
	"fmt"
	"maps"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/permit"
)

// trustKeys are the condition keys that have values when a role is assumed, in addition to those of a web identity's
// provider.
var trustKeys = iampolicy.Keys{
	"sts:ExternalId", "sts:RoleSessionName", "sts:TransitiveTagKeys", "aws:SourceArn", "aws:SourceAccount",
	"aws:RequestTag/", "aws:TagKeys",
	"aws:PrincipalArn", "aws:PrincipalAccount", "aws:PrincipalTag/", "aws:PrincipalType", "aws:CurrentTime",
}

// ParseTrust parses the trust policy of a role. A condition key that has no value when a role is assumed is an error.
func ParseTrust(document string) (*iampolicy.Trust, error) {
	return iampolicy.ParseTrust([]byte(document), trustKeys)
}

// Assumption is a request to assume a role.
type Assumption struct {
	Action string
	Who    []iampolicy.Principal // the principals that match the caller
	Facts  permit.Facts
	Tags   map[string]string // of the session
}

// Trusted reports whether the role's trust policy allows the session, and for which of the caller's principals.
// Session tags require sts:TagSession.
func (r *Role) Trusted(a Assumption) (by iampolicy.Principal, ok bool, err error) {
	trust, err := ParseTrust(r.Trust)
	if err != nil {
		return by, false, fmt.Errorf("role %s: %w", r.ARN, err)
	}
	actions := []string{a.Action}
	if len(a.Tags) > 0 {
		actions = append(actions, "sts:TagSession")
	}
	known := permit.Facts{}
	maps.Copy(known, a.Facts)
	known.Tagged(a.Tags)
	in := func(key string) []string { return known[key] }
	for _, who := range a.Who {
		if slices.ContainsFunc(actions, func(action string) bool { return trust.Denies(action, who, in) }) {
			return by, false, nil
		}
	}
	for _, who := range a.Who {
		if !slices.ContainsFunc(actions, func(action string) bool { return !trust.Allows(action, who, in) }) {
			return who, true, nil
		}
	}
	return by, false, nil
}
