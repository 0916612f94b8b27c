package accessbinding

import (
	"cmp"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/cloud"
)

// wantedRoles returns the wanted roles: first that of the Pods, then, if the cluster is in another account, the
// association's role there, through which the Pods reach it.
func (r *reconciliation) wantedRoles() []wantedRole {
	identity := cmp.Or(r.account.Identity, &v1alpha1.WorkloadIdentity{}) // nil while rights are removed
	pods := wantedRole{
		account: r.account, path: rolePath(r.obj.Namespace), boundary: identity.BoundaryARN,
		tags: r.roleTags(),
	}
	switch {
	case r.byToken():
		pods.ofServiceAccount(r.obj, identity.OIDCProviderARN, r.policy)
		return []wantedRole{pods}
	case r.obj.Status.ClusterAccount == nil:
		pods.ofNamespace(r.obj.Namespace)
		pods.trust = trust(r.cluster.Session, r.obj.Status.ClusterName)
		return []wantedRole{pods}
	default:
		pods.ofNamespace(r.obj.Namespace)
		way := r.associationRole(pods)
		pods.trust = targetTrust(r.cluster.Session, way.arn())
		return []wantedRole{pods, way}
	}
}

// ofServiceAccount makes w the role of one ServiceAccount, with its rights.
func (w *wantedRole) ofServiceAccount(obj *v1alpha1.AccessBinding, oidcProvider, policy string) {
	namespace, name := obj.Namespace, obj.Spec.ServiceAccountName
	w.name, w.purpose = roleName(w.account.Session, namespace, name), "Pods of the ServiceAccount "+namespace+"/"+name
	w.trust, w.policy = tokenTrust(oidcProvider, namespace, name), policy
}

// ofNamespace makes w the role of all Pods of a namespace.
func (w *wantedRole) ofNamespace(namespace string) {
	w.name, w.purpose = roleName(w.account.Session, namespace, ""), "Pods of the namespace "+namespace+
		", each limited by the policy of its association"
	w.policy = rolePolicy(w.account.Session, namespace)
}

// associationRole returns the role in the cluster's account through which Pods reach theirs; it allows nothing else.
func (r *reconciliation) associationRole(pods wantedRole) wantedRole {
	identity := cmp.Or(r.cluster.Identity, &v1alpha1.WorkloadIdentity{})
	return wantedRole{
		account: r.cluster, name: associationRoleName(r.cluster.Session, r.obj.Namespace, r.obj.Spec.ProviderRef.Name),
		path: pods.path,
		purpose: "Pods of the namespace " + r.obj.Namespace + ", on their way to the account " +
			pods.account.Session.AccountID,
		trust: trust(r.cluster.Session, r.obj.Status.ClusterName), policy: associationPolicy(pods.arn()),
		boundary: identity.BoundaryARN, tags: pods.tags,
	}
}

// byToken reports whether Pods use a token of their ServiceAccount to act as its role (IRSA).
func (r *reconciliation) byToken() bool { return r.obj.Status.Mode == v1alpha1.WorkloadIdentityIRSA }

// roleTags returns the ownership tags of the role. A role shared by ServiceAccounts belongs to the namespace, not to
// one of its objects.
func (r *reconciliation) roleTags() map[string]string {
	id := r.account.Session.Identity
	if r.byToken() {
		return id.OwnershipTags(r.obj)
	}
	return map[string]string{cloud.TagCluster: id.Cluster, cloud.TagKind: id.Kind, cloud.TagNamespace: r.obj.Namespace}
}
