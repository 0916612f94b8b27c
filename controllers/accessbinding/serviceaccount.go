package accessbinding

import (
	"context"
	"time"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// annotated is how often a ServiceAccount is checked for its role: those that are not ours are not watched.
const annotated = 30 * time.Second

// checkServiceAccount refuses a ServiceAccount whose Pods have a foreign role: AWS's SDKs would use that one, so these
// rights would have no effect. Nothing is created for a ServiceAccount that does not exist: names alone must not use up
// the account's quotas of roles and associations.
func (r *reconciliation) checkServiceAccount(ctx context.Context) error {
	account, err := r.ServiceAccount(ctx, r.obj.Namespace, r.obj.Spec.ServiceAccountName)
	switch {
	case err != nil:
		return err
	case account == nil && r.obj.Status.AccountID == "":
		return engine.Wait(v1alpha1.ReasonWaitingForServiceAccount, annotated,
			"there is no ServiceAccount %s in this namespace yet, and Portico gives it rights in AWS only once it "+
				"exists; create it, or delete this object", r.obj.Spec.ServiceAccountName)
	case account == nil:
		return nil
	}
	r.named = account.Annotations[v1alpha1.AnnotationRoleARN]
	if r.named == "" || r.byToken() && r.named == r.wantedRoles()[0].arn() {
		return nil
	}
	return engine.Blocked(v1alpha1.ReasonServiceAccountHasRole, "the ServiceAccount %s names the role %s in its "+
		"annotation %s, and its Pods would use that one; nothing was changed. Remove the annotation, or delete "+
		"this object",
		r.obj.Spec.ServiceAccountName, r.named, v1alpha1.AnnotationRoleARN)
}

// checkAnnotation waits until the ServiceAccount names the role. A WebApp does so itself, once the role exists.
func (r *reconciliation) checkAnnotation(context.Context) (string, error) {
	s := &r.obj.Status
	s.Policy = r.policy
	if r.named == s.RoleARN || v1alpha1.MadeByWebApp(r.obj) {
		return "the Pods of the ServiceAccount " + r.obj.Spec.ServiceAccountName + " have their rights", nil
	}
	return "", engine.Wait(v1alpha1.ReasonWaitingForServiceAccount, annotated,
		"the role is there, and the ServiceAccount does not name it yet: kubectl annotate serviceaccount --namespace "+
			"%s %s %s=%s, then restart its Pods",
		r.obj.Namespace, r.obj.Spec.ServiceAccountName, v1alpha1.AnnotationRoleARN, s.RoleARN)
}
