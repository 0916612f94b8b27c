package accessbinding

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// withdraw connects to the account of the resources, and removes outdated rights: all of them if an account was closed
// to the namespace, which it then returns as an error, and those given in a mode or cluster that the AWSProvider no
// longer configures.
func (r *reconciliation) withdraw(ctx context.Context) (err error) {
	s := &r.obj.Status
	if r.account, err = r.Connect(ctx, r.obj); err == nil && s.AccountID != "" {
		err = r.openCluster(ctx)
	}
	switch {
	case s.AccountID == "" || err != nil && !closed(err):
		return err
	case err != nil:
		r.leaves = true
		if r.account, err = r.Connect(ctx, r.opened()); err != nil {
			return err
		}
	case givenMode(s) == modeOf(r.account.Identity) && r.inItsCluster():
		return nil
	}
	err = r.takeAway(ctx)
	left := r.leaves
	if r.leaves = false; err != nil || !left {
		return err
	}
	_, err = r.Connect(ctx, r.obj) // returns why it is closed, or the cluster's account does
	return err
}

// closed reports whether an error means that the namespace can no longer use the account.
func closed(err error) bool {
	wait, ok := engine.AsWait(err)
	return ok && slices.Contains([]string{
		v1alpha1.ReasonProviderNotAllowed, v1alpha1.ReasonProviderDeleting,
		v1alpha1.ReasonRegionNotAllowed,
	}, wait.Reason)
}

// opened returns the object for connecting to accounts: while all its rights are removed it counts as deleted, so that
// it can use an account that is closed to its namespace.
func (r *reconciliation) opened() *v1alpha1.AccessBinding {
	if !r.leaves {
		return r.obj
	}
	obj := r.obj.DeepCopy()
	obj.DeletionTimestamp = &metav1.Time{Time: r.Now()}
	return obj
}

// takeAway removes the rights that the object has given.
func (r *reconciliation) takeAway(ctx context.Context) error {
	if err := r.openCluster(ctx); err != nil {
		return err
	}
	if err := r.steps().Finalize(ctx, r.obj, r.pass); err != nil {
		return err
	}
	s, why := &r.obj.Status, "which the AWSProvider gives no more"
	if r.leaves {
		why = "because the AWS account is closed to this namespace"
	}
	r.pass.Normal(v1alpha1.ReasonRemoved, "TakeRightsAway", "the rights by %s, %s", place(s.Mode, s.ClusterName), why)
	s.Region, s.AccountID, s.Mode, s.ClusterName, s.ClusterAccount, s.RoleARN, s.AssociationARN, s.Policy,
		s.RoleUse = "", "", "", "", nil, "", "", "", nil
	return nil
}
