package accessbinding

import (
	"cmp"
	"context"
	"slices"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// checkShare refuses one object more than the namespace may have by an AWSProvider, before anything is made for it: EKS
// and IAM have room for so many in a whole account. Those that have rights keep them, and the older of the others come
// first, so that two at a time do not both pass as the last.
func (r *reconciliation) checkShare(ctx context.Context) error {
	if r.obj.Status.AccountID != "" {
		return nil
	}
	all, err := r.Siblings(ctx, r.obj)
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b v1alpha1.AccessBinding) int {
		return cmp.Or(cmp.Compare(turn(a), turn(b)), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	most := r.account.Identity.Share()
	if at := slices.IndexFunc(all, func(o v1alpha1.AccessBinding) bool { return o.UID == r.obj.UID }); at < most {
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonQuotaExceeded, "the namespace %s may have %d AccessBindings by the AWSProvider %s, those of its WebApps among them, and has more; delete those that nobody needs, or ask a platform admin to raise workloadIdentity.maxPerNamespace there",
		r.obj.Namespace, most, r.obj.Spec.ProviderRef.Name)
}

// turn puts what has rights first.
func turn(o v1alpha1.AccessBinding) int {
	if o.Status.AccountID != "" {
		return 0
	}
	return 1
}
