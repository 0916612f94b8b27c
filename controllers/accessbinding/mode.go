package accessbinding

import (
	"context"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// mode is how Pods get rights: by Pod Identity or IRSA, and by which AWSProvider if the cluster is in another account
// than the resources.
type mode struct {
	name            v1alpha1.WorkloadIdentityMode
	clusterProvider string
}

// modeOf returns the mode that an AWSProvider configures; the zero mode gives no rights.
func modeOf(identity *v1alpha1.WorkloadIdentity) (m mode) {
	if !identity.GivesRights() {
		return m
	}
	m.name = identity.Mode
	if ref := identity.ClusterProviderRef; ref != nil && m.name == v1alpha1.WorkloadIdentityPodIdentity {
		m.clusterProvider = ref.Name
	}
	return m
}

// givenMode returns the mode in which the rights were given.
func givenMode(s *v1alpha1.AccessBindingStatus) mode {
	m := mode{name: s.Mode}
	if s.ClusterAccount != nil {
		m.clusterProvider = s.ClusterAccount.Provider
	}
	return m
}

// chooseMode records the mode in which rights are given, and connects to the account of the cluster.
func (r *reconciliation) chooseMode(ctx context.Context) (err error) {
	s, want := &r.obj.Status, modeOf(r.account.Identity)
	r.begin(want)
	if want.name == "" {
		return engine.Blocked(v1alpha1.ReasonNoWorkloadIdentity, "the AWS account %s gives Pods no rights; ask a "+
			"platform admin to set spec.workloadIdentity of the AWSProvider", r.obj.Spec.ProviderRef.Name)
	}
	if err := r.openCluster(ctx); err != nil {
		return err
	}
	s.ClusterName, err = r.clusterName()
	return err
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

// begin records the mode, and the AWSProvider of the cluster, whose changes enqueue the object.
func (r *reconciliation) begin(m mode) {
	s := &r.obj.Status
	if s.AccountID != "" { // rights exist, in this mode
		return
	}
	s.Mode, s.ClusterName, s.ClusterAccount = m.name, "", nil
	if m.clusterProvider != "" {
		s.ClusterAccount = &v1alpha1.ClusterAccount{Provider: m.clusterProvider}
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

// place describes a mode, with its cluster if it has one.
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
