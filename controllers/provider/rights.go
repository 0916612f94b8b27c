package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// Account has all calls that checks of workloadIdentity make; docs/iam is tested against it.
type Account interface {
	eks.ListPodIdentityAssociationsAPIClient
	GetPolicy(context.Context, *iam.GetPolicyInput, ...func(*iam.Options)) (*iam.GetPolicyOutput, error)
	GetOpenIDConnectProvider(context.Context, *iam.GetOpenIDConnectProviderInput, ...func(*iam.Options)) (
		*iam.GetOpenIDConnectProviderOutput, error)
	GetAccountSummary(context.Context, *iam.GetAccountSummaryInput, ...func(*iam.Options)) (
		*iam.GetAccountSummaryOutput, error)
}

func accountOf(s *cloud.Session) Account {
	return struct {
		*iam.Client
		eks.ListPodIdentityAssociationsAPIClient
	}{iam.NewFromConfig(s.ConfigFor(iam.ServiceID)), eks.NewFromConfig(s.ConfigFor(eks.ServiceID))}
}

// rightsAge is how long an answer about workloadIdentity is valid. Providers do not check again all at once: see
// engine.Schedule.
const rightsAge = time.Hour

// checkRights checks once an hour that what workloadIdentity names exists, and how much of the quotas is used. The
// result goes into conditions of its own, so that kinds without workload identity do not wait for it.
func (r Reconciler) checkRights(ctx context.Context, p *v1alpha1.AWSProvider, session *cloud.Session,
	pass *engine.Pass,
) {
	if !p.Spec.WorkloadIdentity.GivesRights() {
		p.Status.WorkloadIdentity = nil
		meta.RemoveStatusCondition(&p.Status.Conditions, v1alpha1.ConditionWorkloadIdentityReady)
		meta.RemoveStatusCondition(&p.Status.Conditions, v1alpha1.ConditionQuotaNearlyFull)
		return
	}
	if !r.rightsDue(p) {
		return
	}
	session = session.In(p.Spec.Region, v1alpha1.KindAWSProvider, "")
	look := rightsLook{Account: r.Account(session), session: session, want: p.Spec.WorkloadIdentity}
	look.all(ctx, r.findCluster(ctx, &look))
	r.setRightsReady(p, look)
	if look.passing != nil { // the previous numbers stay
		return
	}
	p.Status.WorkloadIdentity = &v1alpha1.WorkloadIdentityStatus{
		ReadTime: metav1.Time{Time: r.Now()},
		Roles:    look.roles, Associations: look.associations,
	}
	r.setNearlyFull(p, look.clusterName, pass)
}

// rightsDue reports whether a check is due. A failed check is repeated in every pass, because somebody is probably
// fixing the cause.
func (r Reconciler) rightsDue(p *v1alpha1.AWSProvider) bool {
	c, s := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionWorkloadIdentityReady),
		p.Status.WorkloadIdentity
	if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != p.Generation || s == nil {
		return true
	}
	return r.Now().Sub(s.ReadTime.Time).Abs() >= rightsAge
}

// rightsLook is one check of an account.
type rightsLook struct {
	Account
	session *cloud.Session
	want    *v1alpha1.WorkloadIdentity

	clusterName         string
	roles, associations *v1alpha1.QuotaUse
	denied              []string // the actions without permission
	wrong               []string // what is missing or misconfigured
	passing             error    // temporary errors, which prove nothing
	blocked             *engine.WaitError
}

// all runs all checks. cluster may be in another account; nil skips the check of the cluster.
func (l *rightsLook) all(ctx context.Context, cluster *cluster) {
	if cluster != nil {
		l.askCluster(ctx, cluster)
	}
	if l.want.Mode == v1alpha1.WorkloadIdentityIRSA {
		l.askIssuer(ctx)
	}
	l.askBoundary(ctx)
	l.askSummary(ctx)
}

// associationsQuota is the quota of associations in an EKS cluster. According to the EKS user guide it cannot be
// raised.
const associationsQuota = 5000

// cluster is an EKS cluster and its account.
type cluster struct {
	Account
	name, place, field string // place is where it is, and field the field that names it, both for messages
	by                 string // for messages: whose identity calls, if not this provider's
}

