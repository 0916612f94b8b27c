package hostname

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/pool"
	"github.com/portico-platform/portico/controllers/watch"
)

// enqueuePool enqueues the PoolGateway of a request or a claim.
func (s setup) enqueuePool() handler.EventHandler {
	return watch.EnqueueOne(func(_ context.Context, o client.Object) client.ObjectKey {
		key := client.ObjectKey{Namespace: s.o.Gateways}
		switch o := o.(type) {
		case *v1alpha1.GatewayHostnameRequest:
			key.Name = o.Status.Gateway
		case *v1alpha1.DomainClaim:
			key.Name = o.Spec.Gateway
		}
		return key
	})
}

// enqueuePoolsOfRoute enqueues the PoolGateways of a route's parent ListenerSets, before and after a change.
func (s setup) enqueuePoolsOfRoute() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) (all []reconcile.Request) {
		for _, set := range pool.ListenerSetsOf(o) {
			namespace, name, _ := strings.Cut(set, "/")
			found := &v1alpha1.DomainClaim{}
			if namespace == s.o.Gateways && s.mgr.GetCache().Get(ctx, client.ObjectKey{Name: name}, found) == nil &&
				found.Spec.Holder.Namespace == o.GetNamespace() { // routes of other namespaces are not attached
				all = append(all, reconcile.Request{
					NamespacedName: client.ObjectKey{Namespace: namespace, Name: found.Spec.Gateway},
				})
			}
		}
		return all
	})
}

func claimOf(r *v1alpha1.GatewayHostnameRequest) client.ObjectKey {
	return client.ObjectKey{Name: r.Status.Claim}
}

func grantOf(c *v1alpha1.DomainClaim) client.ObjectKey {
	return client.ObjectKey{Namespace: c.Spec.Holder.Namespace, Name: v1alpha1.HostnameGrantName}
}

func holderOf(c *v1alpha1.DomainClaim) client.ObjectKey {
	return client.ObjectKey{Namespace: c.Spec.Holder.Namespace, Name: c.Spec.Holder.Name}
}

// enqueueClaimant enqueues the request that holds the claim of a ListenerSet.
func (s setup) enqueueClaimant() handler.EventHandler {
	return watch.EnqueueOne(func(ctx context.Context, o client.Object) client.ObjectKey {
		found := &v1alpha1.DomainClaim{}
		if o.GetNamespace() != s.o.Gateways ||
			s.mgr.GetCache().Get(ctx, client.ObjectKey{Name: o.GetName()}, found) != nil {
			return client.ObjectKey{}
		}
		return holderOf(found)
	})
}

// waitsForClaim reports whether a request waits for the release of another holder's claim.
func waitsForClaim(o client.Object) bool {
	ready := meta.FindStatusCondition(o.(*v1alpha1.GatewayHostnameRequest).Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Reason == v1alpha1.ReasonTaken
}

// requestClaimChanged passes requests that are deleted or have another claim: a restored claim may have waited for its
// holder.
func requestClaimChanged() predicate.Predicate {
	return predicate.And(watch.NotCreated(), watch.Changed(func(was, is *v1alpha1.GatewayHostnameRequest) bool {
		return was.Status.Claim != is.Status.Claim
	}))
}

// poolServingChanged passes what concerns every hostname on the load balancer, also those that are served well: another
// address, a Gateway that starts or stops working, hostnames that close or open, a certificate that is detached.
func poolServingChanged() predicate.Predicate {
	return predicate.And(watch.NotCreated(), watch.Changed(func(before, after *v1alpha1.PoolGateway) bool {
		was, is := before.Status, after.Status
		less := slices.ContainsFunc(was.Attached, func(arn string) bool { return !slices.Contains(is.Attached, arn) })
		return less || was.PublicPort != is.PublicPort ||
			!equality.Semantic.DeepEqual(was.LoadBalancer, is.LoadBalancer) ||
			!equality.Semantic.DeepEqual(was.Closed, is.Closed) || poolHealth(was) != poolHealth(is)
	}))
}

// poolHealth returns the conditions of a PoolGateway that concern all its hostnames.
func poolHealth(s v1alpha1.PoolGatewayStatus) [2]bool {
	return [2]bool{
		meta.IsStatusConditionTrue(s.Conditions, v1alpha1.StepProgrammed),
		meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionStalled),
	}
}

// poolStatusChanged passes changes that a hostname may wait for.
func poolStatusChanged() predicate.Predicate {
	return predicate.And(watch.NotCreated(), watch.Changed(func(was, is *v1alpha1.PoolGateway) bool {
		return !equality.Semantic.DeepEqual(was.Status.Attached, is.Status.Attached) ||
			!equality.Semantic.DeepEqual(was.Status.Conditions, is.Status.Conditions)
	}))
}

// notReadyOrDeleting reports whether o is not Ready, or is being deleted.
func notReadyOrDeleting(o client.Object) bool {
	return !o.(engine.Object).Common().Ready || !o.GetDeletionTimestamp().IsZero()
}

// membershipChanged passes changes of which hostnames belong on a load balancer.
func membershipChanged() predicate.Predicate {
	return predicate.And(watch.NotCreated(), watch.Changed(func(was, is *v1alpha1.GatewayHostnameRequest) bool {
		return was.Status.Gateway != is.Status.Gateway || servedCertificate(was.Status) != servedCertificate(is.Status)
	}))
}

// servedCertificate returns the certificate that belongs on the load balancer, "" if none does.
func servedCertificate(s v1alpha1.GatewayHostnameRequestStatus) string {
	if s.Certificate == nil || !s.Certificate.Serve {
		return ""
	}
	return s.Certificate.ARN
}
