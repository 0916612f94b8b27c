package webapp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
)

// accessPlan has the AWS rights that the Pods should get, and the provider to get them through.
type accessPlan struct {
	provider string // of the account; empty: no rights
	given    []v1alpha1.AccessBindingResource
	without  []string // bindings without rights, and why
}

// readRights reads the application's AccessBinding of earlier passes.
func (r *reconciliation) readRights(ctx context.Context) error {
	child := &v1alpha1.AccessBinding{}
	found, err := engine.Find(ctx, r.Applier.Client, r.objects.Key(r.app.Name), child)
	if found && metav1.IsControlledBy(child, r.app) && child.DeletionTimestamp.IsZero() {
		r.rights = child
	}
	return err
}

// role returns the role that the ServiceAccount names: that of the spec, or Portico's own (IRSA).
func (r *reconciliation) role() string {
	if r.rights != nil && r.rights.Status.Mode == v1alpha1.WorkloadIdentityIRSA && r.rights.Status.Policy != "" {
		return cmp.Or(roleOf(r.app), r.rights.Status.RoleARN)
	}
	return roleOf(r.app)
}

// ensureAccess gives the Pods the rights of their bindings before new Pods start: a Pod gets its credentials at its
// start. Rights that cannot be given do not block running Pods; the status names the missing ones.
func (r *reconciliation) ensureAccess(ctx context.Context, pass *engine.Pass) error {
	var err error
	if r.app.Status.AccessPolicy, err = access.Policy(r.grants); err != nil {
		return err
	}
	plan, err := r.planAccess(ctx)
	if err != nil {
		return err
	}
	if plan.provider == "" || r.rights != nil && r.rights.Spec.ProviderRef.Name != plan.provider {
		gone := &v1alpha1.AccessBinding{}
		gone.Name = r.app.Name
		if err := r.objects.Delete(ctx, gone); err != nil {
			return err
		}
		r.rights = nil
	}
	if plan.provider == "" {
		r.tellOfNoRights(pass, plan)
		return nil
	}
	child := &v1alpha1.AccessBinding{}
	err = r.objects.Apply(ctx, accessBinding(r.app, plan), child)
	if wait, known := engine.AsWait(err); known {
		pass.SetCondition(v1alpha1.ConditionAWSAccess, metav1.ConditionFalse, wait.Reason,
			"the rights in AWS cannot be asked for: "+err.Error())
		if r.allBound(plan.given) {
			return nil // it runs
		}
	}
	if err != nil {
		return err
	}
	r.rights = child
	return r.awaitRights(pass, plan)
}

// awaitRights waits until the Pods that are about to start have their rights.
func (r *reconciliation) awaitRights(pass *engine.Pass, plan accessPlan) error {
	s := &r.rights.Status
	seen := s.ObservedGeneration == r.rights.Generation
	reason, said := "", "they are not checked yet"
	if c := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReady); c != nil && seen {
		reason, said = c.Reason, c.Message
	}
	ready := s.Ready && seen
	if r.rights.Annotations[v1alpha1.AnnotationPaused] == "true" { // it is not reconciled
		seen, said = true, "the AccessBinding is paused by its annotation "+v1alpha1.AnnotationPaused
	}
	switch {
	case ready && len(plan.without) == 0:
		pass.SetCondition(v1alpha1.ConditionAWSAccess, metav1.ConditionTrue, v1alpha1.ReasonGranted,
			"the Pods may do in AWS what their bindings say, and nothing else: "+r.listAccess())
		return nil
	case ready:
		pass.SetCondition(v1alpha1.ConditionAWSAccess, metav1.ConditionFalse, v1alpha1.ReasonNoIdentity,
			"Portico gives the Pods no rights to all that they are bound to: "+strings.Join(plan.without, "; "))
		return nil
	}
	pass.SetCondition(v1alpha1.ConditionAWSAccess, metav1.ConditionFalse, v1alpha1.ReasonWaitingForAccess,
		"the rights in AWS are not there yet: "+said)
	given := s.Policy != "" && reason == v1alpha1.ReasonNotAllowed // all except what cannot be given
	if seen && reason != v1alpha1.ReasonPropagating && (given || r.allBound(plan.given)) {
		return nil // it runs, and the rest may take long
	}
	return engine.Wait(v1alpha1.ReasonWaitingForAccess, engine.WatchFallback,
		"waiting until the Pods have their rights in "+
			"AWS: %s", said)
}

// allBound reports whether the Pods already have the details of all these resources.
func (r *reconciliation) allBound(all []v1alpha1.AccessBindingResource) bool {
	for _, of := range all {
		if !r.isBound(v1alpha1.WebAppBinding{Kind: of.Kind, Name: of.Name}) {
			return false
		}
	}
	return true
}

// planAccess chooses the AWSProvider through which rights are given, and lists bindings without rights. An application
// keeps its provider.
func (r *reconciliation) planAccess(ctx context.Context) (accessPlan, error) {
	plan := accessPlan{provider: r.chooseProvider()}
	if roleOf(r.app) != "" || plan.provider == "" {
		return accessPlan{}, nil
	}
	gives, err := r.GivesRights(ctx, plan.provider)
	if err != nil {
		return accessPlan{}, err
	}
	if !gives {
		return accessPlan{without: []string{"the AWSProvider " + plan.provider + " has no workloadIdentity"}}, nil
	}
	for _, found := range r.found {
		if access.Words(found.of.Kind, found.of.Access) == "" {
			continue
		}
		if why := whyNoRights(found, plan.provider); why != "" {
			plan.without = append(plan.without, why)
		} else {
			plan.given = append(plan.given, v1alpha1.AccessBindingResource{
				Kind: found.of.Kind, Name: found.of.Name, Access: found.of.Access,
			})
		}
	}
	if len(plan.given) == 0 {
		plan.provider = ""
	}
	return plan, nil
}