// findCluster returns the EKS cluster of the Pods, or nil if there is none to check. It notes what is wrong with the
// AWSProvider that should name the cluster.
func (r Reconciler) findCluster(ctx context.Context, l *rightsLook) *cluster {
	if l.want.Mode != v1alpha1.WorkloadIdentityPodIdentity {
		return nil
	}
	ref := l.want.ClusterProviderRef
	if ref == nil {
		return &cluster{
			l.Account, l.want.ClusterName, l.session.Config.Region + " of this account",
			"workloadIdentity.clusterName", "",
		}
	}
	other, session, err := r.Cluster(ctx, ref.Name)
	switch {
	case err != nil:
		if wait, known := engine.AsWait(cloud.Explain(err)); known && wait.Stalled {
			err = engine.Blocked(wait.Reason, "the AWSProvider %s, which workloadIdentity.clusterProviderRef names, "+
				"does not work: %w", ref.Name, wait)
		}
		l.note("", err, false, "")
	case other == nil:
		l.wrong = append(l.wrong,
			fmt.Sprintf("there is no AWSProvider %s: create it, or correct workloadIdentity.clusterProviderRef",
				ref.Name))
	case !other.Spec.WorkloadIdentity.NamesCluster():
		l.wrong = append(l.wrong, fmt.Sprintf("the AWSProvider %s has no workloadIdentity of mode PodIdentity with a "+
			"clusterName: set it there, or correct workloadIdentity.clusterProviderRef", ref.Name))
	case session.Partition != l.session.Partition:
		l.wrong = append(l.wrong, fmt.Sprintf("the AWSProvider %s is of the AWS partition %s, and this one of %s: "+
			"roles of one cannot be used in the other. Use the mode IRSA", ref.Name, session.Partition,
			l.session.Partition))
	default:
		session = session.In(other.Spec.Region, v1alpha1.KindAWSProvider, "")
		return &cluster{
			r.Account(session), other.Spec.WorkloadIdentity.ClusterName, session.Config.Region + " of account " +
				session.AccountID,
			"workloadIdentity.clusterName of the AWSProvider " + other.Name, " (the identity of the AWSProvider " +
				other.Name + ")",
		}
	}
	return nil
}

// askCluster counts the Pod Identity associations of the cluster.
func (l *rightsLook) askCluster(ctx context.Context, c *cluster) {
	use := &v1alpha1.QuotaUse{Quota: associationsQuota}
	for pages := eks.NewListPodIdentityAssociationsPaginator(c, &eks.ListPodIdentityAssociationsInput{
		ClusterName: &c.name,
	}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			l.note("eks:ListPodIdentityAssociations"+c.by, err, cloud.IsNotFound(err),
				fmt.Sprintf("there is no EKS cluster %s in %s: correct %s", c.name, c.place, c.field))
			return
		}
		use.Used += int64(len(page.Associations))
	}
	l.associations, l.clusterName = use, c.name
}

// webIdentityAudience is the audience of the tokens that EKS issues to Pods whose ServiceAccount names a role.
const webIdentityAudience = "sts.amazonaws.com"

// askIssuer checks the cluster's OIDC identity provider in IAM.
func (l *rightsLook) askIssuer(ctx context.Context) {
	out, err := l.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{
		OpenIDConnectProviderArn: &l.want.OIDCProviderARN,
	})
	if err != nil {
		l.note("iam:GetOpenIDConnectProvider", err, cloud.HasCode(err, noSuchEntity), fmt.Sprintf(
			"there is no identity provider %s in IAM: make it, or correct workloadIdentity.oidcProviderARN",
			l.want.OIDCProviderARN))
		return
	}
	if !slices.Contains(out.ClientIDList, webIdentityAudience) {
		l.wrong = append(l.wrong, fmt.Sprintf("the identity provider %s takes no tokens of Pods: add %s to its "+
			"audiences in IAM", l.want.OIDCProviderARN, webIdentityAudience))
	}
}

// noSuchEntity is IAM's error code for a missing resource.
const noSuchEntity = "NoSuchEntity"

func (l *rightsLook) askBoundary(ctx context.Context) {
	if _, err := l.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: &l.want.BoundaryARN}); err != nil {
		l.note("iam:GetPolicy", err, cloud.HasCode(err, noSuchEntity), fmt.Sprintf(
			"there is no policy %s: make it of docs/iam/pods/boundary.json, or correct workloadIdentity.boundaryARN",
			l.want.BoundaryARN))
	}
}

