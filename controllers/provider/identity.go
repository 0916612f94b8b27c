package provider

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// conditionIdentityVerified is False while AWS fails to verify the operator's identity token, and absent otherwise.
const conditionIdentityVerified = "IdentityVerified"

// unverifiedFor is how long AWS may fail to verify the operator's identity token before this counts as a permanent
// failure. STS fails when it cannot fetch the keys of the cluster's OIDC provider, and that often lasts for minutes.
const unverifiedFor = 15 * time.Minute

// judgeIdentity returns what a check's error means. That the identity token could not be verified blocks a provider
// only if every conclusive check of the last 15 minutes said so.
func (r Reconciler) judgeIdentity(p *v1alpha1.AWSProvider, err error) error {
	if err == nil {
		meta.RemoveStatusCondition(&p.Status.Conditions, conditionIdentityVerified)
		return nil
	}
	if wait, ok := engine.AsWait(err); !ok || wait.Reason != v1alpha1.ReasonIdentityNotVerified {
		return err
	}
	meta.SetStatusCondition(&p.Status.Conditions, metav1.Condition{
		Type: conditionIdentityVerified, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonIdentityNotVerified,
		ObservedGeneration: p.Generation,
		LastTransitionTime: metav1.Time{Time: r.Now()}, // unchanged until a check succeeds
		Message:            "AWS could not verify the operator's identity token",
	})
	since := meta.FindStatusCondition(p.Status.Conditions, conditionIdentityVerified).LastTransitionTime
	if r.Now().Sub(since.Time) < unverifiedFor {
		return err
	}
	return engine.Blocked(v1alpha1.ReasonIdentityNotVerified, "AWS has not verified the operator's identity token "+
		"since %s: ask a platform admin to check the cluster's OIDC provider in IAM, the role's trust policy, and "+
		"that AWS can reach the provider's keys; Portico tries again by itself, at least every 5 minutes",
		since.UTC().Format("2006-01-02 15:04 UTC"))
}
