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

// Account is all that is asked of an account about rights of Pods; docs/iam is checked against it.
type Account interface {
	eks.ListPodIdentityAssociationsAPIClient
	GetPolicy(context.Context, *iam.GetPolicyInput, ...func(*iam.Options)) (*iam.GetPolicyOutput, error)
	GetOpenIDConnectProvider(context.Context, *iam.GetOpenIDConnectProviderInput, ...func(*iam.Options)) (*iam.GetOpenIDConnectProviderOutput, error)
	GetAccountSummary(context.Context, *iam.GetAccountSummaryInput, ...func(*iam.Options)) (*iam.GetAccountSummaryOutput, error)
}

func accountOf(s *cloud.Session) Account {
	return struct {
		*iam.Client
		eks.ListPodIdentityAssociationsAPIClient
	}{iam.NewFromConfig(s.ConfigFor(iam.ServiceID)), eks.NewFromConfig(s.ConfigFor(eks.ServiceID))}
}

// rightsAge is how old answers about rights of Pods may be. The passes that ask again are never at the same moment: see
// engine.Schedule.
const rightsAge = time.Hour

// checkRights asks, once an hour, whether what workloadIdentity names is there, and how much room there is. What it
// finds is in conditions of its own: kinds that need no rights of Pods do not wait for them.
func (r Reconciler) checkRights(ctx context.Context, p *v1alpha1.AWSProvider, session *cloud.Session, pass *engine.Pass) {
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
	if look.passing != nil { // what was read before holds
		return
	}
	p.Status.WorkloadIdentity = &v1alpha1.WorkloadIdentityStatus{ReadTime: metav1.Time{Time: r.Now()}, Roles: look.roles, Associations: look.associations}
	r.setNearlyFull(p, look.clusterName, pass)
}

// rightsDue reports whether it is time to ask. What was not right is asked for in every pass, for somebody is about to
// put it right.
func (r Reconciler) rightsDue(p *v1alpha1.AWSProvider) bool {
	c, s := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionWorkloadIdentityReady), p.Status.WorkloadIdentity
	if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != p.Generation || s == nil {
		return true
	}
	return r.Now().Sub(s.ReadTime.Time).Abs() >= rightsAge
}

// rightsLook is one look at an account.
type rightsLook struct {
	Account
	session *cloud.Session
	want    *v1alpha1.WorkloadIdentity

	clusterName         string
	roles, associations *v1alpha1.QuotaUse
	denied              []string // the actions that are missing
	wrong               []string // what is not there
	passing             error    // what will pass, and tells nothing
	blocked             *engine.WaitError
}

// all asks for everything. The cluster is another account's, perhaps; nil: none is to be asked for.
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

// associationsQuota is how many associations EKS lets a cluster have. Its guide says so, and that it cannot be raised.
const associationsQuota = 5000

// cluster is an EKS cluster, and the account that it is in.
type cluster struct {
	Account
	name, place, field string // place says where it is, and field what names it
	by                 string // whose identity asks, if it is another one's
}

// findCluster returns the EKS cluster of the Pods; nil if there is none, and what is wrong with the AWSProvider that is
// to name it is noted.
func (r Reconciler) findCluster(ctx context.Context, l *rightsLook) *cluster {
	if l.want.Mode != v1alpha1.WorkloadIdentityPodIdentity {
		return nil
	}
	ref := l.want.ClusterProviderRef
	if ref == nil {
		return &cluster{l.Account, l.want.ClusterName, l.session.Config.Region + " of this account", "workloadIdentity.clusterName", ""}
	}
	other, session, err := r.Cluster(ctx, ref.Name)
	switch {
	case err != nil:
		if wait, known := engine.AsWait(cloud.Explain(err)); known && wait.Stalled {
			err = engine.Blocked(wait.Reason, "the AWSProvider %s, which workloadIdentity.clusterProviderRef names, does not work: %w", ref.Name, wait)
		}
		l.note("", err, false, "")
	case other == nil:
		l.wrong = append(l.wrong, fmt.Sprintf("there is no AWSProvider %s: create it, or correct workloadIdentity.clusterProviderRef", ref.Name))
	case !other.Spec.WorkloadIdentity.NamesCluster():
		l.wrong = append(l.wrong, fmt.Sprintf("the AWSProvider %s has no workloadIdentity of mode PodIdentity with a clusterName: set it there, or correct workloadIdentity.clusterProviderRef", ref.Name))
	case session.Partition != l.session.Partition:
		l.wrong = append(l.wrong, fmt.Sprintf("the AWSProvider %s is of the AWS partition %s, and this one of %s: roles of one cannot be used in the other. Use the mode IRSA", ref.Name, session.Partition, l.session.Partition))
	default:
		session = session.In(other.Spec.Region, v1alpha1.KindAWSProvider, "")
		return &cluster{
			r.Account(session), other.Spec.WorkloadIdentity.ClusterName, session.Config.Region + " of account " + session.AccountID,
			"workloadIdentity.clusterName of the AWSProvider " + other.Name, " (the identity of the AWSProvider " + other.Name + ")",
		}
	}
	return nil
}

