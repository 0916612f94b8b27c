package accessbinding

import (
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/external"
)

// deleteRole deletes the roles once no other object of the namespace needs them. If somebody attached something to a
// role, IAM refuses with DeleteConflict.
func (r *reconciliation) deleteRole(ctx context.Context) error {
	var others []v1alpha1.AccessBinding
	if !r.byToken() {
		var err error
		if others, err = r.Others(ctx, r.obj); err != nil {
			return err
		}
	}
	for i, want := range r.wantedRoles() {
		if r.stillNeeded(i > 0, others) {
			continue
		}
		if err := r.deleteOne(ctx, want); err != nil {
			return err
		}
	}
	return nil
}

// stillNeeded reports whether others need the role of the Pods, or that of the association on the way to it. One that
// has nothing yet may be about to. After a mode change every binding deletes the roles: all others leave too, and none
// can know that it is the last.
func (r *reconciliation) stillNeeded(onTheWay bool, others []v1alpha1.AccessBinding) bool {
	now, had := modeOf(r.account.Identity), givenMode(&r.obj.Status)
	if r.leaves || now.name != had.name || onTheWay && now != had {
		return false
	}
	return slices.ContainsFunc(others, func(o v1alpha1.AccessBinding) bool {
		return !onTheWay || o.Status.AccountID == "" || givenMode(&o.Status) == had
	})
}

func (r *reconciliation) deleteOne(ctx context.Context, want wantedRole) error {
	have, err := readRole(ctx, want)
	if err != nil || have == nil || r.ownerOf(have, want.tags) != external.Ours {
		return err
	}
	if _, err := want.account.Roles.DeleteRolePolicy(
		ctx, &iam.DeleteRolePolicyInput{RoleName: &want.name, PolicyName: aws.String(policyName)}); err != nil &&
		!cloud.HasCode(err, noSuchEntity) {
		return cloud.Explain(err)
	}
	if _, err := want.account.Roles.DeleteRole(ctx, &iam.DeleteRoleInput{RoleName: &want.name}); err != nil &&
		!cloud.HasCode(err, noSuchEntity) {
		return cloud.Explain(err)
	}
	return nil
}
