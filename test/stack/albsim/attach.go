package albsim

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// result is the status of one parent of a route.
type result struct {
	ref      gatewayv1.ParentReference
	accepted gatewayv1.RouteConditionReason
}

// attach adds the route to the listeners that it names and that accept it.
func (w *world) attach(r *route, ref gatewayv1.ParentReference, t *topology, p parent) result {
	verdict, to := gatewayv1.RouteReasonNoMatchingParent, 0
	for _, l := range t.listeners {
		if l.parent != p || !l.accepted() || !names(ref, l) {
			continue
		}
		hostnames := shared(l.hostname, r.hostnames)
		switch {
		case !w.allowsRoute(l, r):
			if verdict == gatewayv1.RouteReasonNoMatchingParent {
				verdict = gatewayv1.RouteReasonNotAllowedByListeners
			}
		case len(hostnames) == 0:
			verdict = gatewayv1.RouteReasonNoMatchingListenerHostname
		default:
			l.attached = append(l.attached, attachment{route: r, hostnames: hostnames})
			r.on = append(r.on, t)
			to++
		}
	}
	if to > 0 {
		verdict = gatewayv1.RouteReasonAccepted
	}
	return result{ref: ref, accepted: verdict}
}

// names reports whether the reference selects this listener of its parent.
func names(ref gatewayv1.ParentReference, l *listener) bool {
	return (ref.SectionName == nil || *ref.SectionName == l.name) && (ref.Port == nil || *ref.Port == l.port)
}

// shared returns the hostnames that a listener and a route have in common: of two that overlap, the narrower. ""
// means every name. The controller ignores a hostname of a route that has a label of more than 63 characters.
func shared(listener string, route []string) []string {
	if len(route) == 0 {
		return []string{listener}
	}
	var both []string
	for _, name := range route {
		switch {
		case slices.ContainsFunc(strings.Split(name, "."), func(label string) bool {
			return len(label) > longestLabel
		}):
		case listener == "" || listener == name || covers(listener, name):
			both = append(both, name)
		case covers(name, listener):
			both = append(both, listener)
		}
	}
	slices.Sort(both)
	return slices.Compact(both)
}

// longestLabel is the maximum length of a hostname's label. Controller: routeutils/utils.go, IsHostNameInValidFormat.
const longestLabel = 63

// covers reports whether name lies below the wildcard, at any depth.
func covers(wildcard, name string) bool {
	return strings.HasPrefix(wildcard, "*.") && strings.HasSuffix(name, wildcard[1:])
}

// resolve resolves the backends of the route.
func (w *world) resolve(r *route) {
	r.resolved = gatewayv1.RouteReasonResolvedRefs
	for i := range r.rules {
		rule := &r.rules[i]
		for _, b := range rule.backends {
			if reason := w.resolveBackend(r, b); reason != gatewayv1.RouteReasonResolvedRefs {
				r.resolved = reason
			} else {
				rule.served = append(rule.served, b)
			}
		}
	}
}

// targetGroupName is the kind of a backend that is a target group in AWS, created by anyone.
const targetGroupName = "TargetGroupName"

func (w *world) resolveBackend(r *route, b gatewayv1.BackendRef) gatewayv1.RouteConditionReason {
	if text(b.Kind) == targetGroupName {
		return gatewayv1.RouteReasonResolvedRefs
	}
	if otherwise(text(b.Kind), "Service") != "Service" || text(b.Group) != "" {
		return gatewayv1.RouteReasonInvalidKind
	}
	name := serviceOf(r, b)
	if name.Namespace != r.object.GetNamespace() && !w.granted(r, name) {
		return gatewayv1.RouteReasonRefNotPermitted
	}
	service := w.services[name]
	if service == nil || b.Port == nil {
		return gatewayv1.RouteReasonBackendNotFound
	}
	for i := range service.Spec.Ports {
		if service.Spec.Ports[i].Port == *b.Port {
			return gatewayv1.RouteReasonResolvedRefs
		}
	}
	return gatewayv1.RouteReasonBackendNotFound
}

func serviceOf(r *route, b gatewayv1.BackendRef) types.NamespacedName {
	return types.NamespacedName{Namespace: otherwise(text(b.Namespace), r.object.GetNamespace()), Name: string(b.Name)}
}

// granted reports whether a ReferenceGrant allows the route to refer to a Service in another namespace.
func (w *world) granted(r *route, service types.NamespacedName) bool {
	return slices.ContainsFunc(w.grants, func(g gatewayv1.ReferenceGrant) bool {
		return g.Namespace == service.Namespace &&
			slices.ContainsFunc(g.Spec.From, func(f gatewayv1.ReferenceGrantFrom) bool {
				return f.Group == gatewayv1.GroupName && string(f.Kind) == r.kind &&
					string(f.Namespace) == r.object.GetNamespace()
			}) &&
			slices.ContainsFunc(g.Spec.To, func(to gatewayv1.ReferenceGrantTo) bool {
				return to.Group == "" && to.Kind == "Service" && (to.Name == nil || string(*to.Name) == service.Name)
			})
	})
}