// chooseProvider returns the AWSProvider of the bound resources: the one through which the application has rights, else
// the first. It is unchanged if there is none, for example when all resources are gone.
func (r *reconciliation) chooseProvider() (chosen string) {
	for _, found := range r.found {
		name := found.provider()
		if r.rights != nil && name == r.rights.Spec.ProviderRef.Name {
			return name
		}
		chosen = cmp.Or(chosen, name)
	}
	if chosen == "" && r.rights != nil {
		return r.rights.Spec.ProviderRef.Name
	}
	return chosen
}

// whyNoRights returns why Portico gives no rights to what is found; empty if it gives them.
func whyNoRights(found foundBinding, provider string) string {
	switch name := found.provider(); {
	case name == "": // not there yet
		return ""
	case name != provider:
		return fmt.Sprintf("the %s %s is of the AWSProvider %s, and a Pod acts in one account only, here that of %s",
			found.of.Kind, found.of.Name, name, provider)
	case external.ObserveOnly(found.Object.(external.Object)):
		return fmt.Sprintf("the %s %s is somebody else's, which Portico only looks at: its owner gives rights to it",
			found.of.Kind, found.of.Name)
	case found.inAWS() && !external.Holds(found.Object.(external.Object)):
		return fmt.Sprintf("the resource that the %s %s names in AWS is not its own", found.of.Kind, found.of.Name)
	default:
		return ""
	}
}

// foundBinding is the object of a binding.
type foundBinding struct {
	BoundResource
	of v1alpha1.WebAppBinding
}

// inAWS reports whether it is an AWS resource.
func (f foundBinding) inAWS() bool {
	_, there := access.Of(f.Object, f.of.Access)
	return there
}

// provider returns the AWSProvider of an object that gives AWS rights; empty if it does not exist, or gives none.
func (f foundBinding) provider() string {
	obj, ok := f.Object.(external.Object)
	if !ok || !f.Found || access.Words(f.of.Kind, f.of.Access) == "" {
		return ""
	}
	spec, _ := obj.AWS()
	return spec.ProviderRef.Name
}

// tellOfNoRights reports which rights Portico does not give.
func (r *reconciliation) tellOfNoRights(pass *engine.Pass, plan accessPlan) {
	switch role := roleOf(r.app); {
	case r.app.Status.AccessPolicy == "":
		pass.RemoveCondition(v1alpha1.ConditionAWSAccess)
	case role == "":
		pass.SetCondition(v1alpha1.ConditionAWSAccess, metav1.ConditionFalse, v1alpha1.ReasonNoIdentity,
			"Portico gives these Pods no rights in AWS ("+strings.Join(plan.without, "; ")+
				"): unless they have them in another way, calls to "+r.listAccess()+
				" are refused. Ask a platform admin to set up spec.workloadIdentity of the AWSProvider, "+
				"or for an IAM role with the policy in status.accessPolicy that the ServiceAccount "+r.app.Namespace+
				"/"+r.app.Name+" may assume, and name it in spec.identity.awsRoleARN")
	default:
		pass.SetCondition(v1alpha1.ConditionAWSAccess, metav1.ConditionUnknown, v1alpha1.ReasonRoleNotChecked,
			"the application acts in AWS as "+role+", and may do what that role may: Portico does not look at its "+
				"policies. For "+r.listAccess()+" it needs the policy in status.accessPolicy")
	}
}

// listAccess names the bindings with an access.
func (r *reconciliation) listAccess() string {
	var names []string
	for _, b := range r.app.Spec.Bindings {
		if access.Words(b.Kind, b.Access) != "" {
			names = append(names, b.Kind+" "+b.Name)
		}
	}
	return strings.Join(names, ", ")
}

// accessBinding declares the rights of the app's Pods.
func accessBinding(app *v1alpha1.WebApp, plan accessPlan) map[string]any {
	resources := []any{}
	for _, of := range plan.given {
		resources = append(resources, map[string]any{
			"kind": of.Kind, "name": of.Name,
			"access": string(cmp.Or(of.Access, v1alpha1.AccessReadWrite)),
		})
	}
	return request(app, v1alpha1.KindAccessBinding, app.Name, map[string]any{
		"providerRef": map[string]any{"name": plan.provider}, "serviceAccountName": app.Name, "resources": resources,
	})
}

// accessChecksum changes with AWS rights that running Pods would notice late or never: Pods get credentials when they
// start, and with EKS Pod Identity the credentials keep the rights of that time. With IRSA the role itself has the
// rights, so only its ARN counts.
func accessChecksum(rights *v1alpha1.AccessBinding) string {
	if rights == nil || rights.Status.Policy == "" {
		return ""
	}
	s, policy := &rights.Status, rights.Status.Policy
	if s.Mode == v1alpha1.WorkloadIdentityIRSA {
		policy = ""
	}
	sum := sha256.Sum256([]byte(s.RoleARN + "\x00" + s.AssociationARN + "\x00" + policy))
	return hex.EncodeToString(sum[:8])
}
