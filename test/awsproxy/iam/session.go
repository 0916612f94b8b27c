package iam

import (
	"maps"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// NewPrincipal returns the principal of a session; role is nil if IAM has no such role.
func NewPrincipal(roleARN, arn string, role *Role, tags map[string]string, policy *iampolicy.Policy) *wire.Principal {
	p := &wire.Principal{Role: roleARN, ARN: arn, Tags: map[string]string{}, Policy: policy, Stored: role != nil}
	if role != nil {
		maps.Copy(p.Tags, role.tags)
	}
	maps.Copy(p.Tags, tags)
	return p
}
