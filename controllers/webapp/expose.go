package webapp

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayac "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/engine"
)

// Address is a hostname at which a WebApp can be reached.
type Address struct {
	Named
	Hostname string
	URL      string
	Parent   *v1alpha1.HostnameParentRef // nil until it is known
	// Closed is the reason why no route is attached to the hostname, and ClosedBy the explanation; empty while it
	// accepts routes.
	Closed, ClosedBy string
}

// Routes is the cluster's support for Gateway API.
type Routes struct {
	// DisabledReason returns why there are no routes; empty if there are.
	DisabledReason func() string
	// Address reads a hostname request from the cache.
	Address func(ctx context.Context, namespace, name string) (Address, error)
}

// ensureRoute routes the hostname to the Service. It waits for nothing, so that the rollout is reported in any state of
// the hostname, and deletes an unwanted route at once.
func (r *reconciliation) ensureRoute(ctx context.Context) (string, error) {
	off := r.Routes.DisabledReason()
	if r.app.Spec.Expose == nil {
		if off != "" {
			return "", nil
		}
		return "", r.objects.Delete(ctx, &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: r.app.Name}})
	}
	if off != "" {
		return "", engine.Blocked(v1alpha1.ReasonHostnamesOff, "this cluster gives no hostnames: %s. Ask a platform "+
			"admin, or remove expose", off)
	}
	name := r.app.Spec.Expose.Hostname
	address, err := r.Routes.Address(ctx, r.app.Namespace, name)
	switch {
	case err != nil:
		return "", fmt.Errorf("look up the GatewayHostnameRequest %s: %w", name, err)
	case !address.Found:
		return "", engine.Blocked(v1alpha1.ReasonHostnameNotFound, "there is no GatewayHostnameRequest %s in this "+
			"namespace; request it, or remove expose", name)
	case address.Deleting:
		return "", engine.Blocked(v1alpha1.ReasonHostnameNotFound, "the GatewayHostnameRequest %s is being deleted; "+
			"name another one, or remove expose", name)
	}
	r.address = address
	if address.Parent == nil {
		return "the hostname has no listener yet", nil
	}
	if err := r.objects.Apply(ctx, route(r.app, address), &r.http); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s leads to the Service", address.Hostname), nil
}

func route(app *v1alpha1.WebApp, to Address) *gatewayac.HTTPRouteApplyConfiguration {
	p := to.Parent
	return gatewayac.HTTPRoute(app.Name, app.Namespace).WithLabels(labels(app)).WithSpec(gatewayac.HTTPRouteSpec().
		WithParentRefs(gatewayac.ParentReference().WithGroup(gatewayv1.Group(p.Group)).WithKind(gatewayv1.Kind(p.Kind)).
			WithNamespace(gatewayv1.Namespace(p.Namespace)).WithName(gatewayv1.ObjectName(p.Name)).WithSectionName(
			gatewayv1.SectionName(p.SectionName))).
		WithHostnames(gatewayv1.Hostname(to.Hostname)).
		WithRules(gatewayac.HTTPRouteRule().WithBackendRefs(
			gatewayac.HTTPBackendRef().WithName(gatewayv1.ObjectName(app.Name)).WithPort(80))))
}

// checkExposed waits until the application answers at the hostname.
func (r *reconciliation) checkExposed(ctx context.Context) (string, error) {
	if r.app.Spec.Expose == nil {
		return "", nil
	}
	name := r.app.Spec.Expose.Hostname
	if err := r.lookUpRoute(ctx, name); err != nil {
		return "", err
	}
	if r.http.UID == "" {
		return "", engine.Wait(v1alpha1.ReasonWaitingForHostname, engine.WatchFallback,
			"waiting for the GatewayHostnameRequest %s: %s", name, r.address.State)
	}
	c := r.accepted()
	switch {
	case r.address.Closed != "":
		return "", engine.Blocked(r.address.Closed, "the GatewayHostnameRequest %s is closed: %s", name,
			r.address.ClosedBy)
	case c == nil || c.ObservedGeneration != r.http.Generation:
		return "", engine.Wait(v1alpha1.ReasonRoutePending, engine.WatchFallback,
			"the load balancer controller has not taken up the route yet")
	case c.Status != metav1.ConditionTrue && c.Message == "":
		return "", engine.Blocked(v1alpha1.ReasonRouteRefused, "the load balancer controller refuses the route: %s",
			c.Reason)
	case c.Status != metav1.ConditionTrue:
		return "", engine.Blocked(v1alpha1.ReasonRouteRefused, "the load balancer controller refuses the route: %s: %s",
			c.Reason, c.Message)
	case !r.address.Ready:
		return "", engine.Wait(v1alpha1.ReasonWaitingForHostname, engine.WatchFallback,
			"waiting for the GatewayHostnameRequest %s: %s", name, r.address.State)
	}
	return r.answers(ctx)
}

