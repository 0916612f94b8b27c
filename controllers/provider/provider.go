// Package provider reconciles AWSProviders: it checks their credentials and account, and counts their users.
package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
)

// Revalidate is how often credentials are checked when nothing has changed.
const Revalidate = 5 * time.Minute

// Reconciler implements engine.KindReconciler for AWSProvider.
type Reconciler struct {
	Sessions *cloud.Sessions
	// ListUsers returns the objects that hold a resource at a provider, as "Kind namespace/name". ListUsersUncached
	// does the same without the cache.
	ListUsers, ListUsersUncached func(ctx context.Context, provider string) ([]string, error)
	// Throttled returns the services that AWS has throttled recently in an account.
	Throttled func(account string) []string
	// Account returns the AWS calls that check what workloadIdentity names.
	Account func(*cloud.Session) Account
	// Cluster returns the AWSProvider of the cluster's account, and a session in that account.
	Cluster func(ctx context.Context, provider string) (*v1alpha1.AWSProvider, *cloud.Session, error)
	Now     func() time.Time
}

// conditionThrottled is True while AWS throttles calls of the account and for some minutes afterwards, and absent
// otherwise.
const conditionThrottled = "Throttled"

// Reconcile implements engine.KindReconciler: it verifies the credentials with STS, if the provider has an STS
// endpoint, and pins the account.
func (r Reconciler) Reconcile(ctx context.Context, p *v1alpha1.AWSProvider, pass *engine.Pass) error {
	users, err := r.ListUsers(ctx, p.Name)
	if err != nil {
		return fmt.Errorf("count what uses the provider: %w", err)
	}
	p.Status.Resources = int64(len(users))
	session, err := r.authenticate(ctx, p, pass)
	err = r.judgeIdentity(p, err)
	r.setAuthenticated(p, err)
	r.setThrottled(p)
	if err == nil {
		r.checkRights(ctx, p, session, pass)
	}
	return err
}

// setThrottled sets the condition that lists the throttled services: their resources take longer, but nothing is wrong
// with them.
func (r Reconciler) setThrottled(p *v1alpha1.AWSProvider) {
	services := r.Throttled(p.Status.AccountID)
	if len(services) == 0 {
		meta.RemoveStatusCondition(&p.Status.Conditions, conditionThrottled)
		return
	}
	meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{
		Type: conditionThrottled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonRateExceeded,
		ObservedGeneration: p.Generation,
		LastTransitionTime: metav1.Time{Time: r.Now()},
		Message: fmt.Sprintf("AWS limits the rate of calls to %s; Portico slows down and goes on",
			strings.Join(services, ", ")),
	})
}

func (r Reconciler) authenticate(ctx context.Context, p *v1alpha1.AWSProvider, pass *engine.Pass) (
	*cloud.Session, error,
) {
	if _, err := cloud.AllowsNamespace(p, nil); err != nil {
		return nil, err
	}
	session, err := r.Sessions.Verify(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := cloud.CheckAccount(p, session); err != nil {
		return nil, err
	}
	s := &p.Status
	if s.CallerIdentity != session.CallerARN || s.AccountID != session.AccountID ||
		s.CredentialsVersion != session.CredentialsVersion {
		pass.Normal(v1alpha1.ReasonAuthenticated, "GetCallerIdentity", "%s", session)
		s.CallerIdentity, s.AccountID, s.CredentialsVersion = session.CallerARN, session.AccountID,
			session.CredentialsVersion
		s.LastAuthenticationTime = &metav1.Time{Time: r.Now()}
	}
	return session, nil
}

// setAuthenticated sets the condition that resources depend on; see v1alpha1.ConditionAuthenticated. A temporary
// failure, such as a throttled or lost call, does not change the condition of credentials that worked.
func (r Reconciler) setAuthenticated(p *v1alpha1.AWSProvider, err error) {
	c := metav1.Condition{
		Type: v1alpha1.ConditionAuthenticated, ObservedGeneration: p.Generation,
		LastTransitionTime: metav1.Time{Time: r.Now()},
	}
	switch wait, waiting := engine.AsWait(err); {
	case err == nil:
		c.Status, c.Reason, c.Message = metav1.ConditionTrue, v1alpha1.ReasonVerified, "AWS knows the credentials"
		if cloud.Stated(&p.Spec) {
			c.Message = "the endpoints take the credentials; accountID is taken on trust, for there is no STS"
		}
	case waiting && wait.Stalled:
		c.Status, c.Reason, c.Message = metav1.ConditionFalse, wait.Reason, wait.Error()
	case meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionAuthenticated) &&
		p.Status.ObservedGeneration == p.Generation:
		return
	default:
		c.Status, c.Reason, c.Message = metav1.ConditionUnknown, v1alpha1.ReasonChecking, err.Error()
	}
	meta.SetStatusCondition(&p.Status.Conditions, c)
}

// users lists the users from the cache, and confirms an empty result with the API server; see cloud.Connector.Recheck.
func (r Reconciler) users(ctx context.Context, provider string) ([]string, error) {
	found, err := r.ListUsers(ctx, provider)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return r.ListUsersUncached(ctx, provider)
}

// Finalize implements engine.KindReconciler: it blocks while the provider has users, and keeps the provider working
// until then.
func (r Reconciler) Finalize(ctx context.Context, p *v1alpha1.AWSProvider, pass *engine.Pass) error {
	users, err := r.users(ctx, p.Name)
	if err != nil {
		return fmt.Errorf("list what uses the provider: %w", err)
	}
	if len(users) == 0 {
		r.Sessions.Forget(p)
		return nil
	}
	p.Status.Resources = int64(len(users))
	_, err = r.authenticate(ctx, p, pass)
	r.setAuthenticated(p, r.judgeIdentity(p, err))
	r.setThrottled(p)
	return engine.Blocked(v1alpha1.ReasonInUse, "%s; delete or move them first", inUse(users))
}

// inUse returns a message that names the first few users in sorted order, so that it is stable.
func inUse(users []string) string {
	const most = 3
	slices.Sort(users)
	text := fmt.Sprintf("%d resources use this provider: ", len(users))
	if len(users) == 1 {
		text = "1 resource uses this provider: "
	}
	if len(users) > most {
		return text + strings.Join(users[:most], ", ") + fmt.Sprintf(" and %d more", len(users)-most)
	}
	return text + strings.Join(users, ", ")
}
