package iampolicy

import (
	"slices"
	"strings"
)

// Caller is who makes the operator's calls.
type Caller struct {
	Account string
	// ARN is that of GetCallerIdentity, such as arn:aws:sts::111122223333:assumed-role/portico; empty: not known.
	ARN string
}

// mayBe reports whether a principal is the caller, or its whole account; any principal of the account if the caller is
// not known.
func (c Caller) mayBe(principal string) bool {
	if Account(principal) == c.Account {
		return true
	}
	return accountOf(principal) == c.Account && c.Account != "" && (c.ARN == "" || c.is(principal))
}

// is reports whether a principal is the caller's own ARN, or that of its role.
func (c Caller) is(principal string) bool {
	own, named := nameOf(c.ARN), nameOf(principal)
	return principal == c.ARN || own != "" && own == named
}

// nameOf returns the name of the role or user in an ARN of IAM, or of a session of STS.
func nameOf(arn string) string {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return ""
	}
	words := strings.Split(parts[5], "/")
	switch {
	case len(words) < 2:
		return ""
	case words[0] == "assumed-role":
		return "role/" + words[1]
	}
	return words[0] + "/" + words[len(words)-1]
}

// exempt reports whether a NotPrincipal leaves the caller out. It has to name both the account and the role: IAM User
// Guide, "AWS JSON policy elements: NotPrincipal".
func (c Caller) exempt(principals []string) bool {
	account := slices.ContainsFunc(principals, func(p string) bool { return Account(p) == c.Account })
	return account && (nameOf(c.ARN) == "" && c.ARN != "" || slices.ContainsFunc(principals,
		func(p string) bool { return c.ARN != "" && c.is(p) }))
}
