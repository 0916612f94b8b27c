package accessbinding

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// way is how Pods get rights: the mode, and the AWSProvider of the cluster if it is in another account than the
// resources.
type way struct {
	mode     v1alpha1.WorkloadIdentityMode
	provider string
}

// wayOf returns the way that an AWSProvider configures; the zero way gives no rights.
func wayOf(identity *v1alpha1.WorkloadIdentity) (w way) {
	if !identity.GivesRights() {
		return w
	}
	w.mode = identity.Mode
	if ref := identity.ClusterProviderRef; ref != nil && w.mode == v1alpha1.WorkloadIdentityPodIdentity {
		w.provider = ref.Name
	}
	return w
}

// given returns the way in which the rights were given.
func given(s *v1alpha1.AccessBindingStatus) way {
	w := way{mode: s.Mode}
	if s.ClusterAccount != nil {
		w.provider = s.ClusterAccount.Provider
	}
	return w
}

// connect connects to the accounts. Rights that are no longer allowed, or now given in another way, are removed first.
func (r *reconciliation) connect(ctx context.Context) (err error) {
	if err := r.withdraw(ctx); err != nil {
		return err
	}
	s, want := &r.obj.Status, wayOf(r.account.Identity)
	r.begin(want)
	if want.mode == "" {
		return engine.Blocked(v1alpha1.ReasonNoWorkloadIdentity, "the AWS account %s gives Pods no rights; ask a "+
			"platform admin to set spec.workloadIdentity of the AWSProvider", r.obj.Spec.ProviderRef.Name)
	}
	if err := r.openCluster(ctx); err != nil {
		return err
	}
	s.ClusterName, err = r.clusterName()
	return err
}

// withdraw connects to the account of the resources, and removes outdated rights: all of them if an account was closed
// to the namespace, which it then returns as an error, and those given in a way or cluster that the AWSProvider no
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
	case given(s) == wayOf(r.account.Identity) && r.inItsCluster():
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

// inItsCluster reports whether the association is in the cluster that the AWSProvider configures. The AWSProvider of
// another account may now have another cluster or region, or none.
func (r *reconciliation) inItsCluster() bool {
	s, identity := r.obj.Status, r.cluster.Identity
	switch {
	case r.byToken():
		return true
	case s.ClusterAccount == nil:
		return s.ClusterName == identity.ClusterName
	default:
		return identity.NamesCluster() && s.ClusterName == identity.ClusterName &&
			s.ClusterAccount.Region == r.cluster.Region
	}
}

// begin records the way, and the AWSProvider of the cluster, whose changes enqueue the object.
func (r *reconciliation) begin(w way) {
	s := &r.obj.Status
	if s.AccountID != "" { // rights exist, in this way
		return
	}
	s.Mode, s.ClusterName, s.ClusterAccount = w.mode, "", nil
	if w.provider != "" {
		s.ClusterAccount = &v1alpha1.ClusterAccount{Provider: w.provider}
	}
}

// openCluster connects to the account of the cluster, if it is another one.
func (r *reconciliation) openCluster(ctx context.Context) (err error) {
	r.cluster = r.account
	if r.obj.Status.ClusterAccount != nil {
		r.cluster, err = r.Cluster(ctx, r.opened())
	}
	return err
}

// clusterName returns the EKS cluster of the association; "" with IRSA.
func (r *reconciliation) clusterName() (string, error) {
	provider, other := r.obj.Spec.ProviderRef.Name, r.obj.Status.ClusterAccount
	switch identity := r.cluster.Identity; {
	case r.byToken():
		return "", nil
	case other == nil:
		return identity.ClusterName, nil
	case !identity.NamesCluster():
		return "", engine.Blocked(v1alpha1.ReasonInvalidProvider,
			"the AWSProvider %s, which workloadIdentity.clusterProviderRef of the AWSProvider %s names, has no "+
				"workloadIdentity of mode PodIdentity with a clusterName; ask a platform admin to correct one of "+
				"the two",
			other.Provider, provider)
	case r.cluster.Session.Partition != r.account.Session.Partition:
		return "", engine.Blocked(v1alpha1.ReasonInvalidProvider, "the cluster is in the AWS partition %s, and the "+
			"AWSProvider %s in %s: roles of one cannot be used in the other. Ask a platform admin to set up the "+
			"AWSProvider with IRSA",
			r.cluster.Session.Partition, provider, r.account.Session.Partition)
	default:
		return identity.ClusterName, nil
	}
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

// place describes a way to give rights, with its cluster if it has one.
func place(mode v1alpha1.WorkloadIdentityMode, cluster string) string {
	if cluster == "" {
		return string(mode)
	}
	return string(mode) + " in the EKS cluster " + cluster
}

// reserve saves where the rights will be, before anything is created there.
func (r *reconciliation) reserve(ctx context.Context) error {
	s := &r.obj.Status
	s.Region, s.AccountID = r.account.Session.Config.Region, r.account.Session.AccountID
	if at := s.ClusterAccount; at != nil {
		at.Region, at.AccountID = r.cluster.Session.Config.Region, r.cluster.Session.AccountID
	}
	if r.saved {
		return nil
	}
	r.saved = true
	if err := r.pass.SaveStatus(ctx); err != nil {
		return err
	}
	if err := r.account.Recheck(ctx); err != nil || r.cluster == r.account {
		return err
	}
	return r.cluster.Recheck(ctx)
}