// answers reports whether a request for the hostname reaches a Pod: without a ready Pod the load balancer returns 503.
func (r *reconciliation) answers(ctx context.Context) (string, error) {
	state, err := r.observe(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case state.deployment.Status.AvailableReplicas > 0:
		return "it answers at " + r.address.Hostname, nil
	case state.deployment.UID != "" && state.wantedReplicas() == 0:
		return r.address.Hostname + " leads to it, and no replica is asked for: every request is answered with 503", nil
	}
	return "", engine.Wait(v1alpha1.ReasonMinimumReplicasUnavailable, engine.WatchFallback,
		"%s leads to it; it answers as soon as a replica is available", r.address.Hostname)
}

// lookUpRoute reads the address and the route if this pass did not reach the step that does so.
func (r *reconciliation) lookUpRoute(ctx context.Context, name string) (err error) {
	if r.address.Found {
		return nil
	}
	if r.address, err = r.Routes.Address(ctx, r.app.Namespace, name); err != nil {
		return fmt.Errorf("look up the GatewayHostnameRequest %s: %w", name, err)
	}
	if err = r.Applier.Client.Get(ctx, r.objects.Key(r.app.Name), &r.http); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the HTTPRoute: %w", err)
	}
	if err != nil || !metav1.IsControlledBy(&r.http, r.app) {
		r.http = gatewayv1.HTTPRoute{}
	}
	return nil
}

// url returns the application's URL. Once it has answered at its hostname it is kept while the route and the hostname
// exist, whatever else fails; what was not checked is unchanged.
func (r *reconciliation) url(pass *engine.Pass) string {
	if r.app.Spec.Expose != nil && !stepIs(pass, v1alpha1.StepRoute, metav1.ConditionFalse) {
		status, reason, _ := pass.Condition(v1alpha1.StepExposed)
		was := r.app.Status.URL
		switch {
		case status == metav1.ConditionTrue && r.address.URL != "":
			return r.address.URL
		case status != metav1.ConditionFalse, was != "" && was == r.address.URL &&
			reason != v1alpha1.ReasonRouteRefused && r.address.Closed == "":
			return was
		}
	}
	switch {
	case stepIs(pass, v1alpha1.StepService, metav1.ConditionTrue):
		return clusterURL(r.app)
	case stepIs(pass, v1alpha1.StepService, metav1.ConditionFalse):
		return ""
	}
	return r.app.Status.URL
}

// stepIs reports whether this pass found the step in this status; an error does not count.
func stepIs(pass *engine.Pass, step string, is metav1.ConditionStatus) bool {
	status, reason, _ := pass.Condition(step)
	return status == is && reason != v1alpha1.ReasonFailed
}

// accepted returns the Accepted condition by the controller of the route's parent; nil if there is none.
func (r *reconciliation) accepted() *metav1.Condition {
	p := r.address.Parent
	i := slices.IndexFunc(r.http.Status.Parents, func(s gatewayv1.RouteParentStatus) bool {
		return string(s.ParentRef.Name) == p.Name && s.ParentRef.Namespace != nil &&
			string(*s.ParentRef.Namespace) == p.Namespace
	})
	if i < 0 {
		return nil
	}
	return meta.FindStatusCondition(r.http.Status.Parents[i].Conditions, string(gatewayv1.RouteConditionAccepted))
}
