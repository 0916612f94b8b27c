package accessbinding

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

type eksOption = func(*eks.Options)

// associations is the part of the EKS client that is used; docs/iam is checked against it.
type associations interface {
	ListPodIdentityAssociations(context.Context, *eks.ListPodIdentityAssociationsInput, ...eksOption) (
		*eks.ListPodIdentityAssociationsOutput, error)
	DescribePodIdentityAssociation(context.Context, *eks.DescribePodIdentityAssociationInput, ...eksOption) (
		*eks.DescribePodIdentityAssociationOutput, error)
	CreatePodIdentityAssociation(context.Context, *eks.CreatePodIdentityAssociationInput, ...eksOption) (
		*eks.CreatePodIdentityAssociationOutput, error)
	UpdatePodIdentityAssociation(context.Context, *eks.UpdatePodIdentityAssociationInput, ...eksOption) (
		*eks.UpdatePodIdentityAssociationOutput, error)
	DeletePodIdentityAssociation(context.Context, *eks.DeletePodIdentityAssociationInput, ...eksOption) (
		*eks.DeletePodIdentityAssociationOutput, error)
	TagResource(context.Context, *eks.TagResourceInput, ...eksOption) (*eks.TagResourceOutput, error)
}

var _ associations = (*eks.Client)(nil)

// longestPolicy is EKS's limit for the policy of an association, in characters.
const longestPolicy = 2048

// holds is how long a new or changed association takes to be in effect for new Pods: EKS's guide says several seconds.
const holds = 10 * time.Second

// settles is how soon something just created is checked again.
const settles = 5 * time.Second

// readAssociation returns the association of the ServiceAccount, of which a cluster has at most one; nil if there is
// none.
func (r *reconciliation) readAssociation(ctx context.Context) (*ekstypes.PodIdentityAssociation, error) {
	cluster := &r.obj.Status.ClusterName
	pages := eks.NewListPodIdentityAssociationsPaginator(r.cluster.Associations, &eks.ListPodIdentityAssociationsInput{
		ClusterName: cluster, Namespace: &r.obj.Namespace, ServiceAccount: &r.obj.Spec.ServiceAccountName,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		if len(page.Associations) == 0 {
			continue
		}
		out, err := r.cluster.Associations.DescribePodIdentityAssociation(ctx, &eks.DescribePodIdentityAssociationInput{
			ClusterName: cluster, AssociationId: page.Associations[0].AssociationId,
		})
		if cloud.IsNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, cloud.Explain(err)
		}
		return out.Association, nil
	}
	return nil, nil
}

// checkAssociation reads the association, before a role is created for it, and refuses a foreign one.
func (r *reconciliation) checkAssociation(ctx context.Context) (err error) {
	if r.byToken() {
		return nil
	}
	if len(r.policy) > longestPolicy {
		return tooLong(r.policy, "EKS", longestPolicy)
	}
	r.have, err = r.readAssociation(ctx)
	switch {
	case cloud.IsNotFound(err):
		return engine.Blocked(v1alpha1.ReasonInvalidProvider, "there is no EKS cluster %s in %s of account %s; ask a "+
			"platform admin to correct workloadIdentity.clusterName of the AWSProvider %s", r.obj.Status.ClusterName,
			r.cluster.Session.Config.Region, r.cluster.Session.AccountID,
			cmp.Or(givenMode(&r.obj.Status).clusterProvider, r.obj.Spec.ProviderRef.Name))
	case err != nil:
		return cloud.Explain(err)
	case r.have != nil && r.ownerOfAssociation() == external.Foreign:
		return engine.Blocked(v1alpha1.ReasonAlreadyExists, "the ServiceAccount %s has an EKS Pod Identity "+
			"association that is not this object's (%s); nothing was changed. Delete the association, or choose "+
			"another ServiceAccount",
			r.obj.Spec.ServiceAccountName, aws.ToString(r.have.AssociationArn))
	}
	return nil
}

// ownerOfAssociation returns the owner according to the association's tags. An association offered to this object is
// not adopted.
func (r *reconciliation) ownerOfAssociation() external.Owner {
	owner := r.cluster.Session.Identity.Owner(r.obj, r.have.Tags)
	if owner != external.Ours && owner != external.Earlier {
		return external.Foreign
	}
	return owner
}

// tooLong returns the error for a policy that is too long for AWS.
func tooLong(policy, service string, most int) error {
	return engine.Blocked(v1alpha1.ReasonPolicyTooLong, "the policy for these resources has %d characters, and %s "+
		"takes %d; the rights stay as they are. Divide the application, or bind fewer resources to it", len(policy),
		service, most)
}

// ensureAssociation makes sure that the ServiceAccount has exactly the rights of this pass.
func (r *reconciliation) ensureAssociation(ctx context.Context) (string, error) {
	do := r.alignAssociation
	if r.have == nil {
		do = r.createAssociation
	}
	if err := do(ctx); err != nil {
		return "", err
	}
	s := &r.obj.Status
	s.AssociationARN, s.Policy = aws.ToString(r.have.AssociationArn), r.policy
	if wait := r.untilItHolds(); wait > 0 {
		return "", engine.Wait(v1alpha1.ReasonPropagating, wait, "EKS has the rights; they hold for new Pods within "+
			"some seconds")
	}
	return "the Pods of the ServiceAccount " + r.obj.Spec.ServiceAccountName + " have their rights", nil
}