// askSummary reads the number of IAM roles in the whole account, and its quota.
func (l *rightsLook) askSummary(ctx context.Context) {
	out, err := l.GetAccountSummary(ctx, &iam.GetAccountSummaryInput{})
	if err != nil {
		l.note("iam:GetAccountSummary", err, false, "")
		return
	}
	if quota := out.SummaryMap["RolesQuota"]; quota > 0 {
		l.roles = &v1alpha1.QuotaUse{Used: int64(out.SummaryMap["Roles"]), Quota: int64(quota)}
	}
}

// note classifies an error: a missing permission, a missing resource, something else that blocks, or a temporary
// failure.
func (l *rightsLook) note(action string, err error, missing bool, wrong string) {
	wait, known := engine.AsWait(cloud.Explain(err))
	switch {
	case cloud.IsDenied(err):
		l.denied = append(l.denied, action)
	case missing:
		l.wrong = append(l.wrong, wrong)
	case known && wait.Stalled:
		l.blocked = wait
	default:
		l.passing = errors.Join(l.passing, cloud.Explain(err))
	}
}

// setRightsReady sets the condition. A temporary failure does not change an earlier result for the same generation.
func (r Reconciler) setRightsReady(p *v1alpha1.AWSProvider, l rightsLook) {
	c := metav1.Condition{
		Type: v1alpha1.ConditionWorkloadIdentityReady, Status: metav1.ConditionFalse, ObservedGeneration: p.Generation,
		LastTransitionTime: metav1.Time{Time: r.Now()},
	}
	problems := l.wrong
	if len(l.denied) > 0 {
		problems = append(problems, fmt.Sprintf(
			"the identity of the AWS account has no permission for %s: attach docs/iam/accessbinding.json of this "+
				"version of Portico to it, and see that neither its boundary nor a policy of the organization "+
				"denies it", strings.Join(l.denied, ", ")))
	}
	c.Message = strings.Join(problems, "; ") + ". Portico looks again at least every 5 minutes"
	switch known := meta.FindStatusCondition(p.Status.Conditions, c.Type); {
	case len(l.wrong) > 0:
		c.Reason = v1alpha1.ReasonInvalidProvider
	case len(l.denied) > 0:
		c.Reason = v1alpha1.ReasonAccessDenied
	case l.blocked != nil:
		c.Reason, c.Message = l.blocked.Reason, l.blocked.Error()
	case l.passing != nil && known != nil && known.ObservedGeneration == p.Generation:
		return
	case l.passing != nil:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, v1alpha1.ReasonChecking, l.passing.Error()
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, v1alpha1.ReasonVerified,
			"what workloadIdentity names is there"
	}
	meta.SetStatusCondition(&p.Status.Conditions, c)
}

// setNearlyFull sets or removes the condition that warns before a quota is used up, and records an event when it is set
// or its reason changes.
func (r Reconciler) setNearlyFull(p *v1alpha1.AWSProvider, cluster string, pass *engine.Pass) {
	s, reason := p.Status.WorkloadIdentity, v1alpha1.ReasonQuotaNearlyFull
	var says []string
	if s.Roles.NearlyFull() {
		says = append(says, fmt.Sprintf("the account has %d of %d IAM roles: raise the quota Roles per account in "+
			"Service Quotas, or delete roles that nobody uses", s.Roles.Used, s.Roles.Quota))
	}
	if s.Associations.NearlyFull() {
		says = append(says, fmt.Sprintf("the cluster %s has %d of %d EKS Pod Identity associations, which AWS does "+
			"not raise: give rights by IRSA, or use another cluster",
			cluster, s.Associations.Used, s.Associations.Quota))
	}
	if len(says) == 0 {
		meta.RemoveStatusCondition(&p.Status.Conditions, v1alpha1.ConditionQuotaNearlyFull)
		return
	}
	if s.Roles.Full() || s.Associations.Full() {
		reason = v1alpha1.ReasonQuotaExceeded
	}
	c := metav1.Condition{
		Type: v1alpha1.ConditionQuotaNearlyFull, Status: metav1.ConditionTrue, Reason: reason,
		ObservedGeneration: p.Generation,
		LastTransitionTime: metav1.Time{Time: r.Now()}, Message: strings.Join(says, "; "),
	}
	if was := meta.FindStatusCondition(p.Status.Conditions, c.Type); was == nil || was.Reason != reason {
		pass.Warning(reason, "GetAccountSummary", "%s", c.Message)
	}
	meta.SetStatusCondition(&p.Status.Conditions, c)
}
