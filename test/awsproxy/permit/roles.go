package permit

import (
	"context"
	"maps"
	"sync"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// Roles holds the policies of roles.
type Roles struct {
	// stored returns the policies that a role has in IAM.
	stored func(ctx context.Context, arn string) (iampolicy.Policies, error)

	mu  sync.Mutex
	all iampolicy.Policies            // for roles without their own
	own map[string]iampolicy.Policies // by ARN

	asked map[string]map[string]int // number of requests, by role and action
}

// NewRoles returns the policies of roles: all are those of roles without their own, and stored returns the policies
// that a role has in IAM.
func NewRoles(all iampolicy.Policies, stored func(context.Context, string) (iampolicy.Policies, error)) *Roles {
	return &Roles{all: all, stored: stored, own: map[string]iampolicy.Policies{}, asked: map[string]map[string]int{}}
}

// AskedActions returns how often sessions of a role have needed each action so far, whether or not it was allowed.
func (r *Roles) AskedActions(role string) map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.asked[role])
}

// ask records that a role's policies are evaluated for an action.
func (r *Roles) ask(role, action string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked[role] == nil {
		r.asked[role] = map[string]int{}
	}
	r.asked[role][action]++
}

// AttachPolicies gives a role, by its ARN, its own policies instead of Options.RolePolicies, until detach is called.
// They apply to open sessions at once.
func (r *Roles) AttachPolicies(role string, policies iampolicy.Policies) (detach func()) {
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
func (r *Roles) of(ctx context.Context, caller *wire.Principal) (iampolicy.Policies, error) {
	r.mu.Lock()
	policies, own := r.own[caller.Role]
	r.mu.Unlock()
	switch {
	case own:
	case caller.Stored:
		var err error
		if policies, err = r.stored(ctx, caller.Role); err != nil {
			return policies, err
		}
	default:
		policies = r.all
	}
	if caller.Policy != nil {
		policies.Session = []*iampolicy.Policy{caller.Policy}
	}
	return policies, nil
}
