package pool

import (
	corev1 "k8s.io/api/core/v1"
	metaac "k8s.io/client-go/applyconfigurations/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayac "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// Listener names: of the Gateway, and the only one of each ListenerSet.
const (
	listenerHTTPS = "https"
	listenerHTTP  = "http"
)

// LabelHostname labels a ListenerSet with the name of its DomainClaim.
const LabelHostname = "portico.dev/claim"

// terminateTLS returns a valid TLS configuration without a Secret: the certificate is in the LoadBalancerConfiguration.
func terminateTLS() *gatewayac.ListenerTLSConfigApplyConfiguration {
	return gatewayac.ListenerTLSConfig().WithMode(gatewayv1.TLSModeTerminate).
		WithOptions(map[gatewayv1.AnnotationKey]gatewayv1.AnnotationValue{
			"portico.dev/certificate": "LoadBalancerConfiguration",
		})
}

func sameNamespaceRoutes() *gatewayac.AllowedRoutesApplyConfiguration {
	return gatewayac.AllowedRoutes().WithNamespaces(gatewayac.RouteNamespaces().WithFrom(gatewayv1.NamespacesFromSame))
}

func gateway(g *v1alpha1.PoolGateway) *gatewayac.GatewayApplyConfiguration {
	return gatewayac.Gateway(g.Name, g.Namespace).WithSpec(gatewayac.GatewaySpec().
		WithGatewayClassName(gatewayv1.ObjectName(g.Spec.GatewayClass)).
		WithInfrastructure(gatewayac.GatewayInfrastructure().WithParametersRef(gatewayac.LocalParametersReference().
			WithGroup(gatewayv1.Group(albconfig.GroupVersion.Group)).WithKind("LoadBalancerConfiguration").WithName(
			g.Name))).
		WithAllowedListeners(gatewayac.AllowedListeners().WithNamespaces(
			gatewayac.ListenerNamespaces().WithFrom(gatewayv1.NamespacesFromSame))).
		WithListeners(
			gatewayac.Listener().WithName(listenerHTTPS).WithPort(443).WithProtocol(
				gatewayv1.HTTPSProtocolType).WithTLS(terminateTLS()).WithAllowedRoutes(sameNamespaceRoutes()),
			gatewayac.Listener().WithName(listenerHTTP).WithPort(80).WithProtocol(
				gatewayv1.HTTPProtocolType).WithAllowedRoutes(sameNamespaceRoutes()),
		))
}

// redirect returns the route that redirects HTTP to HTTPS.
func redirect(g *v1alpha1.PoolGateway) *gatewayac.HTTPRouteApplyConfiguration {
	return route(g, "redirect", listenerHTTP, gatewayac.HTTPRouteRule().
		WithFilters(gatewayac.HTTPRouteFilter().WithType(gatewayv1.HTTPRouteFilterRequestRedirect).
			WithRequestRedirect(gatewayac.HTTPRequestRedirectFilter().WithScheme("https").WithStatusCode(301))))
}

// keeperPath is a path that no client requests.
const keeperPath = "/.well-known/portico-keeper"

// keeper returns the route that gives the load balancer its HTTPS listener before the first team's route.
func keeper(g *v1alpha1.PoolGateway) *gatewayac.HTTPRouteApplyConfiguration {
	return route(g, "keeper", listenerHTTPS, gatewayac.HTTPRouteRule().
		WithMatches(gatewayac.HTTPRouteMatch().WithPath(
			gatewayac.HTTPPathMatch().WithType(gatewayv1.PathMatchExact).WithValue(keeperPath))).
		WithFilters(gatewayac.HTTPRouteFilter().WithType(gatewayv1.HTTPRouteFilterRequestRedirect).
			WithRequestRedirect(gatewayac.HTTPRequestRedirectFilter().WithStatusCode(302).
				WithPath(gatewayac.HTTPPathModifier().WithType(gatewayv1.FullPathHTTPPathModifier).WithReplaceFullPath(
					"/")))))
}

func route(g *v1alpha1.PoolGateway, name string, listener gatewayv1.SectionName,
	rule *gatewayac.HTTPRouteRuleApplyConfiguration,
) *gatewayac.HTTPRouteApplyConfiguration {
	return gatewayac.HTTPRoute(g.Name+"-"+name, g.Namespace).WithSpec(gatewayac.HTTPRouteSpec().
		WithParentRefs(gatewayac.ParentReference().WithName(gatewayv1.ObjectName(g.Name)).WithSectionName(listener)).
		WithRules(rule))
}

// listenerSet returns the ListenerSet that opens the hostname to the routes of one namespace. A closed hostname keeps
// its listener, and accepts no routes.
func listenerSet(g *v1alpha1.PoolGateway, m member, closed bool) *gatewayac.ListenerSetApplyConfiguration {
	routes := gatewayac.AllowedRoutes().WithNamespaces(
		gatewayac.RouteNamespaces().WithFrom(gatewayv1.NamespacesFromSelector).
			WithSelector(metaac.LabelSelector().WithMatchLabels(
				map[string]string{corev1.LabelMetadataName: m.namespace})))
	if closed {
		routes = sameNamespaceRoutes() // no route in the pool's own namespace names a ListenerSet
	}
	return gatewayac.ListenerSet(m.claim, g.Namespace).
		WithLabels(map[string]string{LabelHostname: m.claim}).
		WithSpec(gatewayac.ListenerSetSpec().
			WithParentRef(gatewayac.ParentGatewayReference().WithName(gatewayv1.ObjectName(g.Name))).
			WithListeners(gatewayac.ListenerEntry().WithName(listenerHTTPS).WithPort(443).WithProtocol(
				gatewayv1.HTTPSProtocolType).
				WithHostname(gatewayv1.Hostname(m.hostname)).WithTLS(terminateTLS()).WithAllowedRoutes(routes)))
}

// ParentRef returns the parentRef for routes of the request's namespace.
func ParentRef(g *v1alpha1.PoolGateway, claim string) *v1alpha1.HostnameParentRef {
	return &v1alpha1.HostnameParentRef{
		Group: gatewayv1.GroupName, Kind: "ListenerSet", Namespace: g.Namespace, Name: claim,
		SectionName: listenerHTTPS,
	}
}
