// Package accessbinding gives the Pods of ServiceAccounts rights in AWS: one role for each namespace, and for each
// ServiceAccount one EKS Pod Identity association, whose policy allows exactly what it is bound to.
package accessbinding

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/portico-platform/portico/api/access"
	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/external"
	"github.com/portico-platform/portico/controllers/steps"
)

// Account is the connection to an account: that of the resources, or that of the cluster.
type Account struct {
	Session      *cloud.Session
	Roles        roles
	Associations associations
	// Identity is how Pods get rights; nil: not at all. Region is the provider's, where its cluster is.
	Identity *v1alpha1.WorkloadIdentity
	Region   string
	// Recheck checks past the cache, before anything is created, that the namespace and the provider are still those of
	// the session.
	Recheck func(context.Context) error
}

// Reconciler implements engine.KindReconciler.
type Reconciler struct {
	// Connect connects to the account of the resources, and Cluster to the account of the cluster in
	// status.clusterAccount.
	Connect, Cluster func(context.Context, *v1alpha1.AccessBinding) (*Account, error)
	// Resource returns a resource of a kind from the cache; nil if it does not exist.
	Resource func(ctx context.Context, kind, namespace, name string) (external.Object, error)
	// ServiceAccount returns the metadata of a ServiceAccount from the API server; nil if it does not exist.
	ServiceAccount func(ctx context.Context, namespace, name string) (*metav1.PartialObjectMetadata, error)
	// Others lists, past the cache, the other objects of the namespace that are not being deleted and need the same
	// role.
	Others func(context.Context, *v1alpha1.AccessBinding) ([]v1alpha1.AccessBinding, error)
	// Siblings lists, past the cache, all objects of the namespace with the same AWSProvider.
	Siblings func(context.Context, *v1alpha1.AccessBinding) ([]v1alpha1.AccessBinding, error)
	Now      func() time.Time
	Scaled   func(time.Duration) time.Duration
}

type reconciliation struct {
	Reconciler
	obj      *v1alpha1.AccessBinding
	pass     *engine.Pass
	account  *Account // of the resources
	cluster  *Account // of the cluster: the same, or another one
	policy   string
	named    string                           // the role in the ServiceAccount's annotation
	have     *ekstypes.PodIdentityAssociation // nil: none
	changed  bool                             // the association was changed in this pass
	roleMade time.Time
	rest     error // reported after the steps
	saved    bool
	leaves   bool // an account is closed to the namespace, and the rights in it are being removed
}

// Reconcile implements engine.KindReconciler.
func (rec Reconciler) Reconcile(ctx context.Context, obj *v1alpha1.AccessBinding, pass *engine.Pass) error {
	r := &reconciliation{Reconciler: rec, obj: obj, pass: pass}
	if err := r.withdraw(ctx); err != nil { // before rights are given in another mode
		return err
	}
	if err := r.chooseMode(ctx); err != nil {
		return err
	}
	return cmp.Or(r.steps().Reconcile(ctx, obj, pass), r.rest)
}

// Withdraw implements engine.Withdrawer: a pause does not keep rights in an account that is closed to the namespace.
func (rec Reconciler) Withdraw(ctx context.Context, obj *v1alpha1.AccessBinding, pass *engine.Pass) error {
	if obj.Status.AccountID == "" {
		return nil
	}
	return (&reconciliation{Reconciler: rec, obj: obj, pass: pass}).withdraw(ctx)
}

// Finalize implements engine.KindReconciler: the rights are removed first; the role is deleted with the namespace's
// last object.
func (rec Reconciler) Finalize(ctx context.Context, obj *v1alpha1.AccessBinding, pass *engine.Pass) error {
	if obj.Status.AccountID == "" { // nothing was ever created
		return nil
	}
	r := &reconciliation{Reconciler: rec, obj: obj, pass: pass}
	var err error
	if r.account, err = rec.Connect(ctx, obj); err != nil {
		return err
	}
	if err := r.openCluster(ctx); err != nil {
		return err
	}
	return r.steps().Finalize(ctx, obj, pass)
}

func (r *reconciliation) steps() steps.List {
	last := steps.Step{Name: v1alpha1.StepAssociation, Do: r.ensureAssociation, Undo: r.deleteAssociation}
	if r.byToken() {
		last = steps.Step{Name: v1alpha1.StepServiceAccount, Do: r.checkAnnotation}
	}
	return steps.List{
		{Name: v1alpha1.StepResources, Do: r.resolve},
		{Name: v1alpha1.StepRole, Do: r.ensureRole, Undo: r.deleteRole},
		last,
	}
}

