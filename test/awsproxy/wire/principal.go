package wire

import (
	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// Principal is the session of a role.
type Principal struct {
	Role, ARN string            // ARNs of the role and of its session
	Tags      map[string]string // of the session
	Policy    *iampolicy.Policy // of the session; nil is none
	Stored    bool              // IAM has the role, so the role's own policies count
}

// Identities returns the principals that match a caller, the most specific first: its session, its role, and its
// account.
func Identities(caller *Principal, partition, account string) []iampolicy.Principal {
	var all []iampolicy.Principal
	if caller != nil {
		all = append(all, iampolicy.Principal{Kind: "AWS", Name: caller.ARN},
			iampolicy.Principal{Kind: "AWS", Name: caller.Role})
	}
	return append(all, iampolicy.Principal{Kind: "AWS", Name: "arn:" + partition + ":iam::" + account + ":root"})
}
