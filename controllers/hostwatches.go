package controllers

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
	"github.com/portico-platform/portico/controllers/hostname/claim"
	"github.com/portico-platform/portico/controllers/hostname/pool"
)

// to wakes the one object that of finds for what changed; an empty name wakes none.
func to(of func(ctx context.Context, changed client.Object) client.ObjectKey) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, changed client.Object) []reconcile.Request {
		if key := of(ctx, changed); key.Name != "" {
			return []reconcile.Request{{NamespacedName: key}}
		}
		return nil
	})
}

// toPool wakes the PoolGateway on which a request or a claim has its place.
func (h hostnames) toPool() handler.EventHandler {
	return to(func(_ context.Context, o client.Object) client.ObjectKey {
		key := client.ObjectKey{Namespace: h.o.Hostnames.Namespace}
		switch o := o.(type) {
		case *v1alpha1.GatewayHostnameRequest:
			key.Name = o.Status.Gateway
		case *v1alpha1.DomainClaim:
			key.Name = o.Spec.Gateway
		}
		return key
	})
}

// routeToPools wakes the PoolGateways whose hostnames a route names as parents, or named until now.
func (h hostnames) routeToPools() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) (all []reconcile.Request) {
		for _, set := range pool.ListenerSetsOf(o) {
			namespace, name, _ := strings.Cut(set, "/")
			found := &v1alpha1.DomainClaim{}
			if namespace == h.o.Hostnames.Namespace && h.mgr.GetCache().Get(ctx, client.ObjectKey{Name: name}, found) == nil &&
				found.Spec.Holder.Namespace == o.GetNamespace() { // no other namespace's routes are attached
				all = append(all, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: found.Spec.Gateway}})
			}
		}
		return all
	})
}

func toHolder() handler.EventHandler {
	return to(func(_ context.Context, o client.Object) client.ObjectKey { return holderOf(o.(*v1alpha1.DomainClaim)) })
}

func holderOf(c *v1alpha1.DomainClaim) client.ObjectKey {
	return client.ObjectKey{Namespace: c.Spec.Holder.Namespace, Name: c.Spec.Holder.Name}
}

func toClaim() handler.EventHandler {
	return to(func(_ context.Context, o client.Object) client.ObjectKey {
		return client.ObjectKey{Name: o.(*v1alpha1.GatewayHostnameRequest).Status.Claim}
	})
}

// toClaimant wakes the request for whose claim a ListenerSet is.
func (h hostnames) toClaimant() handler.EventHandler {
	return to(func(ctx context.Context, o client.Object) client.ObjectKey {
		found := &v1alpha1.DomainClaim{}
		if o.GetNamespace() != h.o.Hostnames.Namespace || h.mgr.GetCache().Get(ctx, client.ObjectKey{Name: o.GetName()}, found) != nil {
			return client.ObjectKey{}
		}
		return holderOf(found)
	})
}

func toGrant() handler.EventHandler {
	return to(func(_ context.Context, o client.Object) client.ObjectKey {
		return client.ObjectKey{Namespace: o.(*v1alpha1.DomainClaim).Spec.Holder.Namespace, Name: v1alpha1.HostnameGrantName}
	})
}

// lost tells a request that waits for somebody else's claim to go.
func lost(o client.Object) bool {
	ready := meta.FindStatusCondition(o.(*v1alpha1.GatewayHostnameRequest).Status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Reason == claim.ReasonTaken
}

// cameOrWent lets pass what is new or gone.
func cameOrWent() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

// claimMoved lets pass a request that is gone, or has another claim: one that was restored may have waited for its holder.
func claimMoved() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.(*v1alpha1.GatewayHostnameRequest).Status.Claim != e.ObjectNew.(*v1alpha1.GatewayHostnameRequest).Status.Claim
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// poolTurned lets pass what concerns every hostname on the load balancer, those that are served well too: another
// address, a Gateway that stops or starts to work, a certificate that is there no more.
func poolTurned() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1alpha1.PoolGateway).Status, e.ObjectNew.(*v1alpha1.PoolGateway).Status
			less := slices.ContainsFunc(was.Attached, func(arn string) bool { return !slices.Contains(is.Attached, arn) })
			return less || !equality.Semantic.DeepEqual(was.LoadBalancer, is.LoadBalancer) || !equality.Semantic.DeepEqual(was.Closed, is.Closed) || works(was) != works(is)
		},
	}
}

// works tells what a PoolGateway says of itself that holds for all on it.
func works(s v1alpha1.PoolGatewayStatus) [2]bool {
	return [2]bool{
		meta.IsStatusConditionTrue(s.Conditions, pool.StepProgrammed), meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionStalled),
	}
}

// poolMoved lets pass what a hostname may wait for.
func poolMoved() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1alpha1.PoolGateway).Status, e.ObjectNew.(*v1alpha1.PoolGateway).Status
			return !equality.Semantic.DeepEqual(was.Attached, is.Attached) || !equality.Semantic.DeepEqual(was.Conditions, is.Conditions)
		},
	}
}

// waiting tells what is not Ready, or on its way out.
func waiting(o client.Object) bool {
	return !o.(engine.Object).Common().Ready || !o.GetDeletionTimestamp().IsZero()
}

// membershipMoved lets pass what changes which hostnames belong on a load balancer.
func membershipMoved() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld.(*v1alpha1.GatewayHostnameRequest).Status, e.ObjectNew.(*v1alpha1.GatewayHostnameRequest).Status
			return was.Gateway != is.Gateway || served(was) != served(is)
		},
	}
}

// served is the certificate that belongs on the load balancer, if one does.
func served(s v1alpha1.GatewayHostnameRequestStatus) string {
	if s.Certificate == nil || !s.Certificate.Serve {
		return ""
	}
	return s.Certificate.ARN
}
