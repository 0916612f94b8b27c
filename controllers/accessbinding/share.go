package accessbinding

import (
	"cmp"
	"context"
	"slices"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// checkShare refuses an object beyond the namespace's share of an AWSProvider, before anything is created for it: EKS
// and IAM have quotas for the whole account. Objects with rights keep them, and of the others the older come first, so
// that two at a time cannot both count as the last.
func (r *reconciliation) checkShare(ctx context.Context) error {
	if r.obj.Status.AccountID != "" {
		return nil
	}
	all, err := r.Siblings(ctx, r.obj)
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b v1alpha1.AccessBinding) int {
		return cmp.Or(cmp.Compare(turn(a), turn(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name))
	})
	most := r.account.Identity.Share()
	if at := slices.IndexFunc(all, func(o v1alpha1.AccessBinding) bool { return o.UID == r.obj.UID }); at < most {
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonQuotaExceeded, "the namespace %s may have %d AccessBindings by the "+
		"AWSProvider %s, those of its WebApps among them, and has more; delete those that nobody needs, or ask a "+
		"platform admin to raise workloadIdentity.maxPerNamespace there",
		r.obj.Namespace, most, r.obj.Spec.ProviderRef.Name)
}

// turn sorts objects with rights first.
func turn(o v1alpha1.AccessBinding) int {
	if o.Status.AccountID != "" {
		return 0
	}
	return 1
}