// denyAll is the policy of a ServiceAccount without any existing resource.
const denyAll = `{"Version":"2012-10-17","Statement":[{"Effect":"Deny","Action":["*"],"Resource":["*"]}]}`

// resolve builds the policy from the resources that exist. Missing ones do not block it, and are reported after the
// steps.
func (r *reconciliation) resolve(ctx context.Context) (string, error) {
	if err := cmp.Or(r.checkServiceAccount(ctx), r.checkShare(ctx)); err != nil {
		if _, known := engine.AsWait(err); !known || r.obj.Status.Policy == "" {
			return "", err
		}
		r.rest = err // rights already given still follow the list
	}
	var grants []access.Grant
	for _, b := range r.obj.Spec.Resources {
		obj, err := r.Resource(ctx, b.Kind, r.obj.Namespace, b.Name)
		if err != nil {
			return "", err
		}
		grant, err := r.grant(b, obj)
		if err != nil {
			r.rest = cmp.Or(r.rest, err)
			continue
		}
		grants = append(grants, grant)
	}
	policy, err := access.Policy(grants)
	if err != nil {
		return "", err
	}
	r.policy = cmp.Or(policy, denyAll)
	if n := len(r.obj.Spec.Resources); len(grants) < n {
		return fmt.Sprintf("%d of %d resources are there, and the rights are to these", len(grants), n), nil
	}
	return "the resources are there", nil
}

// grant returns the access to one resource, or an error if there is none. Rights to a resource that Portico only
// observes are for its owner to give.
func (r *reconciliation) grant(b v1alpha1.AccessBindingResource, obj external.Object) (access.Grant, error) {
	if obj == nil || !obj.GetDeletionTimestamp().IsZero() {
		return access.Grant{}, engine.Blocked(v1alpha1.ReasonBindingNotFound,
			"there is no %s %s in this namespace, or it is being deleted; request it, or take it from the list", b.Kind,
			b.Name)
	}
	spec, status := obj.AWS()
	switch grant, there := access.Of(obj, b.Access); {
	case spec.ProviderRef.Name != r.obj.Spec.ProviderRef.Name ||
		status.AccountID != "" && status.AccountID != r.account.Session.AccountID:
		return access.Grant{}, engine.Blocked(v1alpha1.ReasonAccountMismatch,
			"the %s %s is of the AWS account %s, and this object of %s; take it from the list, or make an object for "+
				"each account", b.Kind, b.Name, spec.ProviderRef.Name, r.obj.Spec.ProviderRef.Name)
	case external.ObserveOnly(obj):
		return access.Grant{}, engine.Blocked(v1alpha1.ReasonNotAllowed,
			"the %s %s is only looked at (managementPolicy Observe): who owns it gives rights to it, and not "+
				"Portico. Take it from the list", b.Kind, b.Name)
	case there && !external.Holds(obj):
		return access.Grant{}, engine.Blocked(v1alpha1.ReasonNotAllowed, "the resource that the %s %s names in AWS "+
			"is not its own; see there, or take it from the list", b.Kind, b.Name)
	case there && !r.reaches(grant):
		return access.Grant{}, engine.Blocked(v1alpha1.ReasonNotAllowed, "the name of the S3Bucket %s does not begin "+
			"with %s-, and the role of the namespace reaches no other; have the AWSProvider give rights by IRSA, or "+
			"take it from the list", b.Name, r.obj.Namespace)
	case !there:
		return access.Grant{}, engine.Wait(v1alpha1.ReasonWaitingForBinding, time.Minute,
			"waiting for the %s %s to be in AWS", b.Kind, b.Name)
	default:
		return grant, nil
	}
}

// reaches reports whether the role can have access to the resource at all: the role of a namespace identifies buckets
// by their names.
func (r *reconciliation) reaches(grant access.Grant) bool {
	if grant.Kind != v1alpha1.KindS3Bucket || r.byToken() {
		return true
	}
	_, name, _ := strings.Cut(grant.ARN, ":::")
	return slices.ContainsFunc(bucketPrefixes(r.account.Session, r.obj.Namespace), func(p string) bool {
		return strings.HasPrefix(name, p)
	})
}
