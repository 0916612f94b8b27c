package albsim

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// topology is a Gateway with all its listeners.
type topology struct {
	gateway   *gatewayv1.Gateway
	class     *gatewayv1.GatewayClass
	listeners []*listener // first the Gateway's own, then those of allowed ListenerSets
	sets      []*listenerSet
}

type listenerSet struct {
	object    *gatewayv1.ListenerSet
	allowed   bool
	listeners []*listener
}

// listener is one of a Gateway or of a ListenerSet.
type listener struct {
	parent   parent
	name     gatewayv1.SectionName
	hostname string
	port     int32
	protocol gatewayv1.ProtocolType
	routes   *gatewayv1.AllowedRoutes
	conflict gatewayv1.ListenerConditionReason // empty for none
	attached []attachment
}

// attachment is a route on a listener, with the hostnames that both have; "" matches all.
type attachment struct {
	route     *route
	hostnames []string
}

// parent is the object that has a listener, and that a route names.
type parent struct{ kind, namespace, name string }

// supported reports whether an Application Load Balancer serves the protocol.
func (l *listener) supported() bool {
	return l.protocol == gatewayv1.HTTPProtocolType || l.protocol == gatewayv1.HTTPSProtocolType
}

func (l *listener) accepted() bool { return l.conflict == "" && l.supported() }

func ownListener(g *gatewayv1.Gateway, of *gatewayv1.Listener) *listener {
	return &listener{
		parent: parent{"Gateway", g.Namespace, g.Name}, name: of.Name, hostname: text(of.Hostname),
		port: of.Port, protocol: of.Protocol, routes: of.AllowedRoutes,
	}
}

func text[T ~string](s *T) string {
	if s == nil {
		return ""
	}
	return string(*s)
}

// add adds a listener; of two that conflict the first has precedence.
func (t *topology) add(l *listener) {
	for _, other := range t.listeners {
		switch {
		case other.conflict != "" || other.port != l.port:
		case other.protocol != l.protocol:
			l.conflict = gatewayv1.ListenerReasonProtocolConflict
		case other.hostname == l.hostname:
			l.conflict = gatewayv1.ListenerReasonHostnameConflict
		}
	}
	t.listeners = append(t.listeners, l)
}

func (t *topology) addSet(set *gatewayv1.ListenerSet, allowed bool) {
	s := &listenerSet{object: set, allowed: allowed}
	t.sets = append(t.sets, s)
	for i := range set.Spec.Listeners {
		of := &set.Spec.Listeners[i]
		l := &listener{
			parent: parent{"ListenerSet", set.Namespace, set.Name}, name: of.Name, hostname: text(of.Hostname),
			port: of.Port, protocol: of.Protocol, routes: of.AllowedRoutes,
		}
		if allowed {
			t.add(l)
		}
		s.listeners = append(s.listeners, l)
	}
}

func parentOfSet(set *gatewayv1.ListenerSet) parent {
	ref := set.Spec.ParentRef
	if (ref.Group != nil && *ref.Group != gatewayv1.GroupName) || (ref.Kind != nil && *ref.Kind != "Gateway") {
		return parent{}
	}
	return parent{"Gateway", otherwise(text(ref.Namespace), set.Namespace), string(ref.Name)}
}

func parentOfRoute(r *route, ref gatewayv1.ParentReference) parent {
	if ref.Group != nil && *ref.Group != gatewayv1.GroupName {
		return parent{}
	}
	return parent{
		otherwise(text(ref.Kind), "Gateway"), otherwise(text(ref.Namespace), r.object.GetNamespace()), string(ref.Name),
	}
}

func otherwise(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// allows reports whether the Gateway accepts ListenerSets of the namespace: none by default.
func (w *world) allows(g *gatewayv1.Gateway, namespace string) bool {
	from, selector := gatewayv1.NamespacesFromNone, (*metav1.LabelSelector)(nil)
	if a := g.Spec.AllowedListeners; a != nil && a.Namespaces != nil && a.Namespaces.From != nil {
		from, selector = *a.Namespaces.From, a.Namespaces.Selector
	}
	return w.among(from, selector, namespace, g.Namespace)
}

// allowsRoute reports whether the listener accepts routes of that kind and namespace: by default those of its own
// namespace.
func (w *world) allowsRoute(l *listener, r *route) bool {
	from, selector := gatewayv1.NamespacesFromSame, (*metav1.LabelSelector)(nil)
	if a := l.routes; a != nil {
		if len(a.Kinds) > 0 && !slices.ContainsFunc(a.Kinds, func(k gatewayv1.RouteGroupKind) bool {
			return string(k.Kind) == r.kind
		}) {
			return false
		}
		if a.Namespaces != nil && a.Namespaces.From != nil {
			from, selector = *a.Namespaces.From, a.Namespaces.Selector
		}
	}
	return w.among(from, selector, r.object.GetNamespace(), l.parent.namespace)
}

func (w *world) among(from gatewayv1.FromNamespaces, selector *metav1.LabelSelector, namespace, own string) bool {
	switch from {
	case gatewayv1.NamespacesFromAll:
		return true
	case gatewayv1.NamespacesFromSame:
		return namespace == own
	case gatewayv1.NamespacesFromSelector:
		s, err := metav1.LabelSelectorAsSelector(selector)
		set, there := w.namespaces[namespace]
		return err == nil && there && s.Matches(set)
	default:
		return false
	}
}
