package albsim

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/portico-platform/portico/controllers/hostname/albconfig"
)

// world is a snapshot of the cluster. Its objects are the cache's own: they are copied before they change.
type world struct {
	classes    map[string]*gatewayv1.GatewayClass // of this controller
	gateways   []*topology                        // of these classes
	routes     []*route
	grants     []gatewayv1.ReferenceGrant
	configs    map[types.NamespacedName]*albconfig.LoadBalancerConfiguration
	services   map[types.NamespacedName]*corev1.Service
	namespaces map[string]labels.Set
}

// read reads everything from the cache, and assigns listeners to Gateways, and routes to listeners.
func (s *Simulator) read(ctx context.Context) (*world, error) {
	var (
		classes    gatewayv1.GatewayClassList
		gateways   gatewayv1.GatewayList
		sets       gatewayv1.ListenerSetList
		https      gatewayv1.HTTPRouteList
		grpcs      gatewayv1.GRPCRouteList
		grants     gatewayv1.ReferenceGrantList
		configs    albconfig.LoadBalancerConfigurationList
		services   corev1.ServiceList
		namespaces corev1.NamespaceList
	)
	for _, list := range []client.ObjectList{
		&classes, &gateways, &sets, &https, &grpcs, &grants, &configs, &services,
		&namespaces,
	} {
		if err := s.cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
	}
	w := &world{
		classes: map[string]*gatewayv1.GatewayClass{}, grants: grants.Items,
		configs:    byName(configs.Items, func(c *albconfig.LoadBalancerConfiguration) metav1.Object { return c }),
		services:   byName(services.Items, func(s *corev1.Service) metav1.Object { return s }),
		namespaces: map[string]labels.Set{},
	}
	for i := range classes.Items {
		if c := &classes.Items[i]; c.Spec.ControllerName == albconfig.ControllerName {
			w.classes[c.Name] = c
		}
	}
	for i := range namespaces.Items {
		w.namespaces[namespaces.Items[i].Name] = namespaces.Items[i].Labels
	}
	w.addRoutes(https.Items, grpcs.Items, s.unknown.Load())
	w.connect(gateways.Items, sets.Items)
	return w, nil
}

func (w *world) addRoutes(https []gatewayv1.HTTPRoute, grpcs []gatewayv1.GRPCRoute, unforeseen *Unforeseen) {
	for i := range https {
		r := httpRoute(&https[i])
		unforeseen.spoil(&https[i], r)
		w.routes = append(w.routes, r)
	}
	for i := range grpcs {
		w.routes = append(w.routes, grpcRoute(&grpcs[i]))
	}
	slices.SortFunc(w.routes, func(a, b *route) int { return older(a.object, b.object) })
}

func byName[T any](items []T, object func(*T) metav1.Object) map[types.NamespacedName]*T {
	all := make(map[types.NamespacedName]*T, len(items))
	for i := range items {
		o := object(&items[i])
		all[types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}] = &items[i]
	}
	return all
}

// older compares objects by precedence in Gateway API: by age, then by name.
func older(a, b metav1.Object) int {
	return cmp.Or(
		a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time),
		cmp.Compare(a.GetNamespace(), b.GetNamespace()),
		cmp.Compare(a.GetName(), b.GetName()),
	)
}

// connect collects the listeners of each Gateway, and attaches the routes.
func (w *world) connect(gateways []gatewayv1.Gateway, sets []gatewayv1.ListenerSet) {
	parents := map[parent]*topology{}
	for i := range gateways {
		g := &gateways[i]
		class := w.classes[string(g.Spec.GatewayClassName)]
		if class == nil {
			continue
		}
		t := &topology{gateway: g, class: class}
		for j := range g.Spec.Listeners {
			t.add(ownListener(g, &g.Spec.Listeners[j]))
		}
		w.gateways = append(w.gateways, t)
		parents[parent{"Gateway", g.Namespace, g.Name}] = t
	}
	sorted := make([]*gatewayv1.ListenerSet, len(sets))
	for i := range sets {
		sorted[i] = &sets[i]
	}
	slices.SortFunc(sorted, func(a, b *gatewayv1.ListenerSet) int { return older(a, b) })
	for _, set := range sorted {
		t := parents[parentOfSet(set)]
		if t == nil {
			continue
		}
		t.addSet(set, w.allows(t.gateway, set.Namespace))
		parents[parent{"ListenerSet", set.Namespace, set.Name}] = t
	}
	for _, r := range w.routes {
		w.resolve(r)
		for _, ref := range r.parents {
			p := parentOfRoute(r, ref)
			if t := parents[p]; t != nil {
				r.results = append(r.results, w.attach(r, ref, t, p))
			}
		}
	}
}
