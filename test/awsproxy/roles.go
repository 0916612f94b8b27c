package awsproxy

import (
	"context"
	"maps"
	"strings"
	"sync"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
)

// principal is the session of a role.
type principal struct {
	role, arn string            // ARNs of the role and of its session
	tags      map[string]string // of the session
	policy    *iampolicy.Policy // of the session; nil is none
	stored    bool              // IAM has the role, so the role's own policies count
}

// roles holds the policies of roles.
type roles struct {
	// stored returns the policies that a role has in IAM.
	stored func(ctx context.Context, arn string) (iampolicy.Policies, error)

	mu  sync.Mutex
	all iampolicy.Policies            // for roles without their own
	own map[string]iampolicy.Policies // by ARN

	asked map[string]map[string]int // number of requests, by role and action
}

// newRoles returns the policies of roles: all are those of roles without their own, and stored returns the policies that
// a role has in IAM.
func newRoles(all iampolicy.Policies, stored func(context.Context, string) (iampolicy.Policies, error)) *roles {
	return &roles{all: all, stored: stored, own: map[string]iampolicy.Policies{}, asked: map[string]map[string]int{}}
}

// AskedActions returns how often sessions of a role have needed each action so far, whether or not it was allowed.
func (r *roles) AskedActions(role string) map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.asked[role])
}

// ask records that a role's policies are evaluated for an action.
func (r *roles) ask(role, action string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked[role] == nil {
		r.asked[role] = map[string]int{}
	}
	r.asked[role][action]++
}

// AttachPolicies gives a role, by its ARN, its own policies instead of Options.RolePolicies, until detach is called.
// They apply to open sessions at once.
func (r *roles) AttachPolicies(role string, policies iampolicy.Policies) (detach func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, had := r.own[role]
	r.own[role] = policies
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.own, role)
		if had {
			r.own[role] = before
		}
	}
}

// of returns the policies of a session: those that a test attached to the role, those that the role has in IAM, or
// the default ones.
func (r *roles) of(ctx context.Context, caller *principal) (iampolicy.Policies, error) {
	r.mu.Lock()
	policies, own := r.own[caller.role]
	r.mu.Unlock()
	switch {
	case own:
	case caller.stored:
		var err error
		if policies, err = r.stored(ctx, caller.role); err != nil {
			return policies, err
		}
	default:
		policies = r.all
	}
	if caller.policy != nil {
		policies.Session = []*iampolicy.Policy{caller.policy}
	}
	return policies, nil
}

// conditionKeys are the keys that the proxy can give values for.
var conditionKeys = iampolicy.Keys{
	"aws:PrincipalTag/", "aws:PrincipalArn", "aws:PrincipalAccount", "aws:PrincipalType", "aws:RequestedRegion",
	"aws:ResourceAccount",
	"aws:RequestTag/", "aws:TagKeys", "aws:ResourceTag/", "aws:CurrentTime", "aws:SecureTransport", "aws:SourceIp",
	"aws:UserAgent",
	"aws:PrincipalIsAWSService", "aws:ViaAWSService",
	"acm:ValidationMethod", "acm:DomainNames", "ec2:CreateAction", "iam:AWSServiceName", "iam:PassedToService",
	"kms:ViaService",
	"iam:PermissionsBoundary", "iam:ResourceTag/", "sts:ExternalId", "sts:RoleSessionName", "s3:prefix", "s3:delimiter",
	"s3:max-keys",
	"route53:ChangeResourceRecordSetsNormalizedRecordNames", "route53:ChangeResourceRecordSetsRecordTypes",
	"route53:ChangeResourceRecordSetsActions",
}

// ParsePolicy parses a policy document for roles. A condition key that the proxy has no values for is an error.
func ParsePolicy(text []byte) (*iampolicy.Policy, error) { return iampolicy.Parse(text, conditionKeys) }

// facts are the values of condition keys, which are in lower case.
type facts map[string][]string

// with adds a key and its values; without values it leaves the key out.
func (f facts) with(key string, values ...string) facts {
	if len(values) > 0 {
		f[strings.ToLower(key)] = values
	}
	return f
}

// tagged adds the tags of a request.
func (f facts) tagged(tags map[string]string) facts {
	for key, value := range tags {
		f.with("aws:RequestTag/"+key, value)
	}
	return f.untagging(maps.Keys(tags))
}
