package iam

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/portico-platform/portico/test/awsproxy/iampolicy"
	"github.com/portico-platform/portico/test/awsproxy/permit"
)

// Policies returns the effective policies of a role, which may still be those before the last change. The policies of
// a deleted role allow nothing.
func (b *Book) Policies(ctx context.Context, arn string) (iampolicy.Policies, error) {
	b.mu.Lock()
	shown, ok := b.shown[arn]
	b.mu.Unlock()
	if ok && b.lag.Hides(policiesOf(arn)) {
		return shown, nil
	}
	role, err := b.Role(ctx, arn)
	if role == nil || err != nil {
		return iampolicy.Policies{}, err
	}
	now, err := role.policies()
	if err != nil {
		return iampolicy.Policies{}, fmt.Errorf("role %s: %w", arn, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shown[arn] = now
	return now, nil
}

// policiesOf returns the lag's key for the policies of a role.
func policiesOf(arn string) string { return "policies of " + arn }

// forget drops the cached state of a deleted role.
func (b *Book) forget(arn string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.known, arn)
	delete(b.shown, arn)
	b.lag.End(policiesOf(arn))
	b.lag.End(NewRoleKey(arn))
}

// policies parses the policy documents of a role. A boundary that does not exist allows nothing.
func (r *Role) policies() (iampolicy.Policies, error) {
	var all iampolicy.Policies
	for _, name := range slices.Sorted(maps.Keys(r.inline)) {
		p, err := permit.ParsePolicy([]byte(r.inline[name]))
		if err != nil {
			return all, fmt.Errorf("policy %s: %w", name, err)
		}
		all.Identity = append(all.Identity, p)
	}
	for _, arn := range r.managed {
		p, err := permit.ParsePolicy([]byte(r.documents[arn]))
		if err != nil {
			return all, fmt.Errorf("policy %s: %w", arn, err)
		}
		all.Identity = append(all.Identity, p)
	}
	if r.boundary == "" {
		return all, nil
	}
	all.Boundary = &iampolicy.Policy{}
	if text := r.documents[r.boundary]; text != "" {
		p, err := permit.ParsePolicy([]byte(text))
		if err != nil {
			return all, fmt.Errorf("policy %s: %w", r.boundary, err)
		}
		all.Boundary = p
	}
	return all, nil
}