// askCluster counts the associations of the cluster.
func (l *rightsLook) askCluster(ctx context.Context, c *cluster) {
	use := &v1alpha1.QuotaUse{Quota: associationsQuota}
	for pages := eks.NewListPodIdentityAssociationsPaginator(c, &eks.ListPodIdentityAssociationsInput{ClusterName: &c.name}); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			l.note("eks:ListPodIdentityAssociations"+c.by, err, cloud.IsNotFound(err), fmt.Sprintf("there is no EKS cluster %s in %s: correct %s", c.name, c.place, c.field))
			return
		}
		use.Used += int64(len(page.Associations))
	}
	l.associations, l.clusterName = use, c.name
}

// webIdentityAudience is what the tokens are for that EKS gives Pods whose ServiceAccount names a role.
const webIdentityAudience = "sts.amazonaws.com"

// askIssuer looks at the identity provider that stands for the cluster.
func (l *rightsLook) askIssuer(ctx context.Context) {
	out, err := l.GetOpenIDConnectProvider(ctx, &iam.GetOpenIDConnectProviderInput{OpenIDConnectProviderArn: &l.want.OIDCProviderARN})
	if err != nil {
		l.note("iam:GetOpenIDConnectProvider", err, cloud.HasCode(err, noSuchEntity), fmt.Sprintf(
			"there is no identity provider %s in IAM: make it, or correct workloadIdentity.oidcProviderARN", l.want.OIDCProviderARN))
		return
	}
	if !slices.Contains(out.ClientIDList, webIdentityAudience) {
		l.wrong = append(l.wrong, fmt.Sprintf("the identity provider %s takes no tokens of Pods: add %s to its audiences in IAM", l.want.OIDCProviderARN, webIdentityAudience))
	}
}

// noSuchEntity is IAM's word for what is not there.
const noSuchEntity = "NoSuchEntity"

func (l *rightsLook) askBoundary(ctx context.Context) {
	if _, err := l.GetPolicy(ctx, &iam.GetPolicyInput{PolicyArn: &l.want.BoundaryARN}); err != nil {
		l.note("iam:GetPolicy", err, cloud.HasCode(err, noSuchEntity), fmt.Sprintf(
			"there is no policy %s: make it of docs/iam/pods/boundary.json, or correct workloadIdentity.boundaryARN", l.want.BoundaryARN))
	}
}

// askSummary reads how many roles there are, and may be. The numbers are of the whole account.
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

// note notes what an error means: that a permission or a thing is missing, that somebody must act on something else, or
// nothing.
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

// setRightsReady says what is missing. What will pass takes nothing from what was known.
func (r Reconciler) setRightsReady(p *v1alpha1.AWSProvider, l rightsLook) {
	c := metav1.Condition{
		Type: v1alpha1.ConditionWorkloadIdentityReady, Status: metav1.ConditionFalse, ObservedGeneration: p.Generation, LastTransitionTime: metav1.Time{Time: r.Now()},
	}
	problems := l.wrong
	if len(l.denied) > 0 {
		problems = append(problems, fmt.Sprintf(
			"the identity of the AWS account has no permission for %s: attach docs/iam/accessbinding.json of this version of Portico to it, and see that neither its boundary nor a policy of the organization denies it", strings.Join(l.denied, ", ")))
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
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, v1alpha1.ReasonVerified, "what workloadIdentity names is there"
	}
	meta.SetStatusCondition(&p.Status.Conditions, c)
}

// setNearlyFull sets the condition that warns before nothing more fits, and tells of it once.
func (r Reconciler) setNearlyFull(p *v1alpha1.AWSProvider, cluster string, pass *engine.Pass) {
	s, reason := p.Status.WorkloadIdentity, v1alpha1.ReasonQuotaNearlyFull
	var says []string
	if s.Roles.NearlyFull() {
		says = append(says, fmt.Sprintf("the account has %d of %d IAM roles: raise the quota Roles per account in Service Quotas, or delete roles that nobody uses", s.Roles.Used, s.Roles.Quota))
	}
	if s.Associations.NearlyFull() {
		says = append(says, fmt.Sprintf("the cluster %s has %d of %d EKS Pod Identity associations, which AWS does not raise: give rights by IRSA, or use another cluster",
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
		Type: v1alpha1.ConditionQuotaNearlyFull, Status: metav1.ConditionTrue, Reason: reason, ObservedGeneration: p.Generation,
		LastTransitionTime: metav1.Time{Time: r.Now()}, Message: strings.Join(says, "; "),
	}
	if was := meta.FindStatusCondition(p.Status.Conditions, c.Type); was == nil || was.Reason != reason {
		pass.Warning(reason, "GetAccountSummary", "%s", c.Message)
	}
	meta.SetStatusCondition(&p.Status.Conditions, c)
}