// untilItHolds returns how long new Pods may still miss the last change. The time of that change is EKS's, whose clock
// may differ from ours.
func (r *reconciliation) untilItHolds() time.Duration {
	most := r.Scaled(holds)
	wait := aws.ToTime(r.have.ModifiedAt).Add(most).Sub(r.Now())
	switch {
	case r.changed:
		return most
	case wait <= 0 || wait > most+time.Minute:
		return 0
	default:
		return min(wait, most)
	}
}

// actsAs returns the association's role, and the target role in another account; nil: none.
func (r *reconciliation) actsAs() (role string, target *string) {
	if at := r.obj.Status.ClusterAccount; at != nil {
		return at.RoleARN, &r.obj.Status.RoleARN
	}
	return r.obj.Status.RoleARN, nil
}

func (r *reconciliation) createAssociation(ctx context.Context) error {
	if err := r.reserve(ctx); err != nil {
		return err
	}
	role, target := r.actsAs()
	out, err := r.cluster.Associations.CreatePodIdentityAssociation(ctx, &eks.CreatePodIdentityAssociationInput{
		ClusterName: &r.obj.Status.ClusterName, Namespace: &r.obj.Namespace,
		ServiceAccount: &r.obj.Spec.ServiceAccountName, RoleArn: &role, TargetRoleArn: target,
		Policy: &r.policy, DisableSessionTags: aws.Bool(true), Tags: r.cluster.Session.Tags(r.obj, nil),
	})
	if cloud.HasCode(err, "ResourceLimitExceededException") {
		return engine.Blocked(v1alpha1.ReasonQuotaExceeded, "the EKS cluster %s has no room for another Pod Identity "+
			"association, and AWS does not raise this limit. Ask a platform admin to delete associations that nobody "+
			"needs, or to have the AWSProvider give rights by IRSA; Portico tries again by itself, at least every 5 "+
			"minutes", r.obj.Status.ClusterName)
	}
	if err != nil {
		return r.explain(err)
	}
	r.have, r.changed = out.Association, true
	r.pass.Normal(v1alpha1.ReasonCreated, "CreatePodIdentityAssociation",
		"rights for the Pods of the ServiceAccount %s", r.obj.Spec.ServiceAccountName)
	return nil
}

// alignAssociation corrects differences of an association that is ours or belonged to an earlier object of this name.
// EKS does not change an association's namespace and ServiceAccount.
func (r *reconciliation) alignAssociation(ctx context.Context) error {
	have := r.have
	if r.ownerOfAssociation() == external.Earlier {
		if err := r.reserve(ctx); err != nil {
			return err
		}
		if _, err := r.cluster.Associations.TagResource(
			ctx, &eks.TagResourceInput{ResourceArn: have.AssociationArn, Tags: r.cluster.Session.Identity.OwnershipTags(
				r.obj)}); err != nil {
			return r.explain(err)
		}
	}
	role, target := r.actsAs()
	if target == nil && aws.ToString(have.TargetRoleArn) != "" { // AWS does not document how an update removes it
		if err := r.deleteAssociation(ctx); err != nil {
			return err
		}
		return engine.Wait(v1alpha1.ReasonSettling, settles, "the association was that of a role in another account; "+
			"Portico makes it again")
	}
	if aws.ToString(have.RoleArn) == role && aws.ToString(have.TargetRoleArn) == aws.ToString(target) &&
		same(aws.ToString(have.Policy), r.policy) && aws.ToBool(have.DisableSessionTags) {
		return nil
	}
	out, err := r.cluster.Associations.UpdatePodIdentityAssociation(ctx, &eks.UpdatePodIdentityAssociationInput{
		ClusterName: have.ClusterName, AssociationId: have.AssociationId, RoleArn: &role, TargetRoleArn: target,
		Policy: &r.policy, DisableSessionTags: aws.Bool(true),
	})
	if err != nil {
		return r.explain(err)
	}
	r.have, r.changed = out.Association, true
	r.pass.Normal(v1alpha1.ReasonUpdated, "UpdatePodIdentityAssociation",
		"the rights of the ServiceAccount %s follow what it is bound to", r.obj.Spec.ServiceAccountName)
	return nil
}

// deleteAssociation removes the rights. An association with the tags of another object, or without tags, is left alone;
// a cluster that does not exist in the account has none.
func (r *reconciliation) deleteAssociation(ctx context.Context) (err error) {
	if r.byToken() {
		return nil
	}
	if r.have, err = r.readAssociation(ctx); err != nil || r.have == nil || r.cluster.Session.Identity.Owner(
		r.obj, r.have.Tags) != external.Ours {
		return absentOr(err)
	}
	_, err = r.cluster.Associations.DeletePodIdentityAssociation(ctx, &eks.DeletePodIdentityAssociationInput{
		ClusterName: r.have.ClusterName, AssociationId: r.have.AssociationId,
	})
	return absentOr(err)
}

// absentOr returns nil for EKS's not-found error, else the explained error.
func absentOr(err error) error {
	if cloud.IsNotFound(err) {
		return nil
	}
	return cloud.Explain(err)
}

// fresh is how long EKS may not see a new role.
const fresh = 2 * time.Minute

// explain explains EKS's errors. EKS may not see a new role yet, and may still report an association that was just
// deleted.
func (r *reconciliation) explain(err error) error {
	young := r.Now().Sub(r.roleMade).Abs() < fresh && cloud.HasCode(err, "InvalidParameterException")
	if young || cloud.HasCode(err, "ResourceInUseException") {
		return engine.Wait(v1alpha1.ReasonSettling, settles, "%w. A role that was created a moment ago can take some "+
			"seconds to become visible; Portico tries again", cloud.Explain(err))
	}
	return cloud.Explain(err)
}
